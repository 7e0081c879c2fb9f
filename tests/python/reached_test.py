"""State that other code reaches than the text of the loop's function shows: it is restored, or the program begins again."""
import ast
import sys

import pytest
from carried_test import goes_on, slowed

BEGIN = '''
import collections, copy
import torch
torch.manual_seed(1)
net = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
data = list(torch.randn(3, 8, 4))
'''
STEP = '''
optimizer.zero_grad()
loss.backward()
optimizer.step()
'''


def indented(text, by):
    return "".join(" " * by + line + "\n" for line in text.strip().splitlines())


# Only another function reads what the loop's function binds.
GLOBAL = BEGIN + '''
prototypes = torch.zeros(80, 4)
def criterion(out):
    return ((out - prototypes[:8]) ** 2).mean()
def train():
    global prototypes
    for epoch in range(8):
        for x in data:
            loss = criterion(net(x))
''' + indented(STEP, 12) + '''
        with torch.no_grad():
            prototypes = torch.cat([net(x).detach() + 1 for x in data] * 4)
        print("weight", net.weight.norm().item())
        print("loss", loss.item())
train()
'''
NONLOCAL = BEGIN + '''
def main():
    prototypes = torch.zeros(80, 4)
    def criterion(out):
        return ((out - prototypes[:8]) ** 2).mean()
    def train():
        nonlocal prototypes
        for epoch in range(8):
            for x in data:
                loss = criterion(net(x))
''' + indented(STEP, 16) + '''
            with torch.no_grad():
                prototypes = torch.cat([net(x).detach() + 1 for x in data] * 4)
            print("weight", net.weight.norm().item())
            print("loss", loss.item())
    train()
main()
'''
# Only what is added later reads it.
BEST = BEGIN + '''
best_state = copy.deepcopy(net.state_dict())
def best():
    return sum(value.norm().item() for value in best_state.values())
def train():
    global best_state
    for epoch in range(8):
        for x in data:
            loss = net(x).pow(2).mean() * (1 if epoch < 2 else -1)
''' + indented(STEP, 12) + '''
        if epoch < 2:
            best_state = copy.deepcopy(net.state_dict())
        print("best", best())
        print("loss", loss.item())
train()
'''


@pytest.mark.parametrize("text, probe", [(GLOBAL, '        print("weight", net.weight.norm().item())\n'),
                                         (NONLOCAL, '            print("weight", net.weight.norm().item())\n'),
                                         (BEST, '        print("best", best())\n')], ids=["global", "nonlocal", "best"])
def test_a_variable_of_outside_that_the_loops_function_binds(place, text, probe):
    goes_on(place, slowed(text), probe)


# What a network was given, and computes with. The text names it in front of the loop alone.
NETWORK = '''
class Net(torch.nn.Module):
    def __init__(self, kept):
        super().__init__()
        self.fc, self.kept = torch.nn.Linear(4, 4), kept
    def forward(self, x):
        h = self.fc(x)
        FORWARD
        return h
'''
EPOCHS = '''
for epoch in range(8):
    for x in data:
        loss = (net(x) - x.flip(1)).pow(2).mean()
''' + indented(STEP, 8) + '''
    print("weight", net.state_dict()["WEIGHT"].norm().item())
    print("loss", loss.item())
'''


def given(kept, forward):
    made = f"kept = {kept}\nnet = Net(kept)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.05)\n"
    return BEGIN + NETWORK.replace("FORWARD", forward) + made + EPOCHS.replace("WEIGHT", "fc.weight")


def in_main(text):
    """The loop and what it needs in a function."""
    begin, rest = text.split("\nkept = ")
    return begin + "\ndef main():\n" + indented("kept = " + rest, 4) + "main()\n"


DEQUE = given("collections.deque(maxlen=40)", "h = h - 0.5 * sum(self.kept); self.kept.append(h.detach().mean(0))")
TENSOR = in_main(given("torch.zeros(80, 4)", "h = h - 0.5 * self.kept.mean(0); self.kept.copy_(torch.cat([h.detach(), self.kept[:-8]]))"))
GENERATOR = given("(0.5 / count for count in range(1, 1000))", "h = h - next(self.kept)")
HOOK = BEGIN + '''
class Noise:
    def __init__(self):
        self.count = 0
    def __call__(self, gradient):
        self.count += 1
        return gradient + 0.3 / self.count
noise = Noise()
net.weight.register_hook(noise)
''' + EPOCHS.replace("WEIGHT", "weight")


@pytest.mark.parametrize("text", [DEQUE, TENSOR, GENERATOR, HOOK], ids=["deque", "tensor", "generator", "hook"])
def test_what_a_network_refers_to(place, text):
    line = next(line for line in text.splitlines() if '"weight"' in line)
    said = goes_on(place, slowed(text), line + "\n")
    assert ("resumed behind epoch=" in said) == (text is not GENERATOR), said


# Only a method of the network reads it, and only the log statement that is added later calls that.
REPORTED = '''
import collections
import torch
import flor
class Net(torch.nn.Module):
    def __init__(self, seen):
        super().__init__()
        self.fc, self.seen = torch.nn.Linear(4, 4), seen
    def forward(self, x):
        h = self.fc(x)
        self.seen.append(h.detach())
        return h
    def report(self):
        return len(self.seen)
torch.manual_seed(1)
seen = collections.deque()
net = Net(seen)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
data = torch.randn(8, 4)
with flor.checkpointing(net=net, optimizer=optimizer):
    for epoch in flor.loop("epoch", range(8)):
        with flor.skip_block("train", net, optimizer) as train:
            if train.step_into():
                loss = net(data).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        flor.log("weight", net.fc.weight.norm().item())
'''


def test_what_an_object_with_a_name_refers_to(place):
    place.write("train.py", REPORTED)
    assert "block train changes net.seen: add it to its objects" in place.record("train.py")
    place.write("train.py", REPORTED + '        flor.log("seen", net.report())\n')
    replayed = place.replay("train.py", "--workers", 2)
    assert ": identical" in replayed and "taken back" not in replayed, replayed
    assert set(place.plain("train.py")) <= set(place.joined())


# A function reads a variable of the module, which a local one of the loop's function hides.
HIDDEN = BEGIN + '''
step = 0
def rate():
    global step
    step += 1
    return 0.5 / step
def main():
    for epoch in range(8):
        for step, x in enumerate(data):
            optimizer.param_groups[0]["lr"] = rate()
            loss = (net(x) - x.flip(1)).pow(2).mean()
''' + indented(STEP, 12) + '''
        print("rate", 0.5 / globals()["step"])
        print("loss", loss.item())
main()
'''
UNDERSCORES = BEGIN + '''
__calls = {"count": 0}
def rate():
    __calls["count"] += 1
    return 0.5 / __calls["count"]
for epoch in range(8):
    for x in data:
        optimizer.param_groups[0]["lr"] = rate()
        loss = (net(x) - x.flip(1)).pow(2).mean()
''' + indented(STEP, 8) + '''
    print("rate", 0.5 / __calls["count"])
    print("loss", loss.item())
'''


@pytest.mark.parametrize("text", [HIDDEN, UNDERSCORES], ids=["hidden", "underscores"])
def test_a_variable_of_the_module_that_is_easily_missed(place, text):
    line = next(line for line in text.splitlines() if 'print("rate"' in line)
    assert "resumed behind epoch=" in goes_on(place, slowed(text), line + "\n")


# A module that a function in the loop imports: of classes and functions alone, and one with variables that it changes.
LATE = BEGIN + '''
def evaluate():
    IMPORT
    return SCORE
for epoch in range(8):
    for x in data:
        loss = (net(x) - x.flip(1)).pow(2).mean() * (1 + evaluate() / 100)
''' + indented(STEP, 8) + '''
    print("score", evaluate())
    print("loss", loss.item())
'''
ACCURACY = """
import abc
import logging
logger = logging.getLogger(__name__)
class Metric(abc.ABC):
    unit = "percent"
    def __init__(self, start=0.0):
        self.sum = start
    @property
    def value(self):
        return self.sum
class Accuracy(Metric):
    @staticmethod
    def of(value):
        return value * 2
    def add(self, value):
        self.sum += self.of(value)
def error(net, data, count=3):
    return sum((net(x) - x).pow(2).mean().item() for x in data[:count])
"""
COUNTED = """
seen, scale = {"calls": 0}, 1.0
def error(net, data):
    global scale
    seen["calls"] += 1
    scale *= 0.8
    return sum((net(x) - x).pow(2).mean().item() for x in data) + seen["calls"]
"""


def late(statement, score):
    return LATE.replace("IMPORT", statement).replace("SCORE", score)


@pytest.mark.parametrize("module, text, program", [
    ("metrics", ACCURACY, late("from metrics import Accuracy, error; meter = Accuracy(); meter.add(error(net, data))", "meter.value")),
    ("metrics", COUNTED, late("import metrics", "metrics.error(net, data)")),
    ("tools/metrics", COUNTED, late("from tools import metrics", "metrics.error(net, data)")),
], ids=["classes", "variables", "package"])
def test_a_module_that_is_imported_in_the_loop(place, module, text, program):
    place.write(module + ".py", text)
    assert "resumed behind epoch=" in goes_on(place, slowed(program), '    print("score", evaluate())\n' if text is ACCURACY else "")


# Its class is not as it was imported.
COUNTING = ACCURACY.replace("def add(self, value):", "def add(self, value):\n        Metric.unit = Metric.unit[:-1] or 'percent'")


def test_a_class_of_a_module_that_is_imported_in_the_loop_and_changed(place):
    place.write("metrics.py", COUNTING)
    program = late("from metrics import Accuracy; meter = Accuracy(); meter.add(1.0)", "meter.value + len(meter.unit)")
    assert "resumed behind epoch=" not in goes_on(place, slowed(program))


def test_a_record_has_only_modules_imported_that_the_program_imports(monkeypatch, tmp_path):
    from flor import _imported

    for name in ("named_by_a_text", "named_by_a_record"):
        (tmp_path / f"{name}.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(_imported, "_trees", lambda: [(sys, ast.parse("def f():\n    from named_by_a_text import x"))])
    _imported.import_for(["named_by_a_text:x", "named_by_a_record:x"])
    assert "named_by_a_text" in sys.modules and "named_by_a_record" not in sys.modules
