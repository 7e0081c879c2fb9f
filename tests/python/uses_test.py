"""Gradients that a checkpoint leaves out: it counts only where the program clears them before it uses any, whatever its text shows."""
import sys

import pytest
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
    assert "resum" in said and "leaves gradients" not in said and sorted(have(place)) == sorted(rows), said


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


ADDS = "the program adds to gradients that earlier checkpoints do not have"


def test_a_later_use_of_gradients_ends_resumption_only_until_the_next_checkpoint(place):
    text = LATER.replace("    KILL\n", KILL.replace("epoch == 4", "epoch == 6"))
    place.write("train.py", text)
    rows = plain(place, "train.py")[1]
    assert ADDS not in place.record("train.py", code=None)
    said = place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py").stderr
    assert "resumed behind epoch=5" in said and sorted(have(place)) == sorted(rows)
    ask_each(place, "train.py", text, '    print("weight"', ["net.bias.sum().item()"])


def test_a_recording_that_ends_in_front_of_that_checkpoint_goes_on_with_none_that_lacks_them(place):
    place.write("train.py", LATER.replace("    KILL\n", KILL.replace("epoch == 4", "epoch == 3")))
    rows = plain(place, "train.py")[1]
    place.record("train.py", code=None)
    said = place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py").stderr
    assert "resumed behind" not in said and sorted(have(place)) == sorted(rows)


NEVER_CLEARED = BEGIN + """
spare = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.02)
for epoch in range(9):
    for x, y in data:
        optimizer.zero_grad()
        if epoch < 3:
            spare.zero_grad()
        (error(net, x, y) + error(spare, x, y)).backward()
        optimizer.step()
    KILL
    print("weight", net.weight.sum().item())
"""


def test_gradients_that_are_cleared_no_more_are_warned_of(place):
    """No further checkpoint can have them: a process that goes on from an earlier one does not know them."""
    place.write("train.py", NEVER_CLEARED.replace("    KILL\n", KILL))
    rows = plain(place, "train.py")[1]
    assert ADDS in place.record("train.py", code=None)
    again = place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py").stderr
    assert "runs from its start" in again and sorted(have(place)) == sorted(rows)


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
    begin = "    for x, y in data:"
    place.write("train.py", text.replace(begin, "    print(gradient.norm().item() if epoch > 0 else 0.0)\n" + begin))
    place.replay("train.py", "--workers", 2)
    assert set(plain(place, "train.py")[1]) <= set(have(place))
