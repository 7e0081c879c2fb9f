"""What blocks and iterations were seen to change without holding it, and that replays are right all the same."""
import json
import sys

import pytest

PROGRAM = """import torch
import flor
import helper

class Counter:
    total = 0
    def __init__(self):
        self.n = 0
    def bump(self, by):
        self.n += by

def bump(values, by):
    values.append(by)
    helper.count(by)

def default(by, kept=[]):
    kept.append(by)
    return len(kept)

torch.manual_seed(1)
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
layers, weight = list(net.parameters()), net.weight.data
counter, values, rest = Counter(), [], iter(range(1000))
data = torch.randn(8, 2)
with flor.checkpointing(net=net, optimizer=optimizer):
    for epoch in flor.loop("epoch", range(6)):
        with flor.skip_block("train", net, optimizer) as train:
            if train.step_into():
                for i in flor.loop("step", range(2)):
                    optimizer.zero_grad()
                    loss = net(data).pow(2).mean()
                    loss.backward()
                    optimizer.step()
                    CHANGE
        flor.log("weight", weight.sum().item())
"""
# What the block does, and what a log statement outside of it reads.
CHANGES = {
    "a method": ("counter.bump(2)", "counter.n", "counter.n"),
    "a function": ("bump(values, 1)", "sum(values)", "values"),
    "another module": ("bump([], 1)", "helper.counted()", "helper.total"),
    "an iterator": ("next(rest)", "str(rest.__reduce__())", "rest"),
    "a default argument": ("default(1)", "len(default.__defaults__[0])", "default"),
    "a class attribute": ("setattr(Counter, 'total', Counter.total + 1)", "Counter.total", "Counter"),
    "a closure": ("helper.closure(1)", "str(helper.closure(0))", "helper.closure"),
}
HELPER = """total = []

def count(by):
    total.append(by)

def counted():
    return len(total)

def make():
    kept = [0]
    def closure(by):
        kept[0] += by
        return kept[0]
    return closure

closure = make()
"""


def unheld(place):
    run = next(one for one in (place.folder / "store").iterdir() if not one.name.startswith("."))
    rows = map(json.loads, (run / "timeline.jsonl").read_text().splitlines())
    return {(row["block"], row["path"]) for row in rows if row["kind"] == "unheld"}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_function_changes_in_a_block_is_seen_and_the_replay_is_right(place, name):
    change, read, path = CHANGES[name]
    place.write("helper.py", HELPER)
    place.write("program.py", PROGRAM.replace("CHANGE", change))
    place.record("program.py")
    assert any(found.replace(":", ".") == path for _, found in unheld(place)), unheld(place)
    place.write("program.py", PROGRAM.replace("CHANGE", change) + f'        flor.log("read", {read})\n')
    said = place.replay("program.py", "--workers", 2)
    assert ": identical" in said and "which it does not hold" in said, said
    assert set(place.plain("program.py")) <= set(place.joined())


def test_where_everything_is_held_no_block_executes(place):
    place.write("helper.py", HELPER)
    place.write("program.py", PROGRAM.replace("CHANGE", "pass"))
    place.record("program.py")
    assert {path for _, path in unheld(place)} <= {"loss", "epoch", "*0"}, "what is bound anew, the text shows"
    place.write("program.py", PROGRAM.replace("CHANGE", "pass") + '        flor.log("read", sum(one.sum().item() for one in layers))\n')
    assert "0 executed, 6 skipped" in place.replay("program.py")


def test_looking_changes_nothing_and_too_much_is_left_out(place):
    text = ("import flor\nimport numpy as np\nclass Odd:\n    def __reduce_ex__(self, protocol):\n        raise SystemExit(9)\n    def __getattr__(self, name):\n"
            "        raise KeyError(name)\n    def __eq__(self, other):\n        raise OSError\n    __hash__ = None\n"
            "odd, deep = Odd(), []\nfor _ in range(5000):\n    deep = [deep]\nmany = [[i] for i in range(2000000)]\nlines = (line for line in 'abc')\n"
            "huge = 10 ** 100000\nclass Bag(dict):\n    __getattr__ = dict.__getitem__\nbag = Bag()\n"
            "class Bare:\n    __slots__ = ('x',)\n    def __getattr__(self, name):\n        raise KeyError(name)\nbare = Bare()\n"
            "state = {'n': 0}\nwith flor.checkpointing(state=state, bag=bag), flor.checkpointing(np.zeros(3)):\n"
            "    for epoch in flor.loop('epoch', range(4)):\n"
            "        with flor.skip_block('add', state) as add:\n            if add.step_into():\n                state['n'] += 1\n"
            "        flor.log('n', state['n'])\nflor.log('line', next(lines))\n")
    place.write("program.py", text)
    place.record("program.py")
    assert sorted(place.joined()) == sorted(place.plain("program.py"))
    assert sys.getrecursionlimit() < 5000
