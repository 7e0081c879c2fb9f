"""Programs with torch.compile: as many graphs, breaks and recompilations with Flor as without. Needs PyTorch 2 (scripts/check-debian13)."""
import sys

import pytest
import torch

pytestmark = pytest.mark.skipif(not hasattr(torch, "compile"), reason="this PyTorch has no torch.compile")

# The last batch is smaller, which compiles anew; what depends on data, and the print, break the graph.
PROGRAM = """
import json
import torch
from torch import nn
from losses import smoothed

torch.manual_seed(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x)) + x
        if x.sum() > 1e9:
            x = x / 2
        return x


net = Net()
compiled = torch.compile(net, backend="eager")
loss_of = torch.compile(smoothed, backend="eager")
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
data = torch.randn(20, 8)
batches = data.split(8)
for epoch in range(5):
    for x in batches:
        optimizer.zero_grad()
        loss = loss_of(compiled(x), x)
        loss.backward()
        optimizer.step()
        # here
    print("loss", loss.item())
from torch._dynamo.utils import counters  # here, since a variable of the program is state, and a replay compiles elsewhere
print("counted", json.dumps({name: dict(counters[name]) for name in ("frames", "graph_break", "stats")}, sort_keys=True))
"""
LOSSES = """
import torch


def smoothed(found, wanted):
    parts = []
    for power in (1, 2):
        parts.append(((found - wanted).abs() ** power).mean())
    torch._dynamo.graph_break()
    return sum(parts)
"""


def test_recording_and_replay_change_nothing_that_is_compiled(place):
    place.write("losses.py", LOSSES)
    program = place.write("train.py", PROGRAM)
    counted = [line for line in place.run(sys.executable, program).stdout.splitlines() if line.startswith("counted")]
    assert '"graph_break": {"' in counted[0] and '"stats": {"' in counted[0], counted
    recorded = place.run("flor", "record", "--name", "a", "--every", "1", "--", sys.executable, program).stdout
    assert [line for line in recorded.splitlines() if line.startswith("counted")] == counted
    probed = place.write("train.py", PROGRAM.replace("        # here\n", "        print('norm', net.layers[0].weight.norm().item())\n"))
    place.replay(probed, "--workers", "2")
    expected = [float(line.split()[1]) for line in place.run(sys.executable, probed).stdout.splitlines() if line.startswith("norm")]
    found = [float(value.strip('"')) for _, name, value in place.joined() if "norm" in name]
    assert found == expected and len(found) == 15
