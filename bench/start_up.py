#!/usr/bin/env python3
"""What recording a Python program as it is costs before its first epoch: the hook, and the rewriting of all its modules.

    start_up.py PACKAGE [--modules 100] [--pairs 15] [--json FILE]

PACKAGE is build/python. Writes a project of --modules modules, each of about 80 lines with classes, functions and loops, beside a
script that imports PyTorch and all of them and trains a small network. Each pair runs it plain and recorded, by turns the one or the
other first. Prints the seconds from the start of the process to its first epoch: medians, the median of the differences and its 95 %
interval, and the same where no module has been compiled yet. Needs the Python that has PyTorch.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

MODULE = '''"""Part {i} of the project."""
import math
import torch
from torch import nn


class Layer{i}(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x)) + x
        return x * self.scale


def schedule(step, warm_up={i} + 10, total=1000):
    if step < warm_up:
        return step / warm_up
    return 0.5 * (1 + math.cos(math.pi * (step - warm_up) / (total - warm_up)))


def evaluate(model, batches):
    model.eval()
    total, count = 0.0, 0
    with torch.no_grad():
        for x, y in batches:
            total += nn.functional.mse_loss(model(x), y).item() * len(x)
            count += len(x)
    model.train()
    return total / max(count, 1)


class Meter{i}:
    def __init__(self):
        self.values = []
        self.by_name = {{}}

    def add(self, name, value):
        self.values.append(value)
        self.by_name.setdefault(name, []).append(value)

    def mean(self, name=None):
        values = self.by_name.get(name, []) if name else self.values
        return sum(values) / len(values) if values else float("nan")

    def table(self):
        lines = []
        for name, values in sorted(self.by_name.items()):
            for index, value in enumerate(values):
                lines.append(f"{{name}} {{index}} {{value:.4f}}")
        return "\\n".join(lines)


def fit(model, optimizer, batches, meter, clip=1.0):
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        meter.add("loss", loss.item())


def pairs(values):
    found = []
    for left in range(len(values)):
        for right in range(left + 1, len(values)):
            if values[left] == values[right]:
                found.append((left, right))
    return found
'''
SCRIPT = '''import time
import torch
from torch import nn
{imports}

model = part_0.Layer0(8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
batches = [(torch.randn(4, 8), torch.randn(4, 8)) for _ in range(4)]
for epoch in range(3):
    print("epoch", epoch, time.monotonic(), flush=True)
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    print("loss", loss.item())
'''


def write_project(folder, modules):
    for i in range(modules):
        with open(os.path.join(folder, f"part_{i}.py"), "w") as file:
            file.write(MODULE.format(i=i))
    with open(os.path.join(folder, "train.py"), "w") as file:
        file.write(SCRIPT.format(imports="\n".join(f"import part_{i}" for i in range(modules))))


def until_first_epoch(folder, environment):
    began = time.monotonic()
    done = subprocess.run([sys.executable, "train.py"], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    line = next((line for line in done.stdout.splitlines() if line.startswith("epoch 0 ")), None)
    if done.returncode != 0 or line is None:
        raise SystemExit(f"train.py: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return float(line.split()[2]) - began


def interval_of(values):
    """The 95 % interval of the median, by the order of the values (a sign test's)."""
    values = sorted(values)
    n = len(values)
    k = max(0, int(n / 2 - 0.98 * n ** 0.5))
    return values[k], values[n - 1 - k]


def forget_compiled(folder):
    shutil.rmtree(os.path.join(folder, "__pycache__"), ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("--modules", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--json")
    flags = parser.parse_args()
    package = os.path.abspath(flags.package)
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        write_project(folder, flags.modules)
        store = os.path.join(folder, "store")
        plain = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE" and not key.startswith("FLOR_")}
        recorded = {**plain, "PYTHONPATH": os.path.join(package, "flor-hook"), "FLOR_RECORD": "1", "FLOR_STORE": store}
        for name, is_compiled in (("compiled before", True), ("not compiled yet", False)):
            taken = {"plain": [], "recorded": []}
            for pair in range(flags.pairs + 1):
                sides = [("plain", plain), ("recorded", recorded)]
                for side, environment in sides if pair % 2 else sides[::-1]:
                    if not is_compiled:
                        forget_compiled(folder)
                    taken[side].append(until_first_epoch(folder, environment))
            taken = {side: values[1:] for side, values in taken.items()}  # the first pair compiles, and warms the page cache
            differences = [b - a for a, b in zip(taken["plain"], taken["recorded"])]
            low, high = interval_of(differences)
            runs = len([one for one in os.listdir(store) if not one.startswith(".")])
            print(f"{flags.modules} modules, {name}: plain {statistics.median(taken['plain']):.3f} s, recorded {statistics.median(taken['recorded']):.3f} s, "
                  f"more by {statistics.median(differences):.3f} s ({low:.3f} to {high:.3f}); {runs} runs were recorded")
            results[name] = taken
    if flags.json:
        with open(flags.json, "w") as file:
            json.dump({"modules": flags.modules, **results}, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
