"""What looks at a program's objects take counts as a cost of the recording, and they end where they would take too much."""
import json

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
    assert budget.spend(lambda: "found", False) is None  # there were 3 s, of which a hundredth may be
    assert budget.spend(lambda: 1 / 0, True) is None
    assert budget.charge(lambda: "saved") == "saved"
    assert Library.seconds == [3, 3, 3]
