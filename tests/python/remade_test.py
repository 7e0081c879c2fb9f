"""What a program makes for the first time in its loop is made again by a restore, or is refused, with a warning, when it is saved."""
import sys

import pytest
from free_test import have, plain
from merged import merged

BEGIN = """
import collections
import os
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
