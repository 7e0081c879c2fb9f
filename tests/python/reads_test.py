"""Which log statements read gradients, by their text. On programs as they are."""
import pytest

PROGRAM = """
import math, time
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader
torch.manual_seed(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)
    def forward(self, x):
        return self.fc(F.relu(x))

class Meter:
    def __init__(self):
        self.values = []
    def update(self, value):
        self.values.append(value)
    def average(self):
        return sum(self.values) / len(self.values)
    def __str__(self):
        return f"{self.average():.3f}"

def accuracy(net, x, y):
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()

MORE
net, meter, history, total = Net(), Meter(), [], 0.0
data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(3)]
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
for epoch in range(20):
    net.train()
    for x, y in data:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        CHECK
        optimizer.step()
        meter.update(loss.item())
        history.append(loss.item())
    SHOW
    scheduler.step()
    print("loss", loss.item())
"""


@pytest.fixture
def asked(tmp_path):
    from flor import _edits
    from flor._rewrite import keep_marks

    def asked(shown, more="", check="pass", program=PROGRAM, **modules):
        text = program.replace("MORE", more).replace("CHECK", check)
        path = str(tmp_path / "train.py")
        files = {path: (text.replace("    SHOW\n", ""), text.replace("SHOW", shown))}
        files.update({str(tmp_path / f"{name}.py"): (one, one) for name, one in modules.items()})
        for one, (recorded, _) in files.items():
            with open(one, "w", encoding="utf-8") as file:
                file.write(recorded)
        question = {"script": path, "files": [{"path": one, "recorded": old, "present": new} for one, (old, new) in files.items()]}
        recorded, present = _edits._programs(question, "recorded"), _edits._programs(question, "present")
        for one in recorded:
            keep_marks(recorded[one].tree, present[one].tree)
        return _edits.Analysis([(recorded[one], present[one]) for one in recorded]).answer()
    return asked


ORDINARY = """
loss.item()|float(loss)|round(loss.item(), 3)|len(history)|sum(history) / len(history)|max(history)|history[-1]|x.shape|x.mean().item(), x.std()
f"{loss:.3f} {epoch}"|"%.3f" % loss|"{:.2f}".format(total)|str(loss.item())|meter.average()|meter|f"{meter}"
net.fc.weight.norm().item()|net.fc.weight|net.fc.weight[0, 0]|torch.norm(net.fc.weight)|np.mean(history)|math.sqrt(total)|net.fc.weight.requires_grad
sum(p.norm().item() for p in net.parameters())|sum(p.numel() for p in net.parameters() if p.requires_grad)|[n for n, p in net.named_parameters()]
{name: p.norm().item() for name, p in net.named_parameters()}|{k: v.float().norm().item() for k, v in net.state_dict().items()}
torch.stack([p.detach().abs().max() for p in net.parameters()]).max()|torch.nn.utils.parameters_to_vector(net.parameters()).norm()
net(x).mean().item()|net.forward(x).sum()|criterion(net(x), y).item()|F.mse_loss(net(x), y)|nn.functional.l1_loss(net(x), y).item()|accuracy(net, x, y)
scheduler.get_last_lr()|scheduler.get_last_lr()[0]|optimizer.param_groups[0]["lr"]|optimizer.param_groups[0]['lr'] * 2|len(optimizer.state)
[group["lr"] for group in optimizer.param_groups]|optimizer.state_dict()["state"]|time.time()|torch.cuda.memory_allocated()|net.training|x.max().cpu().numpy()
(net(x) > 0).float().mean()|torch.softmax(net(x), dim=1).max().item()|sorted(history)[:3]|min(history), epoch|type(net).__name__|isinstance(net, Net)
getattr(net, "training")|net.fc.bias.detach().clone().numpy().tolist()|abs(total)|np.array(history).std()|torch.tensor(history).median().item()
"""


@pytest.mark.parametrize("shown", [line.replace("|", ", ") for line in ORDINARY.strip().splitlines()])
def test_ordinary_questions_read_none(asked, shown):
    said = asked(f"print('a', {shown})")
    assert not said["all"] and not any("gradients" in one for one in said["reasons"]), said["reasons"]
    # Also where the program itself reads some, by a function, and shows what that gave it.
    more = "def norm_of(net):\n    return sum(p.grad.norm().item() for p in net.parameters())\n"
    said = asked(f"print('a', {shown})", more, "torch.nn.utils.clip_grad_norm_(net.parameters(), 1)\n        norm = norm_of(net)")
    assert not said["all"] and not any("gradients" in one for one in said["reasons"]), said["reasons"]


def test_a_number_that_the_program_computed_of_gradients_is_one(asked):
    more = "from torch.nn.utils import clip_grad_norm_\ndef clip(net):\n    return clip_grad_norm_(net.parameters(), 1)\n"
    for check in ("norm = clip(net)", "norm = clip_grad_norm_(net.parameters(), 1)", "norm = sum(p.grad.norm() for p in net.parameters())"):
        for shown in ("norm", "norm.item()", "float(norm)", "f'{norm:.3f}'"):
            said = asked(f"print('a', {shown})", more, check)
            assert not said["all"], (check, shown, said["reasons"])


NORM = "torch.stack([p.grad.norm() for p in net.parameters()]).norm().item()"


@pytest.mark.parametrize("shown, more", [
    ("net.fc.bias.grad.norm()", ""), ("getattr(net.fc.bias, 'grad')", ""), (NORM, ""), ("torch.nn.utils.clip_grad_norm_(net.parameters(), 9)", ""),
    ("operator.attrgetter('bias.grad')(net.fc)", "import operator"), ("clip(net, 9)", "def clip(net, most):\n    return torch.nn.utils.clip_grad_norm_(net.parameters(), most)"),
    ("outer(net)", f"def inner(net):\n    return {NORM}\ndef outer(net):\n    return 2 * inner(net)"),
])
def test_what_reads_gradients_by_its_text_executes_all(asked, shown, more):
    said = asked(f"print('a', {shown})", more)
    assert said["all"] and any("gradients" in one for one in said["reasons"]), said["reasons"]
    said = asked(f"if {shown} > 20:\n        print('large', 2 * epoch)", more)
    assert said["all"], said["reasons"]
