"""Gradients that a checkpoint leaves out: it counts only where the program clears them before it uses any, whatever its text shows."""
import copy
import sys

import pytest
import torch
from free_test import ask_each, have, plain

BEGIN = """
import os
import time
import torch
torch.manual_seed(1)
net = torch.nn.Linear(4, 1)
data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(10)]
def error(net, x, y):
    return (net(x) - y).pow(2).mean()
"""
# Ends itself once while it is recorded, in the middle of what an epoch does behind its block.
KILL = """
    if epoch == 4 and os.environ.get("FLOR_RECORD") and not os.path.exists("killed"):
        open("killed", "w").close()
        time.sleep(0.5)  # the checkpoint of the block is written by then
        os.kill(os.getpid(), 9)
"""
# As the optimizers of apex, which hand gradients to functions of C++: these read the memory.
FUSED = """
from torch.utils import dlpack
class Fused(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.data.add_(dlpack.from_dlpack(dlpack.to_dlpack(parameter.grad.data)), alpha=-group["lr"])
"""
# The text shows of none of them that gradients pass from one epoch to the next, or from a block to what follows it.
PROGRAMS = {
    "what the loop left is used behind it": BEGIN + """
optimizer = torch.optim.SGD(net.parameters(), lr=0.02)
for epoch in range(8):
    for index, (x, y) in enumerate(data):
        (error(net, x, y) / 4).backward()
        if (index + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
    optimizer.step()
    optimizer.zero_grad()
    KILL
    print("error", sum(error(net, x, y).item() for x, y in data))
""",
    "one function for two optimizers": BEGIN + """
class Trainer:
    def __init__(self):
        self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
        self.of_first = torch.optim.SGD(self.first.parameters(), lr=0.05)
        self.of_second = torch.optim.SGD(self.second.parameters(), lr=0.05)

    @staticmethod
    def optimize(optimizer, loss):
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    def train(self, x, y):
        self.optimize(self.of_second, error(self.second, self.first(x).detach(), y))
        self.optimize(self.of_first, error(self.second, self.first(x), y))

trainer = Trainer()
for epoch in range(8):
    for x, y in data:
        trainer.train(x, y)
    print("weights", trainer.first.weight.sum().item(), trainer.second.weight.sum().item())
    KILL
""",
    "called by its name": BEGIN + """
class EveryThird:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def behind(self, batch):
        if batch % 3 == 2:
            self.optimizer.step()
            self.optimizer.zero_grad()

callbacks = [EveryThird(torch.optim.SGD(net.parameters(), lr=0.1))]
def tell(event, batch):
    for callback in callbacks:
        getattr(callback, event)(batch)
for epoch in range(8):
    for batch, (x, y) in enumerate(data):
        error(net, x, y).backward()
        tell("behind", batch)
    print("weight", net.weight.sum().item())
    KILL
""",
    "tensors of no module, one of which has no gradient yet": BEGIN + """
scales = [torch.zeros(1, requires_grad=True) for _ in range(2)]
optimizer = torch.optim.Adam([*net.parameters(), *scales], lr=0.05)
for epoch in range(8):
    for index, (x, y) in enumerate(data[:3]):
        optimizer.zero_grad()
        (torch.exp(-scales[index % 2]) * error(net, x, y) + scales[index % 2]).sum().backward()
        optimizer.step()
    print("weights", scales[0].item(), scales[1].item(), net.weight.sum().item())
    KILL
""",
    "of objects that save themselves": BEGIN + """
class Agent:
    def __init__(self):
        self.net = torch.nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def learn(self, index, x, y):
        error(self.net, x, y).backward()
        if index % 3 == 2:
            self.optimizer.step()
            self.optimizer.zero_grad()

    def state_dict(self):
        return {"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict()}

    def load_state_dict(self, state):
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])

agents = [Agent(), Agent()]
for epoch in range(8):
    for index, (x, y) in enumerate(data):
        for agent in agents:
            agent.learn(index, x, y)
    print("weight", sum(agent.net.weight.sum().item() for agent in agents))
    KILL
""",
    "of a module that does not train yet": BEGIN + """
judge = torch.nn.Linear(1, 1)
optimizer, later = torch.optim.SGD(net.parameters(), lr=0.05), torch.optim.SGD(judge.parameters(), lr=0.01)
for epoch in range(8):
    for x, y in data:
        optimizer.zero_grad()
        judge(net(x)).pow(2).mean().backward()
        optimizer.step()
        if epoch >= 6:
            later.step()
            later.zero_grad()
    print("weights", net.weight.sum().item(), judge.weight.sum().item())
    KILL
""",
    "by a function of C++": BEGIN + FUSED + """
optimizer = Fused(net.parameters(), dict(lr=0.02))
for epoch in range(8):
    for index, (x, y) in enumerate(data):
        (error(net, x, y) / 4).backward()
        if (index + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    KILL
    print("weight", net.weight.sum().item())
""",
    "by a function of C++ in an installed library": BEGIN + """
import sys
sys.path.append(os.path.abspath("site-packages"))
from apex import Fused
optimizer = Fused(net.parameters(), dict(lr=0.02))
for epoch in range(8):
    optimizer.step()
    for x, y in data:
        optimizer.zero_grad(set_to_none=True)
        error(net, x, y).backward()
    KILL
    print("weight", net.weight.sum().item())
""",
    "backward() puts another in its place": BEGIN + """
optimizer = torch.optim.SGD(net.parameters(), lr=0.02)
for epoch in range(8):
    for index, (x, y) in enumerate(data):
        (error(net, x, y) / 4).backward(create_graph=index == 0)
        if index == 0:
            for parameter in net.parameters():
                parameter.grad = parameter.grad.detach()
        if (index + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    KILL
    print("weight", net.weight.sum().item())
""",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_killed_recording_goes_on_to_the_rows_of_a_plain_run(place, text):
    place.write("train.py", text.replace("    KILL\n", KILL))
    place.write("site-packages/apex.py", "import torch\n" + FUSED)
    rows = plain(place, "train.py")[1]
    place.record("train.py", code=None)
    assert (place.folder / "killed").exists()
    said = place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py").stderr
    assert "resum" in said and sorted(have(place)) == sorted(rows), said


ADDED_LATE = BEGIN + FUSED + """
optimizer = Fused(net.parameters(), dict(lr=0.02))
for epoch in range(8):
    for index, (x, y) in enumerate(data):
        if epoch < 5:
            optimizer.zero_grad(set_to_none=True)
        error(net, x, y).backward()
        if index % 4 == 0:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    KILL
    print("weight", net.weight.sum().item())
"""


def test_a_resumed_recording_ends_where_backward_adds_to_gradients_that_are_not_known(place):
    """Before the kill the program cleared them, and the function of C++ that reads them then is not seen."""
    place.write("train.py", ADDED_LATE.replace("    KILL\n", KILL))
    rows = plain(place, "train.py")[1]
    place.record("train.py", code=None)
    again = ("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py")
    assert "the program uses gradients that" in place.run(*again, code=1).stderr
    place.run(*again)
    assert sorted(have(place)) == sorted(rows)


ASKED = """
import torch
torch.manual_seed(1)
net = torch.nn.Linear(4, 1)
data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(3)]
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
loss = torch.zeros(1)
for epoch in range(20):
    begins = epoch
    for x, y in data:
        optimizer.zero_grad()
        loss = (net(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
    print("loss", loss.item())
"""


def asking(place, where, *flags, code=0):
    """Asks for the gradients of two epochs. Returns what it says, and the rows that came, which are those of a plain run."""
    place.write("train.py", ASKED.replace(where, '    print(net.bias.grad.item() if net.bias.grad is not None else 0.0)\n' + where))
    rows = plain(place, "train.py")[1]
    done = place.run("flor", "replay", "a", "--epochs", "13:15", *flags, "--", sys.executable, "train.py", code=code)
    found = [row for row in have(place) if row[1].startswith("net.bias.grad")]
    assert set(found) <= set(rows)
    return done.stdout + done.stderr, found


IN_FRONT = "    begins = epoch"


def test_a_replay_that_lacks_gradients_asks_again_from_the_start(place):
    place.write("train.py", ASKED)
    place.record("train.py")
    said, found = asking(place, IN_FRONT)
    assert "train.py:9: the program uses gradients that an iteration left" in said
    assert "asking again with every block executed from the program's start" in said and len(found) == 2
    # The same question again knows that, and runs nothing.
    said, found = asking(place, IN_FRONT)
    assert "asking again" in said and "nothing is run" in said and len(found) == 2


def test_where_the_user_chose_what_executes_a_row_of_unknown_gradients_is_refused(place):
    place.write("train.py", ASKED)
    place.record("train.py")
    for _ in range(2):
        said, found = asking(place, IN_FRONT, "--probe", "all", code=1)
        assert "train.py:9: the program uses gradients that an iteration left" in said and "asking again" not in said and not found


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


LATER = BEGIN + """
optimizer = torch.optim.SGD(net.parameters(), lr=0.02)
for epoch in range(9):
    every = 1 if epoch < 3 else 4
    for index, (x, y) in enumerate(data):
        if every == 1:
            optimizer.zero_grad()
        (error(net, x, y) / every).backward()
        if (index + 1) % every == 0:
            optimizer.step()
            if every > 1:
                optimizer.zero_grad()
    KILL
    print("weight", net.weight.sum().item())
"""


def test_a_later_use_of_gradients_ends_resumption_only_until_the_next_checkpoint(place):
    text = LATER.replace("    KILL\n", KILL.replace("epoch == 4", "epoch == 6"))
    place.write("train.py", text)
    rows = plain(place, "train.py")[1]
    place.record("train.py", code=None)
    said = place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py").stderr
    assert "resumed behind epoch=5" in said and sorted(have(place)) == sorted(rows)
    ask_each(place, "train.py", text, '    print("weight"', ["net.bias.sum().item()"])


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


NAMED = BEGIN + """
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(8):
    for x, y in data:
        optimizer.zero_grad()
        error(net, x, y).backward()
        total = 0.0
        for parameter in net.parameters():
            gradient = parameter.grad
            total += gradient.norm().item() ** 2
        optimizer.step()
    KILL
    print("norm", total ** 0.5)
"""


def test_a_variable_for_a_gradient_that_nothing_reads_keeps_no_program_from_resuming(place):
    text = NAMED.replace("    KILL\n", KILL)
    place.write("train.py", text)
    rows = plain(place, "train.py")[1]
    assert "cannot be saved" not in place.record("train.py", code=None)
    said = place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py").stderr
    assert "resumed behind epoch=3" in said and sorted(have(place)) == sorted(rows)
    # No checkpoint has it: a question for it executes the blocks.
    ask_each(place, "train.py", text, '    print("norm"', ["gradient.norm().item()"])
    place.write("train.py", text.replace("    for x, y in data:", "    print(gradient.norm().item() if epoch > 0 else 0.0)\n    for x, y in data:"))
    place.replay("train.py", "--workers", 2)
    assert set(plain(place, "train.py")[1]) <= set(have(place))


def trained():
    torch.manual_seed(1)
    net = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    net(torch.randn(4, 3)).pow(2).sum().backward()
    optimizer.step()
    return net, optimizer


def train(net, optimizer, **how):
    optimizer.zero_grad(**how)
    net(torch.ones(4, 3)).pow(2).sum().backward()
    optimizer.step()


USES = {
    "step": lambda net, optimizer: optimizer.step(),
    "accumulated": lambda net, optimizer: (net(torch.ones(1, 3)).sum().backward(), optimizer.step()),
    "clipped": lambda net, _: torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0),
    "a number": lambda net, _: net.weight.grad[0, 0].item(),
    "shown": lambda net, _: str(net.weight.grad),
    "added to": lambda net, _: net.weight.grad.add_(1),
    "a part is set": lambda net, _: net.bias.grad.__setitem__(0, 1.0),
    "by numpy": lambda net, _: net.weight.grad.numpy(),
    "its memory": lambda net, _: net.weight.grad.data_ptr(),
    "in a list": lambda net, _: torch.cat([parameter.grad.flatten() for parameter in net.parameters()]),
    "copied": lambda net, _: torch.zeros(2, 3).copy_(net.weight.grad),
    "its data": lambda net, _: net.weight.grad.data.mul_(2),
    "compared": lambda net, _: bool((net.bias.grad > 0).any()),
    "moved": lambda net, _: net.double(),
    "copied where it is": lambda net, _: net.weight.grad.to("cpu", copy=True),
    "its type": lambda net, _: net.weight.grad.double(),
    "its data is another": lambda net, _: [setattr(parameter.grad, "data", torch.ones_like(parameter)) for parameter in net.parameters()],
}
NO_USES = {
    "cleared to None": lambda net, optimizer: train(net, optimizer, set_to_none=True),
    "cleared to zeros": lambda net, optimizer: train(net, optimizer, set_to_none=False),
    "cleared by the module": lambda net, _: net.zero_grad(),
    "added to and cleared": lambda net, optimizer: (net(torch.ones(1, 3)).sum().backward(), train(net, optimizer)),
    "its data cleared": lambda net, _: [parameter.grad.data.zero_() for parameter in net.parameters()],
    "detached and cleared": lambda net, _: [parameter.grad.detach_().zero_() for parameter in net.parameters()],
    "overwritten": lambda net, _: [parameter.grad.copy_(torch.ones_like(parameter)) for parameter in net.parameters()],
    "asked whether there is one": lambda net, _: [parameter.grad is not None and parameter.grad != None for parameter in net.parameters()],  # noqa: E711
    "asked for its shape": lambda net, _: [(parameter.grad.shape, parameter.grad.dtype, parameter.grad.is_sparse) for parameter in net.parameters()],
    "the module is copied": lambda net, _: copy.deepcopy(net),
    "moved to where it is": lambda net, _: net.to("cpu").float(),
    "of the type that it has": lambda net, _: [parameter.grad.type(torch.float32) for parameter in net.parameters()],
    "removed": lambda net, _: [setattr(parameter, "grad", None) for parameter in net.parameters()],
}


@pytest.mark.parametrize("begin", ["watch", "be_unknown"])
@pytest.mark.parametrize("act, is_use", [(act, True) for act in USES.values()] + [(act, False) for act in NO_USES.values()],
                         ids=[*USES, *NO_USES])
def test_a_use_is_told_from_what_is_none(act, is_use, begin):
    from flor import _left_out

    net, optimizer = trained()
    uses = []
    for parameter in net.parameters():
        if begin == "watch":
            _left_out.watch(parameter, "block", lambda: uses.append("block"))
            _left_out.watch(parameter, "", lambda: uses.append(""))
        else:
            _left_out.be_unknown(parameter, lambda: uses.append(""))
    act(net, optimizer)
    assert set(uses) == (set() if not is_use else {"", "block"} if begin == "watch" else {""})
    assert all(parameter.grad is None or parameter.grad.dtype == parameter.dtype for parameter in net.parameters())


def test_a_gradient_behind_many_objects_is_found():
    from flor import _left_out

    class Agent:
        def __init__(self):
            self.seen = [(torch.zeros(1), [index]) for index in range(10000)]
            self.net = trained()[0]

    agent = Agent()
    assert len(_left_out.trained_in(agent, True)) == 2
    agent.seen = [[] for _ in range(200_001)]
    with pytest.raises(TypeError, match="too many"):
        _left_out.trained_in(agent, True)


class Noted(list):
    """In place of the library, what is noted in the record."""

    def flor_note_unheld(self, block, path, _matters):
        self.append((block.decode(), path.decode()))

    def flor_recording(self):
        return 1

    flor_active = flor_recording

    def flor_warn(self, _text):
        pass


@pytest.fixture
def noted(monkeypatch):
    from flor import _block, _gradient_uses, _library

    noted = Noted()
    monkeypatch.setattr(_gradient_uses, "library", noted)
    monkeypatch.setattr(_gradient_uses, "_seen", {"used": False, "in doubt": False})
    monkeypatch.setattr(_block, "_noted", set())
    monkeypatch.setattr(_library, "warn", lambda text: None)
    return noted


def test_a_checkpoint_between_two_steps_does_not_hide_that_the_one_before_lacks_gradients(noted):
    from flor import _gradient_uses

    net, optimizer = trained()
    _gradient_uses.watch_all("", [(parameter, False) for parameter in net.parameters()])
    _gradient_uses.watch_all("", [(parameter, True) for parameter in net.parameters()])
    optimizer.step()
    assert noted == [("@gradients", "?")]
    _gradient_uses.watch_all("", [(parameter, True) for parameter in net.parameters()])
    optimizer.step()
    assert noted == [("@gradients", "?"), ("@gradients", "!")]


def test_the_hooks_that_watch_are_gone_behind_the_next_backward(noted):
    from flor import _gradient_uses

    (net, optimizer), (watched, other) = trained(), trained()
    for act in (lambda *one: None, lambda net, _: net(torch.ones(1, 3)).sum().backward(), lambda net, _: net.zero_grad(set_to_none=True)):
        _gradient_uses.watch_all("train", [(parameter, False) for parameter in watched.parameters() if parameter.grad is not None])
        for one in ((net, optimizer), (watched, other)):
            act(*one)
            train(*one)
        assert not any(parameter._backward_hooks for parameter in watched.parameters())
        assert all(torch.equal(a, b) and torch.equal(a.grad, b.grad) for a, b in zip(net.parameters(), watched.parameters()))
    assert noted == [("train", "@gradients")]  # of the one in the middle alone


def test_what_is_done_to_a_gradient_itself_goes_on_to_hold():
    from flor import _left_out

    net, _ = trained()
    net.weight.grad.requires_grad_(False)
    for parameter in net.parameters():
        _left_out.watch(parameter, "", lambda: None)
    gradient = net.weight.grad.requires_grad_(True)
    assert net.weight.grad.requires_grad and gradient.pow(2).sum().requires_grad
    net.bias.grad.unsqueeze_(0)
    assert net.bias.grad.shape == (1, 2)


@pytest.mark.parametrize("act", [USES["step"], USES["accumulated"], NO_USES["cleared to zeros"], NO_USES["added to and cleared"]])
def test_training_is_the_same_to_the_bit_where_it_is_watched(act):
    from flor import _left_out

    (net, optimizer), (watched, other) = trained(), trained()
    for parameter in watched.parameters():
        _left_out.watch(parameter, "", lambda: None)
    for one in ((net, optimizer), (watched, other)):
        act(*one)
        train(*one)
    assert all(torch.equal(a, b) and type(a.grad) is type(b.grad) for a, b in zip(net.parameters(), watched.parameters()))
