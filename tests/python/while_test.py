"""A main loop that is written as `while` is recorded, replayed and resumed as a `for` is."""
import re
import sys

import pytest
from carried_test import goes_on, slowed
from free_test import have, plain

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
