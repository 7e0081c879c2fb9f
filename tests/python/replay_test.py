"""Programs recorded and replayed with probes: rows equal to those of a plain run of the edited program, to the bit."""
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

OUTER = {"classifier.py": ('        flor.log("accuracy", accuracy)\n',
                           '        flor.log("accuracy", accuracy)\n        flor.log("weight", net[0].weight.norm().item())\n'),
         "arrays.py": ('            flor.log("loss", loss)\n',
                       '            flor.log("loss", loss)\n            flor.log("sum", weights.sum() + meter.total)\n')}
INNER = {"classifier.py": ('                    flor.log("loss", loss.item())\n',
                           '                    flor.log("loss", loss.item())\n                    g = net[0].weight.grad\n'
                           '                    flor.log("norm", g.norm().item())\n'),
         "arrays.py": ("                weights += momentum\n",
                       '                weights += momentum\n                flor.log("noise", [noise, momentum])\n')}


OUTER["large.py"] = ('        flor.log("net", net.weight.sum())\n',
                     '        flor.log("net", net.weight.sum())\n        kept = table["best"]\n'
                     '        flor.log("more", [halves[0].std(), 0 if kept is None else kept.sum(), turned.std(), odd.std()])\n')
INNER["large.py"] = ("                plain += noise\n", '                plain += noise\n                flor.log("plain", plain.std())\n')
OUTER["cnn.py"] = ('            flor.log("accuracy", evaluate(net, test))\n',
                   '            flor.log("accuracy", evaluate(net, test))\n            flor.log("norm", net.classes[2].weight.norm())\n')
INNER["cnn.py"] = ('                        flor.log("loss", loss.item())\n',
                   '                        flor.log("loss", loss.item())\n                        flor.log("mean", x.mean())\n')


def added(rows, plain):
    return sorted(row for row in plain if row not in rows)


@pytest.mark.parametrize("name, workers", [("classifier.py", 3), ("arrays.py", 2), ("large.py", 1), ("cnn.py", 2)])
def test_probes_give_the_rows_of_a_plain_run(place, name, workers):
    shorter = [("default=8", "default=4"), ("default=6000", "default=600")] if name == "cnn.py" else []
    place.record(place.program(name, *shorter))
    recorded = place.joined()
    assert sorted(recorded) == sorted(place.plain(name))
    # The iteration that a break ended executes: the break could be in the block.
    skipped = {"classifier.py": "blocks: 0 executed, 8 skipped", "arrays.py": "blocks: 1 executed, 9 skipped",
               "large.py": "blocks: 0 executed, 7 skipped", "cnn.py": "blocks: 0 executed, 4 skipped"}[name]
    for edit, is_outer in ((OUTER[name], True), (INNER[name], False)):
        place.program(name, *shorter, edit)
        said = place.replay(name, "--workers", workers)
        assert ": identical" in said and "taken back" not in said
        assert (skipped in said) == is_outer, said
        plain = place.plain(name)
        assert added(recorded, plain) and set(plain) <= set(place.joined())


def test_an_edited_file_of_another_name_in_another_folder_is_compared(place):
    place.write("helpers.py", "def double(x):\n    return 2 * x\n")
    edit = ("import flor\n", "import flor\nimport helpers\n")
    use = ('            flor.log("loss", loss)\n', '            flor.log("loss", helpers.double(loss))\n')
    place.record(place.program("arrays.py", edit, use))
    place.write("copy/helpers.py", "def double(x):\n    return 2 * x\n")
    best = '            flor.log("best", best["loss"])\n'
    place.program("arrays.py", edit, use, (best, best + '            flor.log("sum", weights.sum())\n'), to="copy/edited.py")
    said = place.replay("copy/edited.py")
    assert ": identical" in said and "1 executed, 9 skipped" in said, said
    assert "other arguments" not in said
    place.write("copy/helpers.py", "def double(x):\n    return x + x + 0 * x\n")
    assert "helpers.py:2: changed code: every block executes" in place.replay("copy/edited.py")


def test_what_a_block_does_not_hold_makes_it_execute(place):
    place.record(place.program("classifier.py"))
    place.program("classifier.py", ('        flor.log("accuracy", accuracy)\n',
                                    '        flor.log("accuracy", accuracy)\n        flor.log("last", loss.item())\n'))
    said = place.replay("classifier.py")
    assert re.search(r"classifier.py:\d+: block train changes loss, which it does not hold and line \d+ reads: it executes", said)
    assert set(place.plain("classifier.py")) <= set(place.joined())


def test_flor_probes_says_what_executes(place):
    place.record(place.program("classifier.py"))
    assert "every block executes" not in place.run("flor", "probes", "a").stdout
    place.program("classifier.py", INNER["classifier.py"], to="edited.py")
    said = place.run("flor", "probes", "a", "--", sys.executable, "edited.py").stdout
    assert "log added inside block train: it executes" in said and "norm" in said
    place.write("broken.py", "import flor\nfor (")
    assert "broken.py: Python cannot read it" in place.run("flor", "probes", "a", "--", sys.executable, "broken.py").stdout
    said = place.run("flor", "probes", "a", "--", "sh", "edited.py").stdout
    assert "is not Python's interpreter, which would compare the sources: every block executes" in said


def test_nothing_of_the_working_directory_is_executed_by_a_comparison(place):
    """Others may write there. A program that lies elsewhere does not look there either."""
    program = place.program("classifier.py", to="mine/classifier.py")
    place.record(program)
    for name in ("flor/__init__.py", "json.py", "ast.py"):
        place.write("planted/" + name, "open('/proc/self/cwd/executed', 'w')\n")
    planted = place.folder / "planted"
    for words in (("probes", "a"), ("replay", "a", "--dry-run")):
        done = place.run("env", "--chdir", planted, "flor", *words, "--", sys.executable, place.folder / program)
        assert "every block executes" not in done.stdout + done.stderr
    assert sorted(os.listdir(planted)) == ["ast.py", "flor", "json.py"]


def test_the_interpreter_of_a_copied_record_is_not_executed(place):
    place.program("classifier.py")
    place.record("classifier.py")
    path, = (place.folder / "store").glob("2*/run.json")
    planted = place.folder / place.write("python3", f"#!/bin/sh\ntouch {place.folder}/executed\n")
    planted.chmod(0o755)
    path.write_text(json.dumps({**json.loads(path.read_text()), "binary": str(planted)}))
    place.run("flor", "probes", "a")
    assert not (place.folder / "executed").exists()


def test_a_record_is_read_as_regular_files_of_this_user(place, monkeypatch):
    from flor._recorded import Recorded

    place.program("classifier.py")
    place.record("classifier.py")
    path, = (place.folder / "store").glob("2*/run.json")
    monkeypatch.setenv("FLOR_STORE", str(place.folder / "store"))
    monkeypatch.setenv("FLOR_REPLAY", f"{path.parent.name}/r1")
    script = str(place.folder / "classifier.py")
    assert Recorded(script).read(script) == (place.folder / "classifier.py").read_text()
    manifest = json.loads(path.read_text())
    for name in ("/etc/hostname", "../../classifier.py"):
        path.write_text(json.dumps({**manifest, "sources": [{**manifest["sources"][0], "file": name}]}))
        assert not Recorded(script)._files
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(OSError, match="is no file"):
        Recorded(script)


def test_a_guard_that_leaves_something_out_makes_the_replay_run_from_the_start(place):
    edit = ("meter=meter, rng=rng, best=best)", "meter=meter, rng=rng)")
    place.record(place.program("arrays.py", edit))
    place.program("arrays.py", edit, OUTER["arrays.py"])
    said = place.replay("arrays.py", "--workers", 2)
    assert "passes best to the next, and the guard does not hold it: the replay runs from the start" in said
    assert ": identical" in said
    assert set(place.plain("arrays.py")) <= set(place.joined())


STEPS_IN_A_FUNCTION = """
import flor
import numpy as np
def train(weights, epoch):
    for step in flor.loop("step", range(3)):
        weights += epoch + step
def main():
    weights = np.zeros(4)
    with flor.checkpointing(weights):
        for epoch in flor.loop("epoch", range(1, 6)):
            with flor.skip_block("train", weights) as block:
                if block.step_into():
                    train(weights, epoch)
            flor.log("sum", weights.sum())
main()
"""


def test_a_loop_in_a_function_that_another_loop_calls_is_no_main_loop(place):
    place.write("train.py", STEPS_IN_A_FUNCTION)
    assert "warning" not in place.record("train.py")
    place.write("train.py", STEPS_IN_A_FUNCTION.replace('    flor.log("sum"', '    flor.log("first", weights[0])\n            flor.log("sum"'))
    said = place.replay("train.py", "--workers", 2)
    assert ": identical" in said and "0 executed, 5 skipped" in said, said
    assert "outermost loops" not in said and "from the start" not in said, said
    assert set(place.plain("train.py")) <= set(place.joined())


def test_guards_may_hold_objects_of_any_names(place):
    """Names of the core's own begin with an @: not those of a second guard, and not `g1`."""
    text = ("import flor\nimport torch\ng1, g2, own = torch.zeros(2), {'n': 0}, torch.Generator()\ntorch.manual_seed(1)\nwith flor.checkpointing(g1=g1, generator=own), "
            "flor.checkpointing(g2=g2, generator=torch.default_generator):\n    for epoch in flor.loop('epoch', range(4)):\n"
            "        g1 += torch.rand(2, generator=own)\n        g2['n'] += epoch\n        flor.log('n', g2['n'])\n")
    place.write("guards.py", text)
    place.record("guards.py")
    place.write("guards.py", text + "        flor.log('more', [g1.sum(), g2['n']])\n")
    said = place.replay("guards.py", "--workers", 2)
    assert ": identical" in said, said
    place.write("guards.py", text + "        flor.log('more', g1.sum())\n")
    assert ": identical" in place.replay("guards.py", "--workers", 3)
    assert set(place.plain("guards.py")) <= set(place.joined())


@pytest.mark.parametrize("name", ["classifier.py", "arrays.py", "large.py"])
def test_a_killed_recording_goes_on_where_it_was(place, name):
    slow = ("import flor\n", "import flor\nimport time\n")
    last = 'flor.log("net",' if name == "large.py" else 'flor.log("best",'
    wait = (last, "time.sleep(0.15); " + last)
    place.program(name, slow, wait)
    plain = place.plain(name)
    training = subprocess.Popen(["flor", "record", "--name", "a", "--every", "1", "--", sys.executable, name], cwd=place.folder,
                                env=place.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                start_new_session=True)
    for line in training.stdout:
        if "epoch=3" in line:
            break
    time.sleep(0.2)
    os.killpg(training.pid, signal.SIGKILL)
    training.communicate()
    said = place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, name).stderr
    assert "resum" in said
    assert sorted(place.joined()) == sorted(plain)
    place.program(name, slow, wait, INNER[name])
    assert ": identical" in place.replay(name, "--workers", 2)
    assert set(place.plain(name)) <= set(place.joined())


def test_an_edited_program_resumes_nothing(place):
    place.program("arrays.py", ("            if epoch == 9:", "            if epoch == 4:\n                raise OSError\n            if epoch == 9:"))
    assert "OSError" in place.record("arrays.py", code=1)
    place.program("arrays.py")
    said = place.run("flor", "record", "--resume", "a", "--", sys.executable, "arrays.py", code=1).stderr
    assert "arrays.py is not as it was recorded" in said


def test_an_object_that_cannot_be_saved_ends_the_recording_and_not_training(place):
    place.program("arrays.py", ("best=best):", "best=best, file=open(__file__)):"))
    said = place.record("arrays.py")
    assert "an object of type _io.TextIOWrapper cannot be saved" in said
    assert len(place.plain("arrays.py")) > 0


def test_exit_codes_and_tracebacks_are_the_programs_own(place):
    place.program("arrays.py", ("            if epoch == 9:", "            if epoch == 2:\n                raise SystemExit(7)\n            if epoch == 9:"))
    place.record("arrays.py", code=7)
    assert "exit code 7" in place.run("flor", "show", "a").stdout
