"""What a question changes by code of the program that it calls, and what it reads by operators, tables and partials."""
import pytest
from edits_test import asked
from free_test import have, plain

PROGRAM = """import functools
import glob
import flor
import torch

class Ema:
    def __call__(self, x):
        self.value = 0.9 * self.value + x
        return self.value

class Named(Ema):
    name = "average"

class Meter:
    def __init__(self):
        self.values = []

    def update(self, x):
        self.values.append(x)
        return len(self.values)

class Files:
    def __len__(self):
        return len(glob.glob("ckpts/*"))

class Train:
    def __init__(self):
        self.meter, self.count = Meter(), 0

    def step(self, x):
        self.meter.update(x)

    def tick(self):
        self.count += 1
        return self.count

    @property
    def turns(self):
        return self.tick()

    @functools.cached_property
    def first(self):
        return loss

    def find(self, name):
        return self.meter

class Average:
    def __init__(self):
        self.sum, self.count = 0, 0

    def __call__(self, x):
        self.sum += x

    def __len__(self):
        self.count += 1
        return self.count

class Net:
    def forward(self, x):
        self.last = x
        return x

def counted(x):
    global calls
    calls += 1
    return calls

def into(seen, x):
    into_all([seen, None][0], x)
    for one in (seen,):
        one.append(x)
    return len(seen)

def into_all(seen, x):
    seen[0] = x

def kept(x, seen=[]):
    seen.append(x)
    return len(seen)

@functools.lru_cache(maxsize=None)
def first():
    return calls

def files():
    return glob.glob("ckpts/*")

def counter():
    count = 0
    def inner():
        nonlocal count
        count += 1
        return count
    return inner

def even(x, to):
    to.append(x)
    return odd(x, to)

def odd(x, to):
    return even(x - 1, to) if x > 0 else len(to)

def pure(x):
    seen = []
    seen.append(x)
    into(seen, x)
    return seen

def fresh(x):
    meter = Meter()
    meter.update(x)
    meter.name = "fresh"
    return meter.values

calls, smooth, meter, trained, seen, net = 0, Ema(), Meter(), Meter(), [], Net()
alias, count_on, named = meter.update, counter(), Named()
part = functools.partial(into, seen)
table = {"count": counted, "files": files}
shards = Files()
runs, averages, cross_entropy = Train(), Average(), torch.nn.CrossEntropyLoss()
compiled = torch.compile(net)
for epoch in flor.loop("epoch", range(8)):
    with flor.skip_block("train", net) as train:
        if train.step_into():
            loss = net(epoch)
            trained.update(loss)
            runs.step(loss)
            Meter().update(compiled(epoch))
    flor.log("loss", loss)
"""
LOG = '    flor.log("loss", loss)\n'


def asked_for(value):
    return asked(PROGRAM, (LOG, f'{LOG}    flor.log("asked", {value})\n'))


@pytest.mark.parametrize("value, changed", [
    ("smooth(loss)", "smooth.value"), ("meter.update(loss)", "meter"), ("counted(loss)", "calls"), ("into(seen, loss)", "seen"), ("kept(loss)", "kept"),
    ("first()", "first"), ("part(loss)", "into"), ("alias(loss)", "update"), ("table['count'](loss)", "calls"), ("seen.append(loss) or len(seen)", "seen"),
    ("next(shards)", "shards"), ("count_on()", "count"), ("named(loss)", "named.value"), ("odd(2, seen)", "seen"), ("even(2, seen)", "seen"),
    ("runs.tick()", "runs.count"), ("runs.turns", "runs.count"), ("runs.first", "runs.first"), ("[meter][0].values.pop()", "meter.values"),
    ("list(map(meter.update, [loss]))", "meter"), ("sorted([1], key=seen.append)", "seen"), ("max([loss], key=lambda v: smooth(v))", "smooth.value"),
    ("setattr(smooth, 'value', 1)", "smooth"), ("loss in seen or seen.add(loss)", "seen"), ("len(averages)", "averages.count"), ("averages(1)", "averages.sum")])
def test_what_a_question_alone_changes_begins_at_the_start(value, changed):
    answer = asked_for(value)
    assert answer["from_start"] and answer["all"]
    assert any("the recorded program does not" in reason and changed in reason for reason in answer["reasons"]), answer["reasons"]


@pytest.mark.parametrize("value", ["pure(loss)", "fresh(loss)", "net(loss)", "abs(loss)", "len(trained.values)", "meter.values[:3]", "net.eval() or 1", "runs.find('a').values[0]",
                                   "net.weight.sum()", "seen.count(4)", "cross_entropy(loss, loss)", "compiled(loss)", "Train().tick()", "trained.values"])
def test_what_a_question_changes_of_its_own_or_as_the_program_does_begins_anywhere(value):
    assert not asked_for(value)["from_start"]


@pytest.mark.parametrize("value", ["len(shards)", "table['files']()", "files()"])
def test_files_are_found_behind_operators_and_tables(value):
    assert "asks which files there are" in asked_for(value)["probes"][0]["withheld"]


UNASKED = """
import torch
torch.manual_seed(1)
class Ema:
    value = 0.0
    def __call__(self, x):
        self.value = 0.5 * self.value + x
        return self.value
net = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
data, smooth = list(torch.randn(9, 8, 4)), Ema()
for epoch in range(8):
    for x in data:
        loss = net(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss", loss.item())
"""


def test_an_average_that_only_the_question_updates_has_the_rows_of_a_plain_run(place):
    """It comes seldom, so that no proof meets two of its rows, and a replay of the later one alone begins behind the first one."""
    place.write("train.py", UNASKED)
    place.record("train.py")
    place.write("train.py", UNASKED + "    if epoch % 4 == 1:\n        print('smooth', smooth(loss.item()))\n")
    assert ": identical" in place.replay("train.py", "--epochs", "5")
    rows = {row for row in have(place) if "smooth" in row[1]}
    assert rows and rows <= set(plain(place, "train.py")[1])
