"""Programs in which there is no time to look at all executions of a block. Those have no checkpoint, so a replay executes them
and skips the others: what such a one changes, though no other execution did, is right in any case."""
import pytest
from free_test import have, plain

PROGRAM = """import os
import time
import flor
import torch

def bump(where):
    where["bad"] += 1

def epoch_of(at):
    stats = {{"bad": 0}}
    with flor.skip_block("train", net=net, optimizer=optimizer) as train:
        if train.step_into():
            loss = net(torch.randn(4, 2)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            time.sleep(0.03)  # worth a checkpoint
            if 26 <= at < 35:
                bump({changed})
    if at == 30 and not os.path.exists("died"):
        open("died", "w").close()
        {end}
    flor.log("bias", net.bias.item())
    {shown}

torch.manual_seed(0)
net, kept, table = torch.nn.Linear(2, 1), {{"bad": 0}}, [[i] for i in range(2000)]  # to look at which takes time
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
with flor.checkpointing(net=net, optimizer=optimizer, kept=kept):
    for epoch in flor.loop("epoch", range(40)):
        epoch_of(epoch)
        kept["bad"] = 0
"""


FREE = """import time
import torch

def bump(where):
    where["bad"] += 1

torch.manual_seed(0)
net, table = torch.nn.Linear(2, 1), [[i] for i in range(2000)]
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = list(torch.randn(6, 4, 2))
for epoch in range(40):
    stats = {"bad": 0}
    for x in data:
        loss = net(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.006)
        if 26 <= epoch < 35:
            bump(stats)
    print("bias", net.bias.item())
"""


def recorded(place, changed, end="pass", shown="", code=0):
    place.write("train.py", PROGRAM.format(changed=changed, end=end, shown=shown))
    place.run("flor", "record", "--name", "a", "--epsilon", "1000", "--", "/usr/bin/python3", "train.py", code=code)


@pytest.mark.parametrize("changed", ["stats", "kept"])
def test_what_only_such_a_one_changes_is_right(place, changed):
    """`stats` is in no look of the main loop, and the guard's `kept`, which is left out there, is the same at the ends of all iterations."""
    recorded(place, changed)
    probed = place.write("train.py", PROGRAM.format(changed=changed, end="pass", shown=f'flor.log("bad", {changed}["bad"])'))
    said = place.replay(probed, "--workers", 2)
    assert ": identical" in said and "were watched" not in said and " 0 skipped" not in said and " 0 executed" not in said, said
    assert place.joined() == place.plain(probed)


def test_what_only_such_a_one_changes_is_right_in_a_program_that_names_nothing(place):
    place.write("train.py", FREE)
    place.run("flor", "record", "--name", "a", "--epsilon", "1000", "--", "/usr/bin/python3", "train.py")
    place.write("train.py", FREE + '    print("bad", stats["bad"])\n')
    said = place.replay("train.py", "--workers", 2)
    assert ": identical" in said and " 0 skipped" not in said and " 0 executed" not in said, said
    assert set(plain(place, "train.py")[1]) <= set(have(place))


def test_a_resumed_recording_executes_it_again(place):
    shown = 'flor.log("bad", stats["bad"])'
    recorded(place, "stats", "os._exit(9)", shown, code=9)
    place.run("flor", "record", "--resume", "a", "--", "/usr/bin/python3", "train.py")
    assert place.joined() == place.plain("train.py")
