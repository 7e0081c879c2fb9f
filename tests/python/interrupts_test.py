"""Signals that a program handles, and processes that it starts, while it is recorded or replayed."""
import json
import os
import struct
import sys

import pytest

# The handler raises once Flor's function `target` is at work; `entry`: at the first step of a call from C.
SIGNALLED = '''
import os, signal, sys, torch
target, kind = sys.argv[1], {"own": type("Preempted", (Exception,), {}), "exit": SystemExit, "ctrl-c": KeyboardInterrupt}[sys.argv[2]]
fired = caught = 0
def arm():
    # Once: on a busy machine a handler could take longer than the next alarm.
    signal.setitimer(signal.ITIMER_REAL, 0.0002)
def handler(number, frame):
    global fired
    if training is None:
        return
    at = []
    while frame is not None:
        at.append(frame.f_code.co_name if os.path.basename(os.path.dirname(frame.f_code.co_filename)) == "flor" else "")
        frame = frame.f_back
    if at[0] == "called_by_flor" if target == "entry" else target in at:
        fired += 1
        raise kind("as the program wants")
    arm()
training = True
signal.signal(signal.SIGALRM, handler)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(400, 400), torch.nn.Linear(400, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
try:
    for epoch in range(300):
        for i in range(2):
            loss = torch.nn.functional.cross_entropy(model(torch.randn(8, 400)), torch.randint(0, 2, (8,)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("loss", loss.item())
        if epoch == 2:
            arm()
except kind:
    caught += 1
training = None
signal.setitimer(signal.ITIMER_REAL, 0)
print(f"fired={fired!r} caught={caught!r} epochs={epoch + 1}")
'''


def tensors_of(path):
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        return sorted(name for name in json.loads(file.read(size)) if name != "__metadata__")


@pytest.mark.parametrize("target, kind", [("entry", "own"), ("entry", "ctrl-c"), ("called_by_flor", "exit"), ("look", "own"), ("look", "exit"),
                                          ("compare", "ctrl-c"), ("noted", "own"), ("close", "ctrl-c")])
def test_what_a_signal_handler_raises_reaches_the_program_and_spoils_no_checkpoint(place, target, kind):
    place.write("train.py", SIGNALLED)
    done = place.run("flor", "record", "--name", "a", "--every", "1", "--", sys.executable, "train.py", target, kind)
    # A handler may meet Flor's function for the first time where training is over.
    assert "fired=1 caught=1" in done.stdout or "fired=0 caught=0" in done.stdout, done.stdout[-300:] + done.stderr
    assert "Exception ignored" not in done.stderr and "warning" not in done.stderr, done.stderr
    epochs = int(done.stdout.split("epochs=")[1])
    run, = (place.folder / "store").glob("2*")
    manifest = json.loads((run / "run.json").read_text())
    assert manifest["status"] == "completed" and manifest["loops"][0]["iterations"] in (epochs, epochs + 1)
    kinds = {path.parent.name: set() for path in run.glob("checkpoints/*/*.safetensors")}
    for path in run.glob("checkpoints/*/*.safetensors"):
        if "entry" not in path.name:
            kinds[path.parent.name].add(len(tensors_of(path)))
    assert kinds and all(len(counts) <= 2 and min(counts, default=3) > 2 for counts in kinds.values()), kinds


HELPED = '''
import subprocess, sys, torch
print("helped", float(subprocess.check_output([sys.executable, "helper.py"])))
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(6):
    for x in torch.randn(5, 8, 4):
        loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss", loss.item())
'''
OWN_ROWS = "import flor\nflor.log('own', 1)\n"  # which prints, too


@pytest.mark.parametrize("helper, call", [("print(1.5)\n", "float(subprocess.check_output("), (OWN_ROWS, "(subprocess.call(")])
def test_a_helper_that_a_program_starts_takes_neither_run_nor_replay(place, helper, call):
    place.write("helper.py", helper)
    text = HELPED.replace("float(subprocess.check_output(", call)
    place.write("train.py", text)
    place.record("train.py")
    assert json.loads(place.run("flor", "runs", "--json").stdout)[0]["progress"] == "6/6"
    place.write("train.py", text.replace('    print("loss"', '    print(net.weight.norm())\n    print("loss"'))
    said = place.replay("train.py", "--workers", 2)
    assert ": identical" in said, said


@pytest.mark.parametrize("helper, call", [("print(1.5)\n", "float(subprocess.check_output("), (OWN_ROWS, "(subprocess.call(")])
def test_a_helper_of_a_resumed_program_resumes_nothing(place, helper, call):
    place.write("helper.py", helper)
    text = HELPED.replace("float(subprocess.check_output(", call)
    place.write("train.py", text + '    if epoch == 3 and not __import__("os").path.exists("again"):\n        __import__("os").kill(__import__("os").getpid(), 9)\n')
    place.run("flor", "record", "--name", "a", "--every", "1", "--", sys.executable, "train.py", code=137)
    place.write("again", "")
    done = place.run("flor", "record", "--resume", "a", "--", sys.executable, "train.py")
    assert "resumed behind epoch=" in done.stderr and "helped" in done.stdout
    assert json.loads(place.run("flor", "runs", "--json").stdout)[0]["progress"] == "6/6"


FORKED = HELPED.replace('import subprocess, sys, torch\nprint("helped", float(subprocess.check_output([sys.executable, "helper.py"])))\n',
                        'import multiprocessing, torch\nprint("world", 2)\n').replace(
    "for epoch in range(6):", "def main():\n  for epoch in range(6):").replace("    for x in", "      for x in").replace("        loss", "          loss").replace(
    "        optimizer", "          optimizer").replace('    print("loss"', '      print("loss"') + '''
child = multiprocessing.get_context("fork").Process(target=main)
child.start()
child.join()
'''


def test_a_training_in_a_forked_child_is_recorded_to_its_end(place):
    place.write("train.py", FORKED)
    place.record("train.py")
    run, = json.loads(place.run("flor", "runs", "--json").stdout)
    assert (run["status"], run["progress"]) == ("completed", "6/6")
    assert '"loss"' in place.run("flor", "log", "a", "--format", "jsonl").stdout


# As on a GPU that is occupied.
FULL = '''
import os, torch, flor
class Meter:
    seen = 0
    def state_dict(self):
        return {"seen": self.seen}
    def load_state_dict(self, state):
        if os.environ.get("FLOR_REPLAY") and not os.path.exists("full"):
            open("full", "w").close()
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        self.seen = state["seen"]
meter, net = Meter(), torch.nn.Linear(4, 1)
with flor.checkpointing(net=net, meter=meter):
    for epoch in flor.loop("epoch", range(6)):
        meter.seen += 1
        flor.log("seen", meter.seen)
'''


def test_a_worker_that_cannot_restore_leaves_its_units_to_others(place):
    place.write("train.py", FULL)
    place.record("train.py")
    place.write("train.py", FULL + '        flor.log("norm", net.weight.norm())\n')
    said = place.replay("train.py", "--workers", 2)
    assert ": identical" in said and os.path.exists(place.folder / "full"), said
