"""A main loop that is written as `while` is recorded, replayed and resumed as a `for` is."""
import ast
import re
import sys

import pytest
from carried_test import goes_on, slowed
from free_test import have, plain
from unseen_test import BEGIN as OF_LISTS

BEGIN = '''
import torch
torch.manual_seed(1)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.AdamW(net.parameters(), lr=0.05)
data = torch.randn(64, 4)
'''
# A trainer by steps: the next batch is fetched ahead, gradients are accumulated, and now and then it is evaluated.
STEPS = BEGIN + '''
def batch():
    rows = torch.randint(0, 64, (8,))
    return data[rows], data[rows].sum(1, keepdim=True)
step, best, seen = 0, 1e9, 0
x, y = batch()
while True:
    for group in optimizer.param_groups:
        group["lr"] = 0.05 * (1 - step / 30)
    if step % 4 == 0:
        with torch.no_grad():
            held_out = (net(data) - data.sum(1, keepdim=True)).pow(2).mean().item()
        if held_out < best:
            best = held_out
        print("best", best)
        if step > 0 and held_out < 1e-3:
            break
    for micro in range(2):
        loss = (net(x) - y).pow(2).mean() / 2
        x, y = batch()
        seen += len(x)
        loss.backward()
        INNER
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    OUTER
    print("loss", loss.item())
    step += 1
    if step > 8:
        break
print('ended')
'''
# Epochs until it is good enough, in a function.
UNTIL = BEGIN + '''
def train(limit):
    epoch, error = 0, float("inf")
    while epoch < limit and error > 1e-4:
        total = 0.0
        epoch += 1
        for k in torch.randperm(16).tolist():
            loss = (net(data[k]) - data[k].sum()).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            INNER
        error = total
        if epoch == 2:
            continue
        OUTER
        print("loss", total)
    return epoch, error
train(7)
'''
ASKED = {"INNER": 'print("weight", net.weight.norm())', "OUTER": 'print("sum", net.weight.sum(), optimizer.param_groups[0]["lr"])'}


def program(text, *asked):
    for word, line in ASKED.items():
        text = re.sub(rf"( *){word}\n", rf"\1{line}\n" if word in asked else "", text)
    return text


@pytest.mark.parametrize("text, workers", [(STEPS, (3, 1)), (UNTIL, (1, 3))], ids=["steps", "until"])
def test_a_replay_has_the_rows_of_a_plain_run(place, text, workers):
    place.write("train.py", program(text))
    assert "9 iterations of iteration" in place.record("train.py") or text is UNTIL
    for asked, count in zip((["OUTER"], ["OUTER", "INNER"]), workers):
        place.write("train.py", program(text, *asked))
        rows = plain(place, "train.py")[1]
        assert "identical" in place.replay("train.py", "--workers", count)
        assert sorted(have(place)) == sorted(rows)


@pytest.mark.parametrize("text", [STEPS, UNTIL], ids=["steps", "until"])
def test_a_killed_recording_goes_on_where_it_was(place, text):
    assert "resumed behind iteration=" in goes_on(place, slowed(program(text)))


@pytest.mark.parametrize("condition, body, code", [
    ("epoch < 3", "pass", 0), ("epoch < 3", "if epoch == 1: break", 0), ("epoch < 3", "if epoch == 2: raise SystemExit(5)", 5),
    ("epoch < 3 or 1 / 0", "pass", 1), ("epoch < 0", "pass", 0), ("epoch < 3", "if epoch == 1: epoch += 1; continue", 0)])
def test_it_ends_as_without(place, condition, body, code):
    place.write("train.py", BEGIN + f'''
epoch = 0
while {condition}:
    net(data).sum().backward()
    optimizer.step()
    {body}
    print("epoch", epoch)
    epoch += 1
print("ended", epoch)
''')
    without = place.run(sys.executable, "train.py", code=code)
    recorded = place.run("flor", "record", "--name", "a", "--", sys.executable, "train.py", code=code)
    assert recorded.stdout == without.stdout
    assert recorded.stderr.count("ZeroDivisionError") == without.stderr.count("ZeroDivisionError")


# Conditions that change something, and for some of them what a new line shows.
CHANGING = {
    "a variable": ("step = 0", "(step := step + 1) <= 8", "step", ""),
    "an object": ('''
class Control:
    def __init__(self):
        self.asked, self.rate = 0, 1.0
    def goes_on(self, value):
        return self.is_open() and value < 3
    def is_open(self):
        self.asked += 1
        self.rate *= 0.9
        return self.asked < 9
control = Control()
''', "control.goes_on(weights[0])", "control.rate", "control.asked, control.rate"),
    "what it takes": ("budget = iter(range(7))", "next(budget, None) is not None", "1", ""),
    "random numbers": ("", "random.random() > 0.05", "1", ""),
}


@pytest.mark.parametrize("case", CHANGING)
def test_what_a_condition_changes_is_changed_once(place, case):
    begin, condition, target, shown = CHANGING[case]
    probe = f"    print({shown})\n" if shown else ""
    text = OF_LISTS + f'''
{begin}
while {condition}:
    for i in range(5):
        optimizer.step([{target}] * 4)
    print("loss", weights[0], flush=True)
{probe}'''
    said = goes_on(place, slowed(text), probe)
    assert "resumed behind" not in said and "it runs from its start" in said


PURE = '''
class Control:
    def __init__(self):
        self.worst, self.values = 3.0, []
    @property
    def last(self):
        return self.values[-1] if self.values else 0.0
    def goes_on(self, count):
        total = 0
        for value in self.values:
            total += value > self.worst
        return total < 2 and len(self.values) < count
control = Control()
'''


def test_a_condition_that_changes_nothing_is_asked_again(place):
    text = OF_LISTS + PURE + '''
while control.goes_on(8) and control.last < 3:
    for i in range(5):
        optimizer.step([1, 2, 3, 4])
    control.values.append(weights[0])
    print("loss", weights[0], flush=True)
'''
    assert "resumed behind iteration=" in goes_on(place, slowed(text))


CONDITIONS = {
    "True": False, "step < 10 and not done": False, "losses[-1] > 0.1 and len(losses) < 5": False, "time.time() - start < 60": False,
    "loss.item() > 1e-3": False, "scheduler.get_last_lr()[0] > 1e-6": False, "min(x for x in losses) > 0.1": False, "torch.isnan(loss)": False,
    "control.goes_on(8)": False, "control.last < 3": False, "other.steps() < 5": True, "other.count < 3": True, "(step := step + 1) < 9": True,
    "next(it, None)": True, "queue.pop() > 3": True, "random.random() < 0.5": True, "net(x).item() < 3": True, "np.random.rand() < 1": True,
    "loss.add_(1).item() < 5": True, "torch.rand(1).item() < 0.9": True, "input() != 'end'": True, "grown(losses)": True, "again(3) > 1": False,
    "shown(3)": True, "made(3)": True,
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_which_conditions_may_change_something(place, condition):
    from flor._hook import read_source
    from flor._project import Project
    from flor._rewrite import rewritten

    text = OF_LISTS + PURE + f'''
import time, torch, numpy as np
class Other:
    number = 0
    @property
    def count(self):
        self.number += 1
        return self.number
    def steps(self):
        return self.count
def grown(losses):
    losses += [1]
    return len(losses) < 5
def again(n):
    return n if n < 2 else again(n - 1)
def shown(n):
    print(n)
    return n
def made(n):
    found = {{}}
    found[n] = 1
    return found
other = Other()
while {condition}:
    for i in range(5):
        optimizer.step([1, 2, 3, 4])
'''
    script = str(place.folder / place.write("train.py", text))
    assert ("has_changing_condition=True" in ast.unparse(rewritten(Project(script, read_source))[script])) is CONDITIONS[condition]


def test_a_line_in_a_function_that_a_condition_calls_is_a_question(place):
    text = OF_LISTS + '''
def goes_on(step):
    return step < 6
step = 0
while goes_on(step):
    for i in range(5):
        optimizer.step([1, 2, 3, 4])
    step += 1
    print("loss", weights[0])
'''
    place.write("train.py", text)
    place.record("train.py")
    place.write("train.py", text.replace("    return step", "    print('asked', step)\n    return step").replace('    print("loss"', '    print("step", step)\n    print("loss"'))
    assert "changed code" not in place.run("flor", "probes", "a", "--", sys.executable, "train.py").stdout
