"""What a program that names nothing of Flor's passes from one iteration to the next is held: in a replay whose workers begin
anywhere, and in a recording that was killed and goes on."""
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from free_test import CARRIED, CARRIED_PROBE, HELPER, ask_each, have, plain
from merged import merged

# An odd number of batches, of which each optimizer step takes two: one epoch leaves a gradient to the next.
ACCUMULATED = '''
import torch
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
bias = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.Adam([*net.parameters(), bias], lr=0.1)
batch = 0
for epoch in range(6):
    for x in torch.randn(5, 8, 4):
        loss = (net(x) + bias - x.sum(1, keepdim=True)).pow(2).mean()
        (loss / 2).backward()
        batch += 1
        if batch % 2 == 0:
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
    print("loss", loss.item())
'''


# A checkpoint must not have what a handle from before still shows: lines in front of the loop, within the block and behind it, and
# what is shown.
STALE = [
    ("", "", "net.weight.data = net.weight.data * 0.9", "net.weight.norm()"),
    ("", "net.weight.data = net.weight.data.clone()", "", "net.weight.norm()"),
    ("", "", "net.double(); net.float()", "net.weight.norm(), net.bias.norm()"),
    ("", "", "net.weight.data.set_(net.weight.data.clone().mul_(0.9))", "net.weight.norm()"),
    ("tied.weight = net.weight", "", "", "tied.weight.norm(), net.weight.norm()"),
    ("row = net.weight.detach()[1]", "", "row.mul_(0.9)", "row.sum(), net.weight.norm()"),
    ("row = net.weight.detach()[1]", "row.mul_(0.99)", "", "row.sum(), net.weight.norm()"),
    ("", "", "net.bias = torch.nn.Parameter(net.bias.detach() * 0.9); optimizer.param_groups[0]['params'][1] = net.bias", "net.bias.norm()"),
]


def test_no_value_is_stale(place):
    begin = "net, tied = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)\n"
    optimizer = "\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)"
    step = "loss = (net(x) - tied(x) - x.sum(1, keepdim=True)).pow(2).mean()\noptimizer.zero_grad()\nloss.backward()\noptimizer.step()\n"
    text, shown = merged("import torch\ntorch.manual_seed(1)\n",
                         [(begin + front + optimizer, step + within, behind, show) for front, within, behind, show in STALE], 6)
    place.write("train.py", text.replace(shown, ""))
    place.record("train.py")
    place.write("train.py", text)
    said = place.replay("train.py", "--workers", 2)
    assert ": identical" in said and set(plain(place, "train.py")[1]) <= set(have(place)), said


# The parameters of no module, one of which has no gradient after it was cleared.
LOOSE = ACCUMULATED.replace("net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))\n",
                            "weight = torch.ones(4, 1, requires_grad=True)\n").replace("*net.parameters(), bias", "weight, bias").replace(
    "net(x)", "x @ weight").replace("set_to_none=False", "set_to_none=True").replace("randn(5,", "randn(5 + epoch % 2,")


def test_gradients_of_parameters_of_no_module_are_held(place):
    place.write("train.py", LOOSE)
    place.record("train.py")
    place.write("train.py", LOOSE.replace('    print("loss"', '    print(weight.norm(), bias)\n    print("loss"'))
    said = place.replay("train.py", "--workers", 3)
    assert ": identical" in said and "taken back" not in said, said
    assert set(plain(place, "train.py")[1]) <= set(have(place))


def test_gradients_that_an_iteration_leaves_to_the_next_are_held(place):
    place.write("train.py", ACCUMULATED)
    place.record("train.py")
    for workers, shown in ((1, "net[0].weight.norm(), bias"), (3, "net[2].weight.grad.norm()")):
        place.write("train.py", ACCUMULATED.replace('    print("loss"', f'    print({shown})\n    print("loss"'))
        said = place.replay("train.py", "--workers", workers)
        assert ": identical" in said and "taken back" not in said, said
        assert set(plain(place, "train.py")[1]) <= set(have(place))


# What an object holds is read and changed by its methods alone: the optimizer, the best state, and what its first epoch left.
METHODS = '''
import torch
torch.manual_seed(1)
class Trainer:
    def __init__(self):
        self.net = torch.nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)
        self.best, self.state, self.first = None, {}, {"value": 0.0}
    def step(self, x):
        self.optimizer.zero_grad()
        loss = (self.net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        self.optimizer.step()
        return loss
    def check(self, value):
        if self.best is None:
            self.first = {"value": value}
        if self.best is None or value < self.best:
            self.best, self.state = value, {key: item.clone() for key, item in self.net.state_dict().items()}
            return False
        return True
    def back(self):
        self.net.load_state_dict(self.state)
    @property
    def reference(self):
        return self.first["value"]
    def reference_of(self):
        return self.first["value"]

trainer = Trainer()
for epoch in range(9):
    for x in torch.randn(5, 8, 4):
        loss = trainer.step(x)
    if trainer.check(loss.item()):
        trainer.back()
    print("loss", loss.item())
'''
# One optimizer by two names, and one that an object's slots hold.
NAMES = '''
import torch
torch.manual_seed(1)
class Schedule:
    __slots__ = ("optimizer", "count")
    def __init__(self, optimizer):
        self.optimizer, self.count = optimizer, 0
    def step(self):
        self.count += 1
        for group in self.optimizer.param_groups:
            group["lr"] = 0.1 / (1 + self.count)
class Trainer:
    def __init__(self, optimizer):
        self.optimizer = optimizer
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
trainer, schedule = Trainer(optimizer), Schedule(optimizer)
for epoch in range(6):
    for x in torch.randn(5, 8, 4):
        loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        trainer.optimizer.step()
    schedule.step()
    print("loss", loss.item())
'''
# A main loop that cannot be begun in its middle: the loader draws its order when it is asked for an iterator.
SHUFFLED = '''
import torch
torch.manual_seed(1)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in torch.utils.data.DataLoader(torch.arange(6), shuffle=True):
    for x in torch.randn(5, 8, 4):
        loss = (net(x) - x.sum(1, keepdim=True) - epoch).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss", loss.item())
'''
# A short loop that cannot be begun in its middle in front of the main one, which can.
WARMED_UP = SHUFFLED.split("for epoch")[0] + '''
for x in torch.utils.data.DataLoader(torch.randn(8, 4), shuffle=True):
    net(x).pow(2).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
for epoch in range(6):
''' + SHUFFLED.split("shuffle=True):\n")[1]
# So much to look at that most iterations are not looked at. One of them changes what the others read.
UNSEEN = '''
import torch
torch.manual_seed(1)
samples = [{"id": k, "text": "sample" + str(k), "tags": [k, k + 1]} for k in range(45000)]
class State:
    def __init__(self):
        self.count, self.scale = 0, {"value": 1.0}
def update(state):
    state.count += 1
    if state.count == 2:
        state.scale = {"value": 0.25}
def train(net, optimizer, state):
    for x in torch.randn(5, 8, 4):
        loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean() * state.scale["value"]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss
def main():
    net = torch.nn.Linear(4, 1)
    optimizer, state = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9), State()
    for epoch in range(6):
        loss = train(net, optimizer, state)
        update(state)
        print("loss", loss.item())
main()
'''


def test_what_methods_read_is_held(place):
    place.write("train.py", METHODS)
    place.record("train.py")
    ask_each(place, "train.py", METHODS, '    print("loss"', ["trainer.reference", "trainer.reference_of()", "trainer.best", "loss"])


def slowed(text):
    return re.sub(r'^( *)print\("loss"', r'\1import time; time.sleep(0.2)\n\1print("loss"', text, flags=re.M)


@pytest.mark.parametrize("text", [
    slowed(METHODS), slowed(NAMES), slowed(UNSEEN), slowed(SHUFFLED),
    CARRIED.replace('        print("loss"', f'        {CARRIED_PROBE.strip()}\n        import time; time.sleep(0.2)\n        print("loss"'),
    ACCUMULATED.replace('    print("loss"', '    import time; time.sleep(0.2)\n    print("loss"'),
    LOOSE.replace('    print("loss"', '    import time; time.sleep(0.2)\n    print("loss"'),
    ACCUMULATED.replace('    print("loss"', '    import time; time.sleep(0.2)\n    print("loss"').replace(
        "        if batch % 2 == 0:\n            optimizer.step()\n            optimizer.zero_grad()\n",
        "        if batch % 2:\n            continue\n        optimizer.step()\n        optimizer.zero_grad()\n"),
])
def test_a_killed_recording_goes_on_where_it_was(place, text):
    place.write("helper.py", HELPER)
    goes_on(place, text)


def test_a_killed_recording_goes_on_in_its_main_loop_though_one_in_front_shuffles(place):
    assert "resumed behind epoch=" in goes_on(place, slowed(WARMED_UP))


# Without a seed: what is drawn in front of the loop is other in each run.
UNSEEDED = SHUFFLED.split("for epoch")[0] + '''
import random
rows = list(range(48))
random.shuffle(rows)
data = torch.randn(48, 4)[rows]
for epoch in range(6):
    for x in data.split(8):
''' + SHUFFLED.split("torch.randn(5, 8, 4):\n")[1].replace(" - epoch", "")


def test_a_program_that_draws_other_data_is_not_resumed(place):
    place.write("train.py", slowed(UNSEEDED))
    killed(place)
    done = place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "-u", "train.py", code=1)
    assert "in front of loop epoch the program drew other random numbers than the recorded one (python, variable rows)" in done.stderr


def killed(place):
    """Records train.py, and kills it behind the third line that it prints."""
    training = subprocess.Popen(["flor", "record", "--name", "a", "--every", "1", "--", sys.executable, "-u", "train.py"], cwd=place.folder,
                                env=place.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    shown = 0
    for line in training.stdout:
        shown += line.startswith("loss")
        if shown == 3:
            break
    time.sleep(0.1)
    os.killpg(training.pid, signal.SIGKILL)
    training.communicate()


def goes_on(place, text, probe=""):
    """Kills a recording behind its third epoch, and sees whether the resumed one ends with the rows of a plain run. With a line
    `probe` of the program, it is added after that: two workers give the rows of a plain run. Returns what the resumed one said."""
    text = text.replace('"loss", loss.item())', '"loss", loss.item(), flush=True)')
    place.write("train.py", text)
    rows = plain(place, "train.py")[1]
    place.write("train.py", text.replace(probe, ""))
    killed(place)
    said = place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "-u", "train.py").stderr
    assert "resum" in said
    recorded = have(place)
    names = {name for _, name, _ in recorded}
    assert sorted(recorded) == sorted(row for row in rows if row[1] in names) and names
    if not probe:
        assert sorted(recorded) == sorted(rows)
        return said
    place.write("train.py", text)
    replayed = place.replay("train.py", "--workers", 2)
    assert ": identical" in replayed and "taken back" not in replayed, replayed
    assert sorted(have(place)) == sorted(rows) and len(rows) > len(recorded)
    return said


# As in the tutorial of deep Q-learning: tuples with names, of which the program has none yet where its loop begins.
MEMORY = '''
import collections
import random
import torch
torch.manual_seed(1)
random.seed(1)
Transition = collections.namedtuple("Transition", ("state", "reward"))
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
memory = collections.deque([], maxlen=20)
for epoch in range(6):
    for step in range(6):
        state = torch.randn(4)
        memory.append(Transition(state, state.sum().item()))
        batch = Transition(*zip(*random.sample(memory, min(4, len(memory)))))
        loss = (net(torch.stack(batch.state)).squeeze(1) - torch.tensor(batch.reward)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("oldest", memory[0].reward, "of", len(memory))
    print("loss", loss.item())
'''


def test_a_memory_of_named_tuples_is_held(place):
    said = goes_on(place, MEMORY, '    print("oldest", memory[0].reward, "of", len(memory))\n')
    assert "resumed behind epoch=" in said, said
