"""A recording that is interrupted inside of an epoch goes on there: the log is that of a run that nothing interrupted, bit for bit."""
import json
import re
import textwrap

import pytest

HEAD = """
import copy, os, random, signal, time
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler, SubsetRandomSampler, TensorDataset, WeightedRandomSampler

torch.manual_seed(3)
random.seed(3)
np.random.seed(3)

def may_stop(epoch, step):
    if os.environ.get("STOP") == f"{epoch}.{step}":
        os.kill(os.getpid(), int(os.environ["SIGNAL"]))
        time.sleep(0.2)

"""

# A step draws as many numbers as its element, so that only their right order gives the right ones.
SHUFFLED = """
class Noisy(Dataset):
    def __init__(self):
        self.points, self.asked = torch.randn(72, 6), 0

    def __len__(self):
        return len(self.points)

    def __getitem__(self, i):
        self.asked += 1
        return self.points[i] + 0.1 * torch.randn(6) + random.random() + np.random.rand(), i % 2

def train(epoch, net, optimizer, scheduler, loader, history):
    total, seen = 0.0, 0
    for i, (x, y) in enumerate(loader):
        may_stop(epoch, i)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x.float()), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item() * len(x)
        seen += len(x)
        history.append(loss.item())
        print("loss", loss.item(), x.sum().item())
    return total / seen

def main():
    net = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.Dropout(0.3), nn.Linear(12, 2))
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=48)
    loader = DataLoader(Noisy(), batch_size=6, shuffle=True, num_workers=WORKERS)
    history = []
    for epoch in range(EPOCHS):
        mean = train(epoch, net, optimizer, scheduler, loader, history)
        print("mean", mean, sum(history), loader.dataset.asked, scheduler.get_last_lr()[0])

main()
"""

ACCUMULATED = """
class Trainer:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(6, 12), nn.Linear(12, 2))
        self.average = copy.deepcopy(self.net)
        self.optimizer = torch.optim.AdamW(self.net.parameters(), 1e-2)
        points = torch.randn(72, 6)
        self.loader = DataLoader(TensorDataset(points, (points.sum(1) > 0).long()), batch_size=6, sampler=SAMPLER)
        self.step, self.best, self.rng = 0, None, np.random.default_rng(7)

    def train(self, epoch):
        self.optimizer.zero_grad()
        for i, (x, y) in enumerate(self.loader):
            may_stop(epoch, i)
            loss = nn.functional.cross_entropy(self.net(x + float(self.rng.normal())), y) / 3
            loss.backward()
            self.step += 1
            if self.step % 3 == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
                with torch.no_grad():
                    for mean, one in zip(self.average.parameters(), self.net.parameters()):
                        mean.mul_(0.9).add_(one, alpha=0.1)
            if self.best is None or loss.item() < self.best[0]:
                self.best = (loss.item(), copy.deepcopy(self.net.state_dict()))
            print("loss", loss.item())

    def fit(self):
        for epoch in range(4):
            self.train(epoch)
            print("epoch", self.step, self.best[0], sum(value.sum().item() for value in self.best[1].values()),
                  sum(one.sum().item() for one in self.average.parameters()))

Trainer().fit()
"""

CARRIED = """
data = torch.randint(0, 20, (2000,))
embed, cell, out = nn.Embedding(20, 8), nn.GRU(8, 8, batch_first=True), nn.Linear(8, 20)
optimizer = torch.optim.SGD([*embed.parameters(), *cell.parameters(), *out.parameters()], 0.1)
hidden = None
for epoch in range(3):
    for step in range(8):
        may_stop(epoch, step)
        at = torch.randint(0, 1990, (4,))
        x = torch.stack([data[i:i + 8] for i in at])
        hidden = hidden.detach() if hidden is not None else None
        y, hidden = cell(embed(x), hidden)
        loss = nn.functional.cross_entropy(out(y).reshape(-1, 20), x.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for one in x.split(2):
            scores = out(cell(embed(one))[0])
        print("loss", loss.item(), scores.mean().item())
    print("hidden", hidden.sum().item())
"""

PROGRAMS = {
    "in the process": (SHUFFLED.replace("WORKERS", "0").replace("EPOCHS", "4"), ["1.2", "1.5", "1.8"]),
    "workers": (SHUFFLED.replace("WORKERS", "2").replace("EPOCHS", "4"), ["1.2", "1.5", "1.8"]),
    "one epoch": (SHUFFLED.replace("WORKERS", "0").replace("EPOCHS", "1"), ["0.1", "0.8"]),
    "accumulated": (ACCUMULATED.replace("SAMPLER", "SubsetRandomSampler(range(70))"), ["1.1", "1.4", "3.8"]),
    "own generator": (ACCUMULATED.replace("SAMPLER", "RandomSampler(points, generator=torch.Generator().manual_seed(5))"), ["2.4"]),
    "carried": (CARRIED, ["1.1", "1.4", "2.0"]),
    "counted by twos": (CARRIED.replace("range(8)", "range(0, 16, 2)").replace("(epoch, step)", "(epoch, step // 2)"), ["1.3", "2.4"]),
}


def interrupted(place, program, stops, signal=15, **environment):
    """Runs a program without Flor, and recorded with interruptions. Returns what both print, and what Flor says."""
    place.write("train.py", HEAD + textwrap.dedent(program))
    plain = place.run("/usr/bin/python3", "train.py", FLOR_STORE="").stdout
    printed, said = "", []
    for number, stop in enumerate([*stops, None]):
        words = ("--name", "run") if number == 0 else ("--resume", "run")
        done = place.run("flor", "record", *words, "--every", 1, "--", "/usr/bin/python3", "train.py", SIGNAL=str(signal),
                         code=None, **environment, **({"STOP": stop} if stop else {}))
        assert done.returncode == (128 + signal if stop else 0), done.stderr
        printed += done.stdout
        said.append(done.stderr)
    return plain, printed, said


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_epoch_goes_on_where_it_was_interrupted(place, name):
    program, stops = PROGRAMS[name]
    plain, printed, said = interrupted(place, program, stops)
    assert printed == plain
    for stop, text in zip(stops, said[1:]):
        epoch, step = stop.split(".")
        # Behind the first look it takes a step more.
        found = re.search(f"resumed in front of epoch={epoch}/.*=([0-9]+)\n", text)
        assert found and int(found[1]) - int(step) in (1, 2), text


def test_what_was_interrupted_has_the_log_of_one_run_and_is_replayed(place):
    program, stops = PROGRAMS["in the process"]
    interrupted(place, program, stops)
    place.run("flor", "record", "--name", "whole", "--every", 1, "--", "/usr/bin/python3", "train.py")
    assert place.rows_of(place.run("flor", "log", "run", "--format", "jsonl").stdout) == place.rows_of(place.run("flor", "log", "whole", "--format", "jsonl").stdout)
    path = place.folder / "train.py"
    path.write_text(path.read_text().replace("        scheduler.step()\n", "        scheduler.step()\n        print('norm', net[0].weight.norm())\n"))
    done = place.run("flor", "replay", "run", "--launcher", "local", "--workers", 2, "--", "/usr/bin/python3", "train.py")
    assert ": identical" in done.stdout
    rows = json.dumps([row for row in place.rows_of(place.run("flor", "log", "run", "--names", "net[0].weight.norm()", "--format", "jsonl").stdout)])
    assert rows.count("norm") == 48


def test_a_killed_recording_goes_on_at_the_last_checkpoint_inside_of_the_epoch(place):
    program, _ = PROGRAMS["in the process"]
    _, _, said = interrupted(place, program, ["1.7"], signal=9, FLOR_STEP_SECONDS="0")
    step = int(said[1].split("resumed in front of epoch=1/train.i#0/i=")[1].split()[0])
    assert 0 < step <= 7
    place.run("flor", "record", "--name", "whole", "--", "/usr/bin/python3", "train.py")
    assert place.rows_of(place.run("flor", "log", "run", "--format", "jsonl").stdout) == place.rows_of(place.run("flor", "log", "whole", "--format", "jsonl").stdout)


ONE_LOOP = """
class Noisy(Dataset):
    def __len__(self):
        return 90

    def __getitem__(self, i):
        return torch.full((6,), float(i)) / 90 + 0.1 * torch.randn(6) + random.random(), i % 2

net = nn.Sequential(nn.Linear(6, 12), nn.Dropout(0.2), nn.Linear(12, 2))
optimizer = torch.optim.AdamW(net.parameters(), 1e-2)
loader = DataLoader(Noisy(), batch_size=6, shuffle=True, num_workers=WORKERS)
total = 0.0
for step, (x, y) in enumerate(loader):
    may_stop(0, step)
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()
    print("loss", loss.item(), total)
print("end", total)
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_a_main_loop_over_a_loader_begins_in_its_middle(place, workers):
    plain, printed, said = interrupted(place, ONE_LOOP.replace("WORKERS", str(workers)), ["0.4", "0.9"])
    assert printed == plain
    assert "resumed behind step=4\n" in said[1] and "resumed behind step=9\n" in said[2]
    path = place.folder / "train.py"
    edited = path.read_text().replace("    total +=", "    print('norm', net[0].weight.norm().item(), x.sum().item())\n    total +=")
    path.write_text(edited)
    rows = place.run("/usr/bin/python3", "train.py").stdout
    done = place.run("flor", "replay", "run", "--launcher", "local", "--workers", 2, "--", "/usr/bin/python3", "train.py")
    assert ": identical" in done.stdout and "unit 0\n" not in done.stdout
    log = place.run("flor", "log", "run", "--names", "net[0].weight.norm(),x.sum()", "--format", "jsonl").stdout
    values = [value for _, _, value in place.rows_of(log)]
    wanted = [word for line in rows.splitlines() if line.startswith("norm") for word in line.split()[1:]]
    assert sorted(json.loads(value) for value in values) == sorted(wanted)


UNFIT = {
    "an iterator": ("    other = iter(DataLoader(TensorDataset(points), batch_size=3, shuffle=True))\n", "        loss = loss + next(other)[0].mean()\n",
                    "other._sampler_iter cannot be saved between two steps"),
    "a loader that draws while it runs": ("    loader = (points[i:i + 6] for i in torch.randperm(60).tolist())\n", "", None),
    "a graph": ("    last = torch.zeros(())\n", "        loss = loss + last * 0.5\n        last = net(x).mean()\n", "last cannot be saved between two steps"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_where_a_step_cannot_be_saved_the_epoch_begins_anew(place, name):
    before, inside, warning = UNFIT[name]
    program = f"""
points = torch.randn(72, 6)
net = nn.Linear(6, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for epoch in range(3):
    loader = [points[i:i + 6] for i in range(0, 60, 6)]
{before}    for step, x in enumerate(loader):
        may_stop(epoch, step)
        loss = net(x).pow(2).mean()
{inside}        optimizer.zero_grad()
        loss.backward()
        with torch.no_grad():
            net.bias -= 0.01 * net.bias.grad
        print("loss", loss.item())
    print("epoch", net.bias.item())
"""
    plain, printed, said = interrupted(place, program, ["1.4"])
    assert "in front of" not in said[1], said[1]
    assert printed == plain
    if warning:
        assert warning in said[0]
