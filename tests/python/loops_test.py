"""Loops: their values and ends, containers, threads, forked and spawned children, and what a program may do to them."""
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest


def events(place, kind):
    run = next(one for one in (place.folder / "store").iterdir() if not one.name.startswith("."))
    return [row for row in map(json.loads, (run / "timeline.jsonl").read_text().splitlines()) if row.get("kind") == kind]


def ended(place):
    run = next(one for one in (place.folder / "store").iterdir() if not one.name.startswith("."))
    return [(loop["name"], loop["ended"], loop["last"]) for loop in json.loads((run / "run.json").read_text())["loops"]]


@pytest.mark.parametrize("body, want", [
    ("pass", ("epoch", "exhausted", 3)),
    ("if epoch == 2: break", ("epoch", "early", 2)),
    ("if epoch == 2: raise KeyError", ("epoch", "unwound", 2)),
])
def test_how_a_loop_ends_is_known(place, body, want):
    place.write("program.py", "import flor\ndef main():\n    for epoch in flor.loop('epoch', range(4)):\n        flor.log('x', epoch)\n"
                f"        {body}\ntry:\n    main()\nexcept KeyError:\n    pass\nfor second in flor.loop('second', range(2)):\n    pass\n")
    place.record("program.py")
    assert ended(place)[0] == want and ended(place)[1] == ("second", "exhausted", 1)


@pytest.mark.parametrize("leave", ["return 1", "break"])
def test_leaving_through_other_iterators_and_with_blocks_is_early(place, leave):
    place.write("program.py", "import contextlib, flor\ndef main():\n    for i, epoch in enumerate(flor.loop('epoch', range(4))):\n"
                f"        with contextlib.suppress(ValueError):\n            if epoch == 1:\n                {leave}\nmain()\n"
                "for second in flor.loop('second', range(2)):\n    pass\n")
    place.record("program.py")
    assert [end[1] for end in ended(place)] == ["early", "exhausted"]


def test_a_guard_inside_of_a_loop_does_nothing_and_says_so(place):
    place.write("program.py", "import flor\nstate = []\nfor epoch in flor.loop('epoch', range(2)):\n    with flor.checkpointing(state):\n"
                "        for step in flor.loop('step', range(2)):\n            flor.log('x', step)\n")
    said = place.record("program.py")
    assert said.count("flor.checkpointing inside of loop epoch does nothing: write it around the main loop") == 1
    assert len(place.joined()) == 4


def test_containers_count_from_0_and_generators_work(place):
    place.write("program.py", "import flor\nfor epoch in flor.loop('epoch', 'abc'):\n    for x in flor.loop('step', (i * i for i in range(3))):\n"
                "        flor.log('x', [epoch, x])\nfor odd in flor.loop('odd', range(1, 7, 2)):\n    flor.log('odd_value', odd)\n"
                "for none in flor.loop('none', []):\n    flor.log('never', 1)\nfor two in flor.loop('two', range(5, 7)):\n    flor.log('two_value', two)\n")
    place.record("program.py")
    rows = place.joined()
    assert ((("epoch", "2"), ("step", "1")), "x", '["c", "1"]') in rows
    assert [row[0] for row in rows if row[1] == "odd_value"] == [(("odd", str(i)),) for i in range(3)]
    assert [row[0] for row in rows if row[1] == "two_value"] == [(("two", "5"),), (("two", "6"),)]
    assert "never" not in {row[1] for row in rows}


CHILDREN = """import multiprocessing, os, sys, threading
import flor

def work(i):
    for inner in flor.loop("inner", range(2)):
        with flor.skip_block("block", []) as block:
            assert block.step_into()
    return i * i

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    for epoch in flor.loop("epoch", range(3)):
        with context.Pool(2) as pool:
            flor.log("squares", pool.map(work, range(4)))
        thread = threading.Thread(target=work, args=(1,))
        thread.start()
        thread.join()
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_and_other_threads_run_plain(place, method):
    place.write("program.py", CHILDREN)
    place.run("flor", "record", "--name", "a", "--", sys.executable, "program.py", method)
    rows = place.joined()
    assert [row[1:] for row in rows] == [("squares", '["0", "1", "4", "9"]')] * 3
    assert "a  " in place.run("flor", "runs").stdout and place.run("flor", "runs").stdout.count("completed") == 1


LOADER = """import flor, torch
torch.manual_seed(3)
data = torch.utils.data.TensorDataset(torch.arange(24.0))
loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True, num_workers=2, persistent_workers={persistent})
total = torch.zeros(1)
if __name__ == "__main__":
    with flor.checkpointing(total):
        for epoch in flor.loop("epoch", range(4)):
            with flor.skip_block("train", total) as train:
                if train.step_into():
                    for (x,) in flor.loop("step", loader):
                        total += (x * torch.rand(1)).sum()
                        flor.log("first", x[0].item())
            flor.log("total", total)
"""


def test_a_shuffled_loader_with_workers_is_replayed_to_the_bit(place):
    text = LOADER.format(persistent=False)
    place.write("program.py", text)
    place.record("program.py")
    place.write("program.py", text.replace('flor.log("first", x[0].item())', 'flor.log("first", x[0].item()); flor.log("last", x[-1].item())'))
    said = place.replay("program.py", "--workers", 2)
    assert ": identical" in said and "does not hold" not in said
    assert set(place.plain("program.py")) <= set(place.joined())


def test_rows_from_workers_that_live_on_are_never_wrong_without_a_word(place):
    """They carry state from epoch to epoch that no checkpoint has."""
    text = LOADER.format(persistent=True)
    place.write("program.py", text)
    place.record("program.py")
    place.write("program.py", text.replace('flor.log("first", x[0].item())', 'flor.log("first", x[0].item()); flor.log("last", x[-1].item())'))
    done = place.run("flor", "replay", "a", "--workers", 2, "--", sys.executable, "program.py", code=None)
    is_right = ": identical" in done.stdout and set(place.plain("program.py")) <= set(place.joined())
    assert is_right or (done.returncode == 3 and ": differs" in done.stdout)


def test_sigterm_takes_a_last_checkpoint_and_the_recording_goes_on(place):
    import subprocess

    text = ("import time, flor\nstate = {'n': 0}\nwith flor.checkpointing(state=state):\n    for epoch in flor.loop('epoch', range(6)):\n"
            "        time.sleep(0.2)\n        state['n'] += epoch\n        flor.log('n', state['n'])\n")
    place.write("program.py", text)
    plain = place.plain("program.py")
    training = subprocess.Popen(["flor", "record", "--name", "a", "--", sys.executable, "-u", "program.py"], cwd=place.folder,
                                env=place.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in training.stdout:
        if "epoch=2" in line:
            break
    os.kill(training.pid, signal.SIGTERM)
    training.communicate()
    assert training.returncode == 128 + signal.SIGTERM
    said = place.run("flor", "record", "--resume", "a", "--", sys.executable, "-u", "program.py")
    assert "epoch=1" not in said.stdout and sorted(place.joined()) == sorted(plain)


def test_a_package_without_its_library_says_so(place):
    import shutil

    package = pathlib.Path(place.environment["PYTHONPATH"]) / "flor"
    shutil.copytree(package, place.folder / "flor", ignore=shutil.ignore_patterns("*.so"))
    said = place.run(sys.executable, "-c", "import flor", code=1).stderr.strip().splitlines()[-1]
    assert said.startswith("ImportError: flor: its library cannot be loaded") and said.endswith("install the package flor again")


@pytest.mark.parametrize("version", [5, 6])
def test_a_package_with_the_library_of_another_one_says_so(monkeypatch, version):
    """Its interface has another version, or it lacks a function."""
    from flor import _library

    class Library:
        flor_c_version = ctypes.CFUNCTYPE(ctypes.c_int32)(lambda: version)

    header = pathlib.Path(__file__).parents[2] / "replay/include/flor/c.h"
    assert f"#define FLOR_C_VERSION {_library._VERSION}\n" in header.read_text()
    monkeypatch.setattr(_library.ctypes, "CDLL", lambda path: Library)
    with pytest.raises(ImportError, match="is of another version than this package; install the package flor again"):
        _library._load()


def test_sigterm_behind_the_main_loop_ends_the_program(place):
    place.write("program.py", "import time\nimport flor\nstate = {'n': 0}\nwith flor.checkpointing(state):\n    for epoch in flor.loop('epoch', range(3)):\n"
                "        state['n'] += 1\n        time.sleep(0.1)\nprint('behind', flush=True)\ntime.sleep(12)\nprint('still here')\n")
    training = subprocess.Popen(["flor", "record", "--", sys.executable, "program.py"], cwd=place.folder, env=place.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = []
    for line in training.stdout:
        said.append(line)
        if line == "behind\n":
            training.send_signal(signal.SIGTERM)
    assert training.wait() == 128 + signal.SIGTERM and "still here\n" not in said, said
    assert any("no last checkpoint, the main loop is over" in line for line in said), said


DROPPED = """import flor
class Shard:
    alive = most = 0
    def __init__(self):
        Shard.alive += 1
        Shard.most = max(Shard.most, Shard.alive)
    def __del__(self):
        Shard.alive -= 1
def shards():
    for _ in range(3):
        yield Shard()
for shard in flor.loop("shard", shards()):
    del shard
    assert Shard.alive == 0
print("most", Shard.most)
"""


def test_an_element_that_the_program_drops_is_gone(place):
    place.write("program.py", DROPPED)
    for words in ([], ["flor", "record", "--"]):
        assert "most 1\n" in place.run(*words, sys.executable, "program.py").stdout


class Goes:
    """Stands for the library in a replay: gives the places of a loop in this order, then no more."""

    def __init__(self, places):
        self._places, self.ended = iter(places), None

    def flor_next(self, _has_natural, _natural, value):
        place = next(self._places, None)
        value.value = place or 0
        return place is not None

    def flor_leave_loop(self, how):
        self.ended = how

    def __getattr__(self, name):
        return lambda *words: 0


def test_a_replay_goes_back_from_the_end_of_a_range():
    """A worker that has executed the last iterations may be given the first ones, as a proof."""
    from flor import _loop

    library = Goes([2, 3, 0, 1])
    found = list(_loop.iterate_as_flor(library, b"epoch", _loop._RANGE, 0, 4, range(4), sys._getframe(), None))
    assert (found, library.ended) == ([2, 3, 0, 1], _loop._EXHAUSTED)
