"""Programs that name nothing of Flor's, recorded and replayed as they are: rows equal to those of a plain run of the edited
program, to the bit."""
import json
import os
import re
import sys

import pytest

PROBES = {
    "mnist.py": (("        scheduler.step()\n", "        print(f'norm {model.fc1.weight.norm():.3f}', optimizer.param_groups[0]['lr'])\n", 0),
                 ("        loss.backward()\n", "        print('grad', model.fc2.weight.grad.norm().item())\n", 4)),
    "gpt.py": (("    optimizer.step()\n", "    if step % 10 == 0:\n        for pname, p in model.named_parameters():\n"
                "            print(pname, p.norm().item())\n", 0),),
    "finetune.py": (("            if phase == \"train\":\n                scheduler.step()\n",
                     "            print(optimizer.param_groups[0]['lr'], model.body[1].running_mean.mean(), len(history), best_acc)\n", 0),
                    ("                running_loss += loss.item() * inputs.size(0)\n",
                     "                print(inputs.mean(), model.body[0].weight.requires_grad)\n", 12)),
    "gan.py": (("        iters += 1\n", "\n    print(netD[0].weight.norm(), sum(G_losses), iters, D_losses[-1], errG)\n", 0),
               ("        optimizerG.step()\n", "        print(netG[0].weight.grad.norm(), real_label)\n", 6)),
    "vae.py": (("        model.eval()\n", "        print('w', model.fc4.bias.norm(), beta, train_loss)\n", 0),
               ("            optimizer.step()\n", "            logger.info('mean %f', logvar.mean().item())\n", 6)),
}
SHORTER = {"mnist.py": [("default=2000", "default=400")], "gpt.py": [("default=200", "default=60")]}


def plain(place, program):
    """Rows of the program with no recording: those in loops, by the names that a replay gives them."""
    log = place.folder / "plain.jsonl"
    done = place.run(sys.executable, program, FLOR_LOG=str(log), FLOR_HANDS_FREE="1", PYTHONPATH=place.hook)
    rows = [json.loads(line, parse_float=str, parse_int=str) for line in log.read_text().splitlines()]
    log.unlink()
    found = []
    for row in rows:
        if "value" in row and not row.get("@volatile"):
            name, value = row.pop("name"), row.pop("value")
            found.append((tuple(sorted(item for item in row.items() if not item[0].startswith("@"))), name, json.dumps(value)))
    return done, [row for row in found if row[0]]


def ask_each(place, program, text, in_front_of, expressions):
    """Replays the program with each expression shown alone, by two workers: its rows are those of one plain run that shows all."""
    def showing(*shown):
        indent = re.match(" *", in_front_of)[0]
        return text.replace(in_front_of, "".join(f"{indent}print({one})\n" for one in shown) + in_front_of)
    place.write(program, showing(*expressions))
    rows = plain(place, program)[1]
    recorded = have(place)
    for shown in expressions:
        place.write(program, showing(shown))
        before = len(have(place))
        said = place.replay(program, "--workers", 2)
        assert ": identical" in said and "taken back" not in said, said
        assert len(have(place)) > before, f"{shown}: no row came"
    assert set(rows) <= set(have(place)) and len(rows) > len(recorded)


def have(place):
    """Rows of the run and its replays. A name that is shown in two places has a mark at the new one."""
    return [(loops, name.replace(" (new)", ""), value) for loops, name, value in place.joined()]


@pytest.mark.parametrize("name", PROBES)
def test_a_print_that_is_added_later_has_the_values_of_a_plain_run(place, name):
    place.program(name, *SHORTER.get(name, ()))
    place.record(name)
    _, recorded = plain(place, name)
    assert recorded and set(recorded) <= set(have(place))
    for workers, (at, probe, executed) in zip((3, 1), PROBES[name]):
        place.program(name, *SHORTER.get(name, ()), (at, at + probe))
        said = place.replay(name, "--workers", workers)
        assert ": identical" in said and "taken back" not in said, said
        assert f"blocks: {executed} executed" in said, said
        rows = plain(place, name)[1]
        assert len(rows) > len(recorded) and set(rows) <= set(have(place))


CARRIED = '''
import collections, random
import helper
import torch

class Meter:
    total = 0
    def __init__(self):
        self.seen = []
        self.best = None
    def add(self, value):
        self.seen.append(value)
        if self.best is None or value < self.best[0]:
            self.best = (value, len(self.seen))

class Rate:
    __slots__ = ("value",)

def run():
    global shown
    torch.manual_seed(1)
    rng = random.Random(3)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    meter, window, rate, patience, text, shown = Meter(), collections.deque(maxlen=3), Rate(), 0, "", 0
    rate.value = 1.0
    for epoch in range(6):
        for x in torch.randn(5, 8, 4):
            noise = rng.random()
            loss = (net(x) - x.sum(1, keepdim=True) - noise).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            meter.add(loss.item())
            window.append(noise)
            rate.value *= 0.97
            helper.count(loss.item())
            shown += 1
            if loss.item() < 0.5:
                continue
            patience += 1
            text = f"{epoch}:{patience}"
        print("loss", loss.item())
run()
'''
HELPER = '''
counted, kept = 0, {"sum": 0.0}
def count(value):
    global counted
    counted += 1
    kept["sum"] += value
'''
CARRIED_PROBE = '        print(patience, shown, len(text), rate.value, list(window), meter.best[0], meter.seen[-1], helper.counted, helper.kept["sum"])\n'


def test_numbers_texts_and_members_of_whatever_objects_are_restored(place):
    place.write("helper.py", HELPER)
    place.write("train.py", CARRIED)
    place.record("train.py")
    place.write("train.py", CARRIED.replace('        print("loss", loss.item())\n', '        print("loss", loss.item())\n' + CARRIED_PROBE))
    shown = place.run("flor", "probes", "a").stdout
    assert shown.startswith("9 probes: ") and shown == place.run("flor", "probes", "a", "--", sys.executable, "train.py").stdout
    said = place.replay("train.py", "--workers", 3)
    assert ": identical" in said and "taken back" not in said, said
    rows = plain(place, "train.py")[1]
    assert len(rows) == 6 * 10 and set(rows) <= set(have(place))


@pytest.mark.parametrize("change, reason", [
    # A class keeps what no checkpoint can hold.
    ("            Meter.total += 1\n", "changes Meter"),
    # So does a function's closure.
    ("            bump()\n", "changes bump"),
    # And the process itself.
    ("            torch.backends.cudnn.benchmark = epoch > 2\n", "process's settings"),
])
def test_what_cannot_be_held_makes_its_block_execute(place, change, reason):
    made = "def make():\n    n = [0]\n    def bump():\n        n[0] += 1\n        return n[0]\n    return bump\nbump = make()\n\ndef run():\n"
    text = CARRIED.replace("def run():\n", made).replace("            meter.add(loss.item())\n", "            meter.add(loss.item())\n" + change)
    place.write("helper.py", HELPER)
    place.write("train.py", text)
    assert reason in place.record("train.py")
    shown = {"changes Meter": "print(Meter.total)", "changes bump": "print(bump.__closure__[0].cell_contents)",
             "process's settings": "print(torch.backends.cudnn.benchmark)"}[reason]
    place.write("train.py", text.replace('        print("loss", loss.item())\n', f'        print("loss", loss.item())\n        {shown}\n'))
    said = place.replay("train.py", "--workers", 2)
    assert ": identical" in said and "6 executed, 0 skipped" in said and reason.split("'")[0] in said, said
    rows = plain(place, "train.py")[1]
    assert set(rows) <= set(have(place))


QUIET = '''
import argparse, time
import torch

class Stop:
    def __init__(self):
        self.best, self.trace = 9e9, []
    def step(self, loss):
        self.best = min(self.best, loss)
        self.trace.append(loss)
    def state_dict(self):
        return {"best": self.best}
    def load_state_dict(self, state):
        self.best = state["best"]

def keep_best(args, value):
    if value > args.best:
        args.best = value

def main(rate=0.1, epochs=6):
    torch.manual_seed(1)
    args = argparse.Namespace(best=0.0, out="model.pt")
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    stop, pool, pick = Stop(), {16, 8, 0}, lambda e: 1
    begun = time.time()
    for epoch in range(epochs):
        for x in torch.randn(5, 8, 4):
            loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        stop.step(loss.item())
        keep_best(args, net.weight.sum().item())
        pool.add(24 * epoch)
        if epoch == 3:
            pick = lambda e: 2
        print("loss", loss.item(), time.time() - begun)
main()
'''


def test_changes_that_the_text_does_not_show_are_seen(place):
    place.write("train.py", QUIET)
    place.record("train.py")
    ask_each(place, "train.py", QUIET, "        print(", ["args.best", "len(stop.trace), stop.best", "list(pool)[-1]", "pick(epoch)"])


def test_a_function_that_takes_its_variables_as_a_dict_keeps_them(place):
    text = QUIET.replace("    torch.manual_seed(1)\n", "    config = locals()\n    torch.manual_seed(1)\n", 1)
    text = text.replace('        print("loss"', '        print(sorted(config))\n        print("loss"')
    place.write("train.py", text)
    without = place.run(sys.executable, "train.py").stdout
    done = place.run("flor", "record", "--name", "a", "--every", "1", "--", sys.executable, "train.py")
    assert [line for line in done.stdout.splitlines() if line[0] == "["] == [line for line in without.splitlines() if line[0] == "["]
    # Since Python 3.13 each call makes a dict of its own.
    assert ("main() takes its variables by locals()" in done.stderr) == (sys.version_info < (3, 13))


def test_a_slip_in_what_was_added_ends_the_replay_at_once_with_its_place(place):
    place.program("gan.py")
    place.record("gan.py")
    for shown, said in (("modle.weight", "NameError: name 'modle' is not defined"),
                        ("netD[0].wieght", "AttributeError: 'Linear' object has no attribute 'wieght'"),
                        ("torch.ones(2) @ torch.ones(3)", "RuntimeError: "),
                        ("[1, 2][epoch + 2]", "IndexError: list index out of range")):
        place.program("gan.py", ("        iters += 1\n", f"        iters += 1\n    print({shown})\n"))
        done = place.run("flor", "replay", "a", "--workers", "1", "--", sys.executable, "gan.py", code=1)
        assert f"flor: gan.py:61: {said}" in done.stdout + done.stderr


def test_a_recorded_program_that_ends_by_such_an_exception_is_replayed(place):
    ends = ("        iters += 1\n", "        iters += 1\n    if epoch == 4:\n        undefined()\n")
    place.program("gan.py", ends)
    assert "NameError: name 'undefined' is not defined" in place.record("gan.py", code=1)
    place.program("gan.py", ("    print(f\"after {iters}", "    print('weight', netD[0].weight.norm())\n    print(f\"after {iters}"), ends)
    said = place.replay("gan.py", "--workers", 2)
    assert ": identical" in said, said


def with_words(text):
    """The program mnist.py as one writes it with the package's words."""
    lines = text.replace("import torch\n", "import flor\nimport torch\n", 1).split("\n")
    at = next(index for index, line in enumerate(lines) if "enumerate(loader)" in line)
    end = next(index for index in range(at, len(lines)) if not lines[index])
    block = ["        " + line for line in lines[at:end]]
    block[0] = block[0].replace("enumerate(loader)", 'flor.loop("batch_idx", enumerate(loader))')
    lines[at:end] = ['    with flor.skip_block("train", model, optimizer) as block:', "        if block.step_into():", *block,
                     '                    flor.log("loss", loss.item())']
    at = next(index for index, line in enumerate(lines) if "for epoch in" in line)
    loop = ["    " + line for line in lines[at:at + 4]]
    loop[0] = loop[0].replace("range(1, args.epochs + 1)", 'flor.loop("epoch", range(1, args.epochs + 1))')
    lines[at:at + 4] = ["    with flor.checkpointing(model=model, optimizer=optimizer, scheduler=scheduler):", *loop]
    return "\n".join(lines).replace('    print(f"Test set:', '    flor.log("test_loss", test_loss)\n    flor.log("accuracy", accuracy)\n    print(f"Test set:')


def test_a_program_as_it_is_has_the_rows_and_the_bytes_of_one_with_words(place):
    shown, written = {}, {}
    place.program("mnist.py")
    place.write("mnist_words.py", with_words((place.folder / "mnist.py").read_text()))
    for name in ("mnist.py", "mnist_words.py"):
        place.run("flor", "record", "--name", name.split(".")[0], "--every", "1", "--", sys.executable, name, "--epochs", 8)
        log = place.run("flor", "log", name.split(".")[0], "loss", "test_loss", "accuracy", "--format", "jsonl").stdout
        shown[name] = set(place.rows_of(log))
        run = (place.folder / "store" / ".names" / str(os.geteuid()) / name.split(".")[0]).resolve().name
        written[name] = sum(path.stat().st_size for path in (place.folder / "store").glob(f"{run}/checkpoints/*/*.safetensors"))
    assert len(shown["mnist.py"]) > 20 and shown["mnist.py"] <= shown["mnist_words.py"]
    # The first epoch's have gradients, too: the program is not seen yet to clear them.
    assert 0 < written["mnist.py"] <= 1.05 * written["mnist_words.py"], written


SELF = '''"""Says what it is."""
import inspect, multiprocessing, os, pickle, sys
import loops

class Thing:
    pass

def double(x):
    return 2 * x

def main():
    import __main__
    print(__name__, __doc__, __file__ == os.path.abspath(sys.argv[0]), __spec__, __package__, sys.argv[1:], sys.path[0] == os.getcwd())
    print(type(__loader__).__name__, sorted(name for name in vars(__main__) if not name.startswith("__")))
    print(inspect.getsource(double), pickle.loads(pickle.dumps(Thing())).__class__ is Thing, double.__code__.co_firstlineno)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(double, [1, 2]))
    loops.train()
    print("done", flush=True)
    if len(sys.argv) > 1:
        raise ValueError("as asked") from KeyError("inner")

if __name__ == "__main__":
    main()
'''
LOOPS = '''
import torch
def train():
    net = torch.nn.Linear(1, 1)
    for epoch in range(2):
        for x in torch.ones(2, 1, 1):
            net(x).sum().backward()
        print("epoch", epoch)
'''


@pytest.mark.parametrize("words", [("train.py",), ("train.py", "a", "b"), ("-m", "train", "a")])
def test_a_recorded_program_says_what_it_says_without(place, words):
    place.write("train.py", SELF)
    place.write("loops.py", LOOPS)
    without = place.run(sys.executable, *words, code=None, PYTHONPATH="")
    done = place.run("flor", "record", "--name", "a", "--", sys.executable, *words, code=None, PYTHONPATH="")
    said = re.sub(r"^flor: .*\n", "", done.stderr, flags=re.M)
    if words[0] == "-m":  # where Python itself names its spec and its loader
        assert (done.returncode, done.stdout.splitlines()[2:]) == (without.returncode, without.stdout.splitlines()[2:])
    else:
        assert (done.returncode, done.stdout, said) == (without.returncode, without.stdout, without.stderr)
    assert place.run("flor", "show", "a").stdout.count("epoch") > 0


def test_what_flor_cannot_rewrite_runs_as_it_is(place):
    place.write("train.py", "import sys\nprint(sys.argv)\nraise SystemExit(7)\n")
    done = place.run("flor", "record", "--", sys.executable, "train.py", "x", code=7)
    assert done.stdout == "['train.py', 'x']\n" and "nothing was recorded" in done.stderr
    place.write("broken.py", "for (\n")
    without, recorded = (place.run(*words, sys.executable, "broken.py", code=1).stderr for words in ((), ("flor", "record", "--")))
    assert "SyntaxError" in recorded and without in recorded
    place.write("flor.py", "value = 3\n")
    place.write("train.py", "import flor\nprint(flor.value)\n")
    done = place.run("flor", "record", "--", sys.executable, "train.py", PYTHONPATH="")
    assert done.stdout == "3\n"


def test_a_site_s_own_start_up_file_is_executed_as_well(place):
    place.write("site/sitecustomize.py", "import os\nos.environ['SITE'] = 'was here'\n")
    place.write("train.py", "import os, sitecustomize\nprint(os.environ['SITE'], os.path.basename(os.path.dirname(sitecustomize.__file__)))\n")
    done = place.run("flor", "record", "--", sys.executable, "train.py", PYTHONPATH=str(place.folder / "site"))
    assert done.stdout == "was here site\n"


def test_it_can_be_switched_off(place):
    place.program("gan.py")
    assert "nothing was recorded" in place.record("gan.py", FLOR_HANDS_FREE="0")


LINKED = '''
import importlib
import tasks.base
importlib.import_module("tasks." + "".join(["cur", "rent"])).fit()
'''
TASK = '''
import torch
def fit():
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for epoch in range(3):
        for x in torch.randn(2, 4, 3):
            optimizer.zero_grad()
            net(x).sum().backward()
            optimizer.step()
        print("bias", net.bias.item())
'''


def test_a_module_that_a_link_names_is_recorded(place):
    (place.folder / "tasks").mkdir()
    place.write("tasks/__init__.py", "")
    place.write("tasks/base.py", TASK)
    (place.folder / "tasks" / "current.py").symlink_to("base.py")
    place.write("train.py", LINKED)
    assert "3 iterations of epoch" in place.record("train.py")
