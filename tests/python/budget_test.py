"""What looks at a program's objects take counts as a cost of the recording, and they end where they would take too much. What there was no
time to look at is in doubt."""
import json
import sys

import pytest

PROGRAM = """
import flor

class Item:
    def __init__(self, number):
        self.number = number

items = [Item(number) for number in range(20000)]
totals = {"all": 0}
for epoch in flor.loop("epoch", range(EPOCHS)):
    with flor.skip_block("train", totals) as train:
        if train.step_into():
            totals["all"] += items[epoch].number
    flor.log("total", totals["all"])
"""


@pytest.mark.parametrize("epochs", [1, 8])
def test_looks_count_in_what_the_recording_says_that_it_cost(place, epochs):
    program = place.write("train.py", PROGRAM.replace("EPOCHS", str(epochs)))
    place.record(program)
    (manifest,) = (place.folder / "store").glob("*/run.json")
    # Each epoch computes for microseconds, and is looked at for milliseconds.
    assert json.loads(manifest.read_text())["overhead"] > 5


def test_time_is_charged_as_it_is_taken(monkeypatch):
    from flor import _budget

    class Library:
        seconds = []
        flor_spent = seconds.append

    clock = iter(range(0, 1000, 3))
    monkeypatch.setattr(_budget, "library", Library)
    monkeypatch.setattr(_budget.time, "monotonic", lambda: next(clock))
    budget = _budget.Budget()
    assert budget.spend(lambda: "found", False) == "found"
    assert budget.spend(lambda: "found", False) is None  # it took 3 s, and one may be
    assert budget.spend(lambda: 1 / 0, True) is None
    assert budget.charge(lambda: "saved") == "saved"
    assert Library.seconds == [3, 3, 3]


def test_the_first_looks_may_take_longer_than_their_share(monkeypatch):
    from flor import _budget

    now = [0.0]
    monkeypatch.setattr(_budget.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(_budget.library, "flor_spent", lambda seconds: None)
    budget = _budget.Budget()

    def look():
        now[0] += 0.01
        return "found"

    assert [budget.spend(look, False) for _ in range(41)] == 40 * ["found"] + [None]
    assert budget.spend(look, True) == "found"
    now[0] = 90.0
    assert [budget.spend(look, False) for _ in range(6)] == 5 * ["found"] + [None]  # 0.5 % of the time


# There is time for the first looks at blocks alone.
UNSEEN = """
import seldom
import torch
torch.manual_seed(1)
net = torch.nn.Linear(4, 64)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = list(torch.randn(6, 8, 4))
for epoch in range(8):
    for x in data:
        optimizer.zero_grad()
        outputs = net(x)
        outputs.pow(2).mean().backward()
        optimizer.step()
    print("weight", net.weight.sum().item())
"""
SELDOM = """
import importlib
import os
import sys

kind = importlib.import_module("flor._budget").Budget
kind.looks, spend = 0, kind.spend  # what a module of the program has counts as its state

def seldom(self, call, must):
    names, frame = set(), sys._getframe(1)
    while frame is not None:
        names.add(frame.f_code.co_name)
        frame = frame.f_back
    if names.isdisjoint({"_look_before", "_look_behind"}) or self is sys.modules["flor._free"]._remembering:
        return spend(self, call, True)
    kind.looks += 1
    return spend(self, call, must) if kind.looks < 5 else None

if "FLOR_RECORD" in os.environ:
    kind.spend = seldom
"""


def test_what_nothing_reads_does_not_matter_where_a_block_was_not_looked_at(place):
    place.write("seldom.py", SELDOM)
    place.write("train.py", UNSEEN)
    said = place.record("train.py")
    assert "changes" not in said, said
    place.write("train.py", UNSEEN + '    print("norm", net.weight.norm().item())\n')
    said = place.replay("train.py")
    assert ": identical" in said and " 0 skipped" not in said, said


# There is time to look at every fourth iteration. The guard names all that changes.
SELDOM_LOOKED_AT = """
import os
import sys
import time
import flor
import flor._budget

def seldom(self, call, must):
    frame = sys._getframe()
    while frame is not None and "over_what" not in frame.f_locals:  # of the main loop
        frame = frame.f_back
    return call() if must or frame is not None and frame.f_locals["here"] % 4 == 0 else None

flor._budget.Budget.spend = seldom
totals = {"all": 0}
with flor.checkpointing(totals):
    for epoch in flor.loop("epoch", range(30)):
        with flor.skip_block("train", totals) as train:
            if train.step_into():
                totals["all"] += epoch
        flor.log("total", totals["all"])
        time.sleep(0.05)  # the checkpoint of the iteration before is written by then, and not behind a later doubt
        if epoch == 27 and os.path.exists("die"):
            time.sleep(1)  # the checkpoints are written by then
            os.kill(os.getpid(), 9)
"""


def test_a_killed_recording_goes_on_behind_what_was_looked_at(place):
    place.write("train.py", SELDOM_LOOKED_AT)
    place.write("die", "")
    place.record("train.py", code=None)
    (place.folder / "die").unlink()
    said = place.run("flor", "record", "--resume", "a", "--", sys.executable, "train.py").stderr
    assert "resumed behind epoch=24" in said, said
    # What was in doubt is executed again, so that a question need not begin at the start.
    place.write("train.py", SELDOM_LOOKED_AT + '        flor.log("twice", 2 * totals["all"])\n')
    said = place.replay("train.py")
    assert ": identical" in said and "from the start" not in said, said


# An object's method changes what the guard lacks, and no text shows it.
FORGOTTEN = SELDOM_LOOKED_AT.partition("flor._budget.Budget.spend")[0] + """
class Curriculum:
    def __init__(self):
        self.stage = 1
    def weight(self, epoch):
        self.stage = 10 if epoch == CHANGES else self.stage
        return self.stage

def end(by, is_now):
    if os.environ.get("END") == by and is_now:
        os.kill(os.getpid(), 15 if by == "term" else 9)
        time.sleep(0.3)

if os.environ.get("END") == "kill":
    flor._budget.Budget.spend = seldom
totals, curriculum = {"all": 0}, Curriculum()
"""
GUARDED = FORGOTTEN + """
with flor.checkpointing(totals):
    for epoch in flor.loop("epoch", range(8)):
        totals["all"] += curriculum.weight(epoch)
        end("term", epoch == 4)
        end("kill", epoch == 6)
print("end", totals["all"])
"""
BLOCK = FORGOTTEN + """
for epoch in flor.loop("epoch", range(8)):
    with flor.skip_block("train", totals) as train:
        if train.step_into():
            totals["all"] += curriculum.weight(epoch)
            end("term", epoch == 4)
    end("die", epoch == 6)
    flor.log("stage", curriculum.stage)
print("end", totals["all"])
"""
ENDS = {"by SIGTERM": (GUARDED, "term", 4), "killed in doubt": (GUARDED, "kill", 5), "killed behind a look": (GUARDED, "kill", 4),
        "by SIGTERM in a block": (BLOCK, "term", 4), "in a block that alone reads it": (BLOCK.replace("curriculum.stage)", "1)"), "die", 4)}


@pytest.mark.parametrize("case", ENDS)
def test_a_checkpoint_comes_behind_the_look_at_what_it_lacks(place, case):
    text, end, changes = ENDS[case]
    place.write("train.py", text.replace("CHANGES", str(changes)))
    place.record("train.py", code=None, END=end, FLOR_MATERIALIZER="inline")
    resumed = place.run("flor", "record", "--resume", "a", "--", sys.executable, "train.py")
    assert f"end {80 - 9 * changes}\n" in resumed.stdout, resumed.stdout + resumed.stderr


# Only of Python's own containers does a statement `x.update(…)` read nothing.
UPDATED = FORGOTTEN + """
class Warmup:
    def __init__(self):
        self.count, self.history = 0, []
    def update(self, totals):
        TAKES_IN
        totals["all"] += self.count + len(self.history)

warmups = {"all": Warmup()}
warmup = warmups["all"]
for epoch in flor.loop("epoch", range(8)):
    with flor.skip_block("train", totals) as train:
        if train.step_into():
            WARMUP.update(totals)
    end("die", epoch == 6)
print("end", totals["all"])
"""
RECEIVERS = {"a counter": ("warmup", "self.count += 1"), "a member that is a list": ("warmup", "self.history.append(1)"),
             "an element of a dict": ('warmups["all"]', "self.count += 1")}


@pytest.mark.parametrize("case", RECEIVERS)
def test_a_method_that_updates_an_object_of_the_program_reads_it(place, case):
    receiver, change = RECEIVERS[case]
    place.write("train.py", UPDATED.replace("WARMUP", receiver).replace("TAKES_IN", change))
    place.record("train.py", code=None, END="die", FLOR_MATERIALIZER="inline")
    assert "end 36\n" in place.run("flor", "record", "--resume", "a", "--", sys.executable, "train.py").stdout


# A method that is handed on is called elsewhere, and a property looks like a member.
BOUND = FORGOTTEN + """
class Meter:
    def __init__(self):
        self.count = 0
    def scale(self, value):
        self.count += 1
        return value * self.count
    @property
    def next(self):
        return self.scale(1)
    def __getattr__(self, name):
        if name == "following":
            return self.scale(1)
        raise AttributeError(name)

meter = Meter()
with flor.checkpointing(totals):
    for epoch in flor.loop("epoch", range(8)):
        totals["all"] += USE
        end("die", epoch == 6)
print("end", totals["all"])
"""


USES = ["sum(map(meter.scale, [1]))", "meter.next", "meter.next.real", "meter.next.__int__()", "meter.following", "(lambda scale: scale(1))(meter.scale)"]


@pytest.mark.parametrize("use", USES)
def test_a_method_that_is_handed_on_reads_its_object(place, use):
    place.write("train.py", BOUND.replace("USE", use))
    place.record("train.py", code=None, END="die", FLOR_MATERIALIZER="inline")
    assert "end 36\n" in place.run("flor", "record", "--resume", "a", "--", sys.executable, "train.py").stdout


# What a program only adds to, such as a list of losses.
ADDING = FORGOTTEN + """
losses, by = [], {"loss": [], "steps": 0}
with flor.checkpointing(totals):
    for epoch in flor.loop("epoch", range(8)):
        loss = epoch / 2
        totals["all"] += 1
        losses.append(loss)
        by["loss"].append(loss)
        end("die", epoch == 6)
print("end", totals["all"])
"""


def test_a_list_of_losses_begins_no_program_at_its_start(place):
    place.write("train.py", ADDING)
    place.record("train.py", code=None, END="die", FLOR_MATERIALIZER="inline")
    resumed = place.run("flor", "record", "--resume", "a", "--", sys.executable, "train.py")
    assert "resumed behind epoch=" in resumed.stderr and "end 8\n" in resumed.stdout, resumed.stderr


class Frontend:
    """Takes what Looks note in the record."""

    def __init__(self):
        self.notes, self.warnings = [], []

    def flor_note_unheld(self, block, path, matters):
        self.notes.append((block.decode(), path.decode()) + ((True,) if matters else ()))


@pytest.fixture
def looks_of(monkeypatch):
    """Returns a function that makes the looks of a main loop, of which these find something."""
    from flor import _block, _doubt, _seen

    flor = Frontend()

    def make(found):
        looks = iter(found)
        monkeypatch.setattr(_block, "look", lambda frame, objects, must: _seen.Prints() if next(looks) else None)
        return flor, _block.Looks(flor, sys._getframe(), "epoch")

    monkeypatch.setattr(_block, "_noted", {})
    monkeypatch.setattr(_doubt, "_loops", _doubt._loops.copy())
    _doubt._loops.clear()
    monkeypatch.setattr("flor._library.warn", flor.warnings.append)
    return make


def executed(looks, iterations):
    for _ in range(iterations):
        looks.begin()
        looks.end()
    looks.close()


def test_what_turns_out_to_matter_is_noted_once_more(looks_of):
    from flor._block import note

    flor, _ = looks_of([])
    for matters in (False, False, True, True, False):
        note(flor, "train", "x", matters)
    assert flor.notes == [("train", "x"), ("train", "x", True)] and len(flor.warnings) == 1


def test_a_loop_whose_last_look_failed_stays_in_doubt_alone(looks_of):
    from flor import _doubt

    flor, looks = looks_of([True, True, False, False])
    executed(looks, 2)
    assert flor.notes == [("@loop:epoch#0", "*0"), ("@loop:epoch#0", "*?")]
    (warning,) = flor.warnings
    assert warning.startswith("the last iterations of the loop in line ")
    looks = looks_of([True, False, True, True])[1]
    executed(looks, 2)
    assert flor.notes[2:] == [("@loop:epoch#1", mark) for mark in ("*0", "*?", "*!")] and len(flor.warnings) == 1
    assert _doubt.settled(flor.notes) == [("", "*")], "what is seen of the second loop tells nothing of the first"


def test_where_the_first_look_fails_there_is_no_other(looks_of):
    flor, looks = looks_of([False])
    executed(looks, 3)
    assert flor.notes == [("", "*", True)] and "cannot be looked at" in flor.warnings[0]


DOUBTS = {"?": True, "?!": False, "0?": True, "0?0": False, "0?0?": True, "0?!0?0?!": False}


@pytest.mark.parametrize("marks", DOUBTS)
def test_an_attempt_executes_again_what_was_in_doubt(marks):
    from flor._doubt import settled

    seen = [("train", "count"), *(("@loop:epoch#0", "*" + mark) for mark in marks)]
    assert settled(seen) == [("train", "count"), ("", "*")][:1 + DOUBTS[marks]]


# No time is left when the second loop begins, where one look must be.
SECOND_LOOP = """
import flor
import flor._block

totals = {"all": 0}
with flor.checkpointing(totals):
    for warm in flor.loop("warm", range(2)):
        totals["all"] += warm
    flor._block.budget()._spent = 1e9
    for epoch in flor.loop("epoch", range(8)):
        totals["all"] += epoch
        flor.log("total", totals["all"])
"""


def test_a_second_loop_is_looked_at_whatever_the_first_one_took(place):
    place.write("train.py", SECOND_LOOP)
    said = place.record("train.py")
    assert "looked at" not in said, said
    place.write("train.py", SECOND_LOOP + '        flor.log("twice", 2 * totals["all"])\n')
    said = place.replay("train.py")
    assert ": identical" in said and "from the start" not in said, said
