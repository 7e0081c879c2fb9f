"""A program that goes on by itself with what its loop saved: Flor does not resume it on top of that."""
import sys

import pytest
from carried_test import goes_on, have, killed, plain, slowed
from unseen_test import program

LOADS = '''
import json, os
first, best, reference = 0, {"error": 9.0}, list(weights)
if os.path.exists("last.json"):
    with open("last.json") as file:
        saved = json.load(file)
    RESTORE
'''
SAVES = '''with open("last.json", "w") as file:
        json.dump({"weights": weights, "epoch": epoch}, file)'''
OWN = {
    "it skips epochs": ('weights[:] = saved["weights"]\n    first = saved["epoch"] + 1', "if epoch < first: continue"),
    "it counts from its first epoch": ('first = saved["epoch"] + 1', "targets = [min(1.0, (epoch - first + 1) / 3)] * 4"),
    "it keeps what it began with": ('weights[:] = saved["weights"]\n    reference = list(weights)', "targets = [value + 1.0 for value in reference]"),
}


def own(case, loop="range(8)"):
    restore, first = OWN[case]
    text = program(LOADS.replace("RESTORE", restore) + "targets = [1.0] * 4\n", "targets", first=first, last=SAVES)[0]
    return text.replace("range(8)", loop)


def resumed(place, code):
    return place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "-u", "train.py", code=code).stderr


@pytest.mark.parametrize("case, loop", [*((case, "range(8)") for case in OWN), ("it skips epochs", "range(first, 8)")])
def test_it_is_not_resumed_until_its_file_is_gone(place, case, loop):
    place.write("train.py", own(case, loop))
    rows = plain(place, "train.py")[1]
    (place.folder / "last.json").unlink()
    killed(place)
    said = resumed(place, 1)
    assert "it seems to begin with files that its earlier attempt saved. Move these files away to let Flor resume" in said, said
    assert ("reference" if case == "it keeps what it began with" else "first") in said.split("than when it was recorded (")[1].split(")")[0].split(", ")
    assert "error: the recording cannot be resumed" in said
    (place.folder / "last.json").unlink()
    assert "resumed behind" in resumed(place, 0)
    assert sorted(have(place)) == sorted(rows)


# Data and a model that are there from the start, a clock, the process, and what the loop saves.
TUNED = program('''
import json, os, time
if not os.path.exists("data.json"):
    with open("data.json", "w") as file:
        json.dump([1.0, 2.0, 3.0, 4.0], file)
with open("data.json") as file:
    targets = json.load(file)
began, process, folder = time.time(), {"id": os.getpid()}, f"run_{os.getpid()}"
class Timer:
    def __init__(self):
        self.start = time.perf_counter()
timer, ran = Timer(), 0
''', "targets", last=SAVES + "\n    ran = time.time() - began")[0]


def test_a_program_that_only_loads_what_was_there_is_resumed(place):
    assert "resumed behind" in goes_on(place, TUNED)


def digests(**variables):
    from flor import _own_start

    _own_start.ask()
    return _own_start.found(variables, sys._getframe())


def test_what_a_variable_holds_counts():
    import collections
    import numpy
    import torch

    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Sequential(torch.nn.Sequential(torch.nn.Linear(2, 2))))
    optimizer = torch.optim.Adam(net.parameters())
    state = {"epoch": 3, "best": float("nan"), "done": {"a", "b"}, "seen": list(range(100))}
    variables = {"net": net, "optimizer": optimizer, "state": state, "array": numpy.zeros(3), "half": torch.zeros(3, dtype=torch.bfloat16),
                 "queue": collections.deque([1, 2]), "number": 7, "text": "text", "none": None, "weights": collections.OrderedDict(w=torch.zeros(2, 2).t())}
    before = digests(**variables)
    assert before == digests(**variables) and "value of text" not in before and len(before) == len(variables) - 1

    def others():
        now = digests(**variables)
        return {name[len("value of "):] for name in before if now[name] != before[name]}

    with torch.no_grad():
        net[1][0][0].bias.add_(1)
    assert others() == {"net"}
    net(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    state["done"].add("c")
    variables["number"], variables["array"][0] = 8, 1
    variables["weights"]["w"][0] = 1
    assert others() == {"net", "optimizer", "state", "number", "array", "weights"}
    state["done"].remove("c")
    assert "state" not in others()
    state["seen"][-1] = 5
    assert "state" in others()
