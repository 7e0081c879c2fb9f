"""What a program makes for the first time in its loop is made again by a restore, or is refused, with a warning, when it is saved."""
import sys

import pytest
from free_test import have, plain
from merged import merged

BEGIN = """
import collections
import enum
import logging
import os
import signal
import time
import torch
torch.manual_seed(1)
"""
FRONT = """
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
"""
WITHIN = """
optimizer.zero_grad()
loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
loss.backward()
optimizer.step()
"""
# Ends itself once while it is recorded, behind the fourth epoch.
KILL = """
    if epoch == 4 and os.environ.get("FLOR_RECORD") and not os.path.exists("killed"):
        open("killed", "w").close()
        time.sleep(0.5)  # the checkpoint of the epoch is written by then
        os.kill(os.getpid(), 9)
"""
# Lines in front of the loop, within its block and behind it, and what is shown.
MADE = [
    ("", "state = net(x).mean().item(); state = None if state < 9 else state", "note = None if loss.item() < 9 else 'large'",
     "net.weight.norm(), state is None, note is None"),
    ("best, kept, bias = None, None, torch.zeros(1, requires_grad=True)", "",
     "kept = torch.nn.Parameter(net.weight.detach() * 2, epoch % 2 > 0) if best is None or loss < best else kept; best = loss.item(); "
     "bias.requires_grad_(epoch % 2 == 0)",
     "best, kept.norm(), isinstance(kept, torch.nn.Parameter), kept.requires_grad, bias.requires_grad"),
    ("epochs, seen, Phase = collections.defaultdict(dict), None, enum.Enum('Phase', 'FIRST LATER')",
     "metrics = collections.defaultdict(list) if epoch != seen else metrics; seen = epoch; metrics['loss'].append(loss.item())",
     "epochs = collections.defaultdict(int, epochs) if epoch == 2 else epochs; epochs[epoch % 3] = epoch; phase = Phase.LATER",
     "sum(metrics['loss']), epochs[0], epochs.default_factory is dict, phase is Phase.LATER"),
    ("""class Meter:
    def __init__(self):
        self.sum = 0.0
class Run:
    def __init__(self):
        self.adapter, self.signal = None, None
def tenth():
    return 0.1
meters, tenths, run = collections.defaultdict(Meter), None, Run()
first, twice = meters, collections.defaultdict(lambda: 2)""",
     "meters['loss'].sum += loss.item(); run.adapter = logging.LoggerAdapter(logging.getLogger(), {})",
     "meters = collections.defaultdict(Meter) if epoch % 2 else meters; twice = collections.defaultdict(twice.default_factory); "
     "tenths = collections.defaultdict(tenth) if epoch == 2 else tenths; run.signal = signal.SIGTERM if epoch == 2 else run.signal; "
     "tenths is None or tenths.update({epoch: tenths[epoch] + epoch})",
     "[one.sum for one in meters.values()], twice.default_factory(), tenths is not None and sum(tenths.values()), run.signal == 15"),
]


def goes_on(place, text, probe=""):
    """Kills a recording in its fifth epoch. The resumed one ends with the rows of a plain run, and a replay with a line `probe` of the
    program gives its rows, too. Returns what the resumed one said."""
    place.write("train.py", text)
    rows = plain(place, "train.py")[1]
    place.write("train.py", text.replace(probe, ""))
    place.record("train.py", code=None)
    assert (place.folder / "killed").exists()
    said = place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py").stderr
    names = {name for _, name, _ in have(place)}
    assert sorted(have(place)) == sorted(row for row in rows if row[1] in names), said
    place.write("train.py", text)
    replayed = place.replay("train.py", "--workers", 2)
    assert ": identical" in replayed and "taken back" not in replayed, replayed
    assert sorted(have(place)) == sorted(rows)
    return said


def test_what_is_bound_in_the_loop_alone_is_made_again(place):
    text, shown = merged(BEGIN, [(FRONT + front, WITHIN + within, behind, show) for front, within, behind, show in MADE], 8)
    said = goes_on(place, text + KILL, shown)
    assert "resumed behind epoch=3" in said or "resumed behind epoch=4" in said, said


# What the loop makes, or changes, and no restore could find: it is warned of by its name while the program is recorded.
REFUSED = [
    ("net, late = torch.nn.Linear(4, 1), None", "opt = optimizer if late is None else late\n" + WITHIN.replace("optimizer.", "opt."),
     "late = torch.optim.Adam(net.parameters(), lr=0.01) if epoch == 1 else late"),
    ("book = torch.nn.Embedding(2, 4)\nsteady = torch.optim.Adam([*net.parameters(), *book.parameters()], lr=0.01)",
     "steady.zero_grad(); loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean(); loss.backward(); steady.step(); "
     "book.weight = torch.nn.Parameter(book.weight * 0.9 + 0.1 * x[:2])", ""),
    ("class Box:\n    pass\nfunctional = torch.nn.functional\nact = functional.relu", "loss = act(net(x) + 5).sum()\n" + WITHIN,
     "act = functional.softplus if epoch == 1 else act"),
    ("class Run:\n    def __init__(self):\n        self.act = None\nfunctional, run = torch.nn.functional, Run()",
     "loss = (run.act or functional.relu)(net(x) + 5).sum()\n" + WITHIN, "run.act = functional.softplus if epoch == 1 else run.act"),
]
NAMES = ["late_0", "steady_1", "act_2", "run_3.act"]


def test_what_no_restore_could_find_is_warned_of_when_it_is_recorded(place):
    fronts = [("" if "net =" in front else "net = torch.nn.Linear(4, 1)\n") + front for front, *_ in REFUSED]
    fronts = [front + "\noptimizer = torch.optim.SGD(net.parameters(), lr=0.05)" for front in fronts]
    cases = [(front, within, behind, "net.weight.norm()") for front, (_, within, behind) in zip(fronts, REFUSED)]
    text, shown = merged(BEGIN, cases, 8)
    place.write("train.py", text + KILL)
    rows = plain(place, "train.py")[1]
    said = place.record("train.py", code=None)
    for name in NAMES:
        assert f"{name} changes from iteration to iteration and cannot be saved" in said, (name, said)
    said = place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py").stderr
    assert "does not fit" not in said and "runs from the start" in said.replace("runs from its start", "runs from the start"), said
    assert sorted(have(place)) == sorted(rows), said


GROWN = BEGIN + """
net, body = torch.nn.Linear(4, 1), torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(8):
    for x in torch.randn(6, 8, 4):
        optimizer.zero_grad()
        loss = (net(body(x)) - x.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        optimizer.step()
    if epoch in (1, 3):
        optimizer.add_param_group({"params": body[epoch > 2].parameters(), "lr": 0.005})
    print([group["lr"] for group in optimizer.param_groups], body[0].weight.norm(), body[1].weight.norm())
    print("loss", loss.item())
""" + KILL


def test_a_group_that_the_loop_adds_is_added_by_a_restore(place):
    said = goes_on(place, GROWN, next(line + "\n" for line in GROWN.splitlines() if "print([group" in line))
    assert "resumed behind epoch=3" in said or "resumed behind epoch=4" in said, said


def test_a_group_of_new_parameters_is_told_and_what_was_saved_before_counts(place):
    place.write("train.py", GROWN.replace("body[epoch > 2].parameters()", "torch.nn.Linear(epoch, 2).parameters()"))
    rows = plain(place, "train.py")[1]
    assert "optimizer has other groups of parameters than when the loop began" in place.record("train.py", code=None)
    said = place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py").stderr
    assert "resumed behind epoch=0" in said, said
    names = {name for _, name, _ in have(place)}
    assert sorted(have(place)) == sorted(row for row in rows if row[1] in names)


def test_groups_that_belong_to_another_optimizer_are_not_told_of(capfd):
    import torch
    from flor._marker import Marker
    from flor._objects import Saver
    from flor._origins import Origins

    class Around(torch.optim.Optimizer):
        def __init__(self, inner):
            self.inner = inner
        param_groups = property(lambda self: self.inner.param_groups)
        state = property(lambda self: self.inner.state)

    net = torch.nn.Linear(4, 1)
    held = {"net": net, "optimizer": Around(torch.optim.SGD(net.parameters(), lr=0.1))}
    origins = Origins(held.items())
    saver = Saver(True, None, Marker(origins, origins))
    for name, value in held.items():
        saver.save(name, value)
    assert "other groups" not in capfd.readouterr().err


LOADER = BEGIN + FRONT + """
data = torch.randn(48, 4)
for epoch in range(8):
    loader = torch.utils.data.DataLoader(data, batch_size=8 if epoch < 3 else 16, shuffle=True)
    for x in loader:
WITHIN
    print(net.weight.norm())
    print("loss", loss.item())
""".replace("WITHIN", "\n".join("        " + line for line in WITHIN.strip().splitlines())) + KILL


def test_a_loader_that_each_iteration_makes_is_not_held(place):
    said = goes_on(place, LOADER, "    print(net.weight.norm())\n")
    assert "resumed behind epoch=" in said and "does not fit" not in said, said
