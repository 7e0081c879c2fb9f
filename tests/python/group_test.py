"""Processes that make a group by themselves, each with a launch of its own: no launcher tells Flor of it, and none is resumed alone."""
import json
import signal
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys
import torch
import torch.distributed as dist
import flor

rank = int(sys.argv[1])

def meet():
    dist.init_process_group("gloo", init_method="file://" + os.path.abspath("meet"), rank=rank, world_size=int(sys.argv[2]))

if WHEN == "before the loop":
    meet()
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
data = torch.randn(8, 4) + rank
torch.manual_seed(rank)
with flor.checkpointing(net, optimizer):
    for epoch in flor.loop("epoch", range(6)):
        print("epoch", epoch, flush=True)
        if WHEN == "in an iteration" and not dist.is_initialized():
            meet()
        if os.environ.get("DIES") == sys.argv[1] and epoch == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        optimizer.zero_grad()
        net(data + torch.randn(1)).sum().backward()
        for parameter in net.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()
print("sum", sum(parameter.sum().item() for parameter in net.parameters()))
"""


def start(place, rank, restart, of=2, **environment):
    recorded = {} if restart is None else {
        "FLOR_RECORD": "1", "FLOR_EVERY": "1", "FLOR_MATERIALIZER": "inline", "FLOR_LAUNCH": f"c.7.{rank}.{restart}"}
    return subprocess.Popen([sys.executable, "train.py", str(rank), str(of)], cwd=place.folder, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env={**place.environment, "PYTHONHASHSEED": "0", **recorded, **environment})


def train(place, restart, dies=""):
    """Starts two ranks. Returns the output and the exit code of each."""
    (place.folder / "meet").unlink(missing_ok=True)
    both = [start(place, rank, restart, DIES=dies) for rank in (0, 1)]
    said = [one.communicate(timeout=120) for one in both]
    return [(out, err, one.returncode) for one, (out, err) in zip(both, said)]


def runs_of(place):
    return sorted(path.parent for path in place.folder.glob("store/*/run.json"))


@pytest.mark.parametrize("when", ("before the loop", "in an iteration"))
def test_ranks_that_are_steps_of_their_own_begin_anew_together(place, when):
    place.write("train.py", PROGRAM.replace("WHEN", repr(when)))
    plain = train(place, None)
    killed = train(place, 0, dies="1")
    assert killed[1][2] == -signal.SIGKILL and "epoch 3" in killed[1][0], killed
    first = runs_of(place)
    assert len(first) == 2 and all((run / "several").exists() for run in first)
    assert all(list(run.glob("checkpoints/@iteration/epoch=2*")) for run in first)
    again = train(place, 1)
    assert [(out, code) for out, _, code in again] == [(out, code) for out, _, code in plain], again
    for _, err, _ in again:
        assert "is not resumed, a new one is recorded: " in err, err
    assert all(json.loads((run / "run.json").read_text())["attempt"] == 0 for run in runs_of(place))


def test_a_group_that_the_earlier_attempt_did_not_note_is_not_resumed(place):
    place.write("train.py", PROGRAM.replace("WHEN", repr("before the loop")))
    train(place, 0, dies="1")
    for run in runs_of(place):
        (run / "several").unlink()
    plain, again = train(place, None), train(place, 1)
    assert [(out, code) for out, _, code in again] == [(out, code) for out, _, code in plain], again
    assert all("this process trains together with others" in err for _, err, _ in again)


def test_a_group_of_one_is_resumed(place):
    place.write("train.py", PROGRAM.replace("WHEN", repr("before the loop")))
    outputs = []
    for restart, dies in ((0, "0"), (1, "")):
        (place.folder / "meet").unlink(missing_ok=True)
        out, err = start(place, 0, restart, of=1, DIES=dies).communicate(timeout=120)
        outputs.append(out)
    assert outputs[1].startswith("epoch 3\n"), (outputs, err)
    assert not list(place.folder.glob("store/*/several"))
