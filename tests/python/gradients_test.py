"""Gradients in programs as they are: log statements that read them, and iterations that leave some to the next."""
import sys

import pytest
from free_test import ask_each, have, plain
from uses_test import BEGIN, KILL

GRADIENTS = """
import torch
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(3)]
for epoch in range(20):
    begins = epoch
    for x, y in data:
        optimizer.zero_grad()
        loss = (net(x) - y).pow(2).mean() * (100 if epoch in (6, 13) else 1)
        loss.backward()
        torch.nn.utils.clip_grad_value_(net.parameters(), 50)
        optimizer.step()
    print("loss", loss.item())
"""


OF_A_FUNCTION = GRADIENTS.replace("for epoch in range(20):\n    begins = epoch\n", """
def run(epoch, train):
""").replace("        optimizer.zero_grad()\n", "").replace("        loss.backward()", "        if not train:\n            continue\n        optimizer.zero_grad()\n        loss.backward()")
OF_A_FUNCTION = OF_A_FUNCTION.replace('    print("loss", loss.item())', """    return loss
for epoch in range(20):
    run(epoch, False)
    begins = epoch
    print("loss", run(epoch, True).item())""")


NORM = "torch.stack([p.grad.norm() for p in net.parameters() if p.grad is not None] or [torch.zeros(1)]).sum()"
# No text of these log statements shows that they read gradients. A replay that lacks them asks again.
HIDDEN = {
    "by a lambda": (f"norm = lambda net: {NORM}\n", "norm(net).item() > 20"),
    "by an object": (f"class Norms:\n    def __str__(self):\n        return str({NORM}.item() > 20)\nnorms = Norms()\n", "str(norms) == 'True'"),
    "by a property": (f"class Norms:\n    @property\n    def all(self):\n        return {NORM}.item() > 20\nnorms = Norms()\n", "norms.all"),
    "by another name": ("from torch.nn.utils import clip_grad_norm_ as clip\n", "clip(net.parameters(), 1e9).item() > 20"),
    "by a table": (f"norms = {{'all': lambda: {NORM}}}\n", "norms['all']().item() > 20"),
}


@pytest.mark.parametrize("name, in_front_of", [(name, '    print("loss"') for name in HIDDEN] + [("by a lambda", "    begins = epoch")],
                         ids=[*HIDDEN, "of the iteration before"])
def test_a_print_that_reads_gradients_unseen_has_the_values_of_a_plain_run(place, name, in_front_of):
    made, shown = HIDDEN[name]
    text = GRADIENTS.replace("data = [", made + "data = [")
    place.write("train.py", text)
    place.record("train.py")
    ask_each(place, "train.py", text, in_front_of, [shown])


@pytest.mark.parametrize("text, in_front_of", [(GRADIENTS, '    print("loss"'), (GRADIENTS, "    begins = epoch"), (OF_A_FUNCTION, "    begins = epoch")],
                         ids=["behind the block", "of the iteration before", "behind a function that trains only where it is asked to"])
def test_a_print_of_gradients_has_the_values_of_a_plain_run(place, text, in_front_of):
    """They are seldom large: the proofs need not meet such an iteration."""
    place.write("train.py", text)
    place.record("train.py")
    ask_each(place, "train.py", text, in_front_of, ["net.bias.grad is not None and net.bias.grad.abs().max().item() > 20"])


ACCUMULATING = """
import os
import torch
torch.manual_seed(0)


class Trainer:
    def __init__(self, net, optimizer):
        self.net, self.optimizer = net, optimizer

    def train_step(self, i, x, y):
        self.optimizer.zero_grad()
        (self.net(x) - y).pow(2).mean().backward()
        self.optimizer.step()


class AccumulatingTrainer(Trainer):
    def train_step(self, i, x, y):
        (self.net(x) - y).pow(2).mean().backward()
        if i % 3 == 2:
            self.optimizer.step()
            self.optimizer.zero_grad()


net = torch.nn.Linear(4, 1)
trainer = AccumulatingTrainer(net, torch.optim.SGD(net.parameters(), lr=0.1))
data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(4)]
for epoch in range(8):
    for i, (x, y) in enumerate(data):
        trainer.train_step(i, x, y)
    print("weight", net.weight.sum().item())
    if epoch == 4 and os.environ.get("FLOR_RECORD") and not os.path.exists("killed"):
        open("killed", "w").close()
        os.kill(os.getpid(), 9)
"""


# A function that is given one optimizer and then the other: the second backward() adds to what the first had cleared.
OF_TWO = """
import os
import torch
torch.manual_seed(0)
G, D = torch.nn.Linear(2, 4), torch.nn.Linear(4, 1)
opt_g, opt_d = torch.optim.SGD(G.parameters(), lr=0.05), torch.optim.SGD(D.parameters(), lr=0.05)
data, bce = [torch.randn(8, 4) for _ in range(3)], torch.nn.BCEWithLogitsLoss()


def optimize(optimizer, loss):
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


for epoch in range(8):
    for real in data:
        fake = G(torch.randn(8, 2))
        optimize(opt_d, bce(D(real), torch.ones(8, 1)) + bce(D(fake.detach()), torch.zeros(8, 1)))
        optimize(opt_g, bce(D(fake), torch.ones(8, 1)))
    print("weights", D.weight.sum().item(), G.weight.sum().item())
""" + ACCUMULATING[ACCUMULATING.index("    if epoch == 4"):]
# Of an optimizer of the last layer alone, that of the first are never cleared, and count where all are clipped.
OF_A_PART = """
import os
import torch
torch.manual_seed(0)
head = torch.nn.Linear(4, 1)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), head)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(3)]
for epoch in range(8):
    for x, y in data:
        optimizer.zero_grad()
        (net(x) - y).pow(2).mean().backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    print("weight", head.weight.sum().item())
""" + ACCUMULATING[ACCUMULATING.index("    if epoch == 4"):]


@pytest.mark.parametrize("text", [ACCUMULATING, OF_TWO, OF_A_PART], ids=["by a derived class", "of one of two optimizers", "of what nothing clears"])
def test_gradients_that_something_uses_later_are_there_after_a_kill(place, text):
    place.write("train.py", text)
    rows = plain(place, "train.py")[1]
    place.record("train.py", code=None)
    assert (place.folder / "killed").exists()
    place.run("flor", "record", "--resume", "a", "--", sys.executable, "train.py")
    assert sorted(have(place)) == sorted(rows)


SHARED = {
    "in one buffer": BEGIN + """
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
flat = torch.zeros(5)
net.weight.grad, net.bias.grad = flat[:4].view(1, 4), flat[4:]
for epoch in range(8):
    for x, y in data:
        optimizer.zero_grad(set_to_none=False)
        error(net, x, y).backward()
        flat.mul_(torch.clamp(0.2 / (flat.norm() + 1e-6), max=1.0))
        optimizer.step()
    print("weight", net.weight.sum().item())
    KILL
""",
    "kept in a list": BEGIN + """
optimizer, kept = torch.optim.SGD(net.parameters(), lr=0.05), None
for epoch in range(8):
    for x, y in data:
        optimizer.zero_grad(set_to_none=False)
        error(net, x, y).backward()
        kept = [net.weight.grad, net.bias.grad] if kept is None else kept
        for gradient in kept:
            gradient.mul_(0.5)
        optimizer.step()
    print("weight", net.weight.sum().item())
    KILL
""",
    "of two networks": BEGIN + """
local = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
for epoch in range(8):
    for x, y in data:
        local.load_state_dict(net.state_dict())
        loss = error(local, x, y)
        local.zero_grad(set_to_none=False)
        loss.backward()
        for one, other in zip(local.parameters(), net.parameters()):
            other._grad = one.grad if other.grad is None else other.grad
        optimizer.step()
    print("weight", net.weight.sum().item())
    KILL
""",
}


@pytest.mark.parametrize("text", SHARED.values(), ids=SHARED.keys())
def test_a_program_whose_gradients_share_memory_begins_at_its_start(place, text):
    """A restore would give each gradient memory of its own."""
    place.write("train.py", text.replace("    KILL\n", KILL))
    rows = plain(place, "train.py")[1]
    assert "cannot be saved" in place.record("train.py", code=None)
    place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py")
    assert sorted(have(place)) == sorted(rows)


PARTS = BEGIN + """
scales = torch.nn.ParameterList([torch.nn.Parameter(torch.zeros(())) for _ in range(2)])
optimizer = torch.optim.SGD([*net.parameters(), *scales], lr=0.05)
for epoch in range(8):
    for index, (x, y) in enumerate(data):
        joined = torch.stack(list(scales))
        ((torch.exp(-joined) * error(net, x, y) + joined).sum() / 4).backward()
        if (index + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
    KILL
    print("weights", net.weight.sum().item(), scales[0].item())
"""


def test_gradients_that_are_parts_of_one_buffer_are_restored(place):
    """So are those of torch.stack() and of cuDNN, and nobody else sees them."""
    place.write("train.py", PARTS.replace("    KILL\n", KILL))
    rows = plain(place, "train.py")[1]
    assert "cannot be saved" not in place.record("train.py", code=None)
    said = place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py").stderr
    assert "resumed behind epoch=3" in said and sorted(have(place)) == sorted(rows)
