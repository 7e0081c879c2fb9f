"""Gradients that a restore leaves unknown: a program that uses them ends, and one that clears them goes on, whatever its model becomes."""
import sys

import pytest
from free_test import have, plain
from uses_test import BEGIN, FUSED, KILL

NAMED_KILL = KILL.replace("\n", "\n    ").rstrip(" ")
ADDED_LATE = BEGIN + FUSED + """
optimizer = Fused(net.parameters(), dict(lr=0.02))
for epoch in range(8):
    for index, (x, y) in enumerate(data):
        if epoch < 5:
            optimizer.zero_grad(set_to_none=True)
        error(net, x, y).backward()
        if index % 4 == 0:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    KILL
    print("weight", net.weight.sum().item())
"""


def test_a_resumed_recording_ends_where_backward_adds_to_gradients_that_are_not_known(place):
    """Before the kill the program cleared them, and the function of C++ that reads them then is not seen."""
    place.write("train.py", ADDED_LATE.replace("    KILL\n", KILL))
    rows = plain(place, "train.py")[1]
    place.record("train.py", code=None)
    again = ("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py")
    assert "the program uses gradients that" in place.run(*again, code=1).stderr
    # The iteration of the block that left them may have a checkpoint by then, which lacks them, too.
    said = place.run(*again, code=None)
    if said.returncode != 0:
        assert "the program uses gradients that an iteration left" in said.stderr
        place.run(*again)
    assert sorted(have(place)) == sorted(rows)


NAMED_STATE = BEGIN + FUSED + """
import flor
optimizer = Fused(net.parameters(), dict(lr=0.02))
with flor.checkpointing(net=net, optimizer=optimizer):
    for epoch in flor.loop("epoch", range(8)):
        for index, (x, y) in enumerate(data):
            (error(net, x, y) / 4).backward()
            if (index + 1) % 4 == 0:
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
    KILL
        flor.log("weight", net.weight.sum().item())
"""


def resume_after_a_refusal(place):
    """The first attempt ends, and the second one goes around what the first one noted."""
    again = ("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py")
    assert "the program uses gradients that an iteration left" in place.run(*again, code=1).stderr
    place.run(*again)


def test_a_resumed_recording_ends_where_unknown_gradients_have_become_a_parameter(place):
    """Of a program that names its state: the function of C++ that reads them is not seen, but what it made of them is."""
    place.write("train.py", NAMED_STATE.replace("    KILL\n", NAMED_KILL))
    rows = plain(place, "train.py")[1]
    place.record("train.py", code=None)
    resume_after_a_refusal(place)
    assert sorted(have(place)) == sorted(rows)


BEHIND_THE_LOOP = BEGIN + FUSED + """
import flor
optimizer = Fused(net.parameters(), dict(lr=0.02))
with flor.checkpointing(net=net, optimizer=optimizer):
    for epoch in flor.loop("epoch", range(5)):
        for x, y in data:
            (error(net, x, y) / 40).backward()
    KILL
        flor.log("bias", net.bias.sum().item())
optimizer.step()
flor.log("weight", net.weight.sum().item())
"""


def test_a_resumed_recording_ends_where_a_step_behind_the_loop_used_unknown_gradients(place):
    place.write("train.py", BEHIND_THE_LOOP.replace("    KILL\n", NAMED_KILL))
    rows = place.plain("train.py")
    place.record("train.py", code=None)
    resume_after_a_refusal(place)
    assert sorted(place.joined()) == sorted(rows)


BEHIND_A_BLOCK = BEGIN + FUSED + """
import flor
optimizer = Fused(net.parameters(), dict(lr=0.02))
for epoch in flor.loop("epoch", range(1)):
    with flor.skip_block("train", net, optimizer) as train:
        if train.step_into():
            for x, y in data:
                (error(net, x, y) / 10).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    flor.log("weight", net.weight.sum().item())
"""


def test_a_replay_ends_with_the_iteration_whose_step_used_unknown_gradients(place):
    """No further block or checkpoint comes where that would be seen. It is asked again with the block executed."""
    place.write("train.py", BEHIND_A_BLOCK)
    place.record("train.py")
    place.write("train.py", BEHIND_A_BLOCK + '    flor.log("bias", net.bias.sum().item())\n')
    rows = plain(place, "train.py")[1]
    done = place.run("flor", "replay", "a", "--", sys.executable, "train.py")
    assert "asking again" in done.stdout + done.stderr
    assert len([row for row in have(place) if row[1] == "bias"]) == 1 and set(have(place)) <= set(rows)


DIVERGING = BEGIN + """
spare = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *spare.parameters()], lr=0.01)
for epoch in range(12):
    for index, (x, y) in enumerate(data[:3]):
        optimizer.zero_grad(set_to_none=False)
        loss = error(net, x, y) * (float("nan") if epoch == 7 else 1.0)
        if epoch < 7 or index:
            loss = loss + error(spare, x, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*net.parameters(), *spare.parameters()], 1.0)
        optimizer.step()
    KILL
    print("loss", loss.item())
    print("norm", net.weight.norm().item())
"""
NAMED_DIVERGING = BEGIN + """
import flor
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
with flor.checkpointing(net=net, optimizer=optimizer):
    for epoch in flor.loop("epoch", range(12)):
        with flor.skip_block("train", net, optimizer) as train:
            if train.step_into():
                for x, y in data[:3]:
                    optimizer.zero_grad(set_to_none=False)
                    (error(net, x, y) * (float("nan") if epoch == 7 else 1.0)).backward()
                    optimizer.step()
    KILL
        flor.log("bias", net.bias.sum().item())
        flor.log("norm", net.weight.norm().item())
"""


@pytest.mark.parametrize("text, kill, shown", [(DIVERGING, KILL, "    print({0}, {1})"), (NAMED_DIVERGING, NAMED_KILL, "        flor.log({0}, {1})")],
                         ids=["as it is", "with words"])
def test_a_model_that_becomes_nan_by_itself_has_used_no_gradients(place, text, kill, shown):
    """It clears those that a checkpoint lacks, and diverges in the first epoch behind that."""
    text = text.replace("    KILL\n", kill.replace("epoch == 4", "epoch == 7"))
    place.write("train.py", text)
    rows = plain(place, "train.py")[1]
    place.record("train.py", code=None)
    said = place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py").stderr
    assert "resumed behind epoch=6" in said and sorted(have(place)) == sorted(rows)
    # Asked for what stands behind blocks, which are skipped; and for what an epoch's own execution gives.
    for value, flags in (("net.bias.sum().item()", ()), ("net.weight.sum().item()", ("--probe", "none", "--epochs", "7:10"))):
        place.write("train.py", text + shown.format(repr(value), value) + "\n")
        said = place.replay("train.py", *flags)
        assert "asking again" not in said and " 0 executed" in said
        rows += plain(place, "train.py")[1]
        assert set(have(place)) <= set(rows) and any(row[1].startswith(value.partition(".item")[0]) for row in have(place))


# The optimizer has the head alone. So its zero_grad() never clears the gradients of the backbone.
BACKBONE = BEGIN + """
import flor
from flor import _gradient_uses
backbone = torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(20)))
looks = []
_gradient_uses._is_nan = lambda tensor, look=_gradient_uses._is_nan: looks.append(1) or look(tensor)
optimizer = torch.optim.SGD(net.parameters(), lr=0.02)
with flor.checkpointing(net=net, backbone=backbone, optimizer=optimizer):
    for epoch in flor.loop("epoch", range(8)):
        for x, y in 10 * data:
            optimizer.zero_grad()
            error(net, backbone(x), y).backward()
            optimizer.step()
    KILL
        flor.log("weight", net.weight.sum().item())
print("looks", len(looks))
"""


def test_gradients_that_nobody_clears_cost_a_few_looks_an_iteration(place):
    place.write("train.py", BACKBONE.replace("    KILL\n", NAMED_KILL))
    place.record("train.py", code=None)
    said = place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py")
    assert "resumed behind epoch=" in said.stderr
    # An iteration has 100 steps. 40 parameters have gradients that are never cleared.
    iterations = 7 - int(said.stderr.split("resumed behind epoch=")[1].split()[0])
    assert int(said.stdout.split("looks ")[1]) < 40 * 20 * (iterations + 1)
