"""What `__main__.py` compares: the program plain, under Flor for Slurm, and under the original Flor.

Each of the two systems has the same four functions. `ways` names how it records; `record` runs the program so, `left`
counts what a recording left on the disk, and `replay` asks it a question.
"""
import collections
import compileall
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from overhead import QUIET

PROGRAM = pathlib.Path(__file__).with_name("program.py")
TRAIN = "        train(net, loader, optimizer, epoch)\n"
WORDS = [  # what the README of the original asks for
    ("import torch\n", "import flor\nimport torch\n"),
    ("in range(args.epochs)", "in flor.it(range(args.epochs))"),
    (TRAIN, f"        if flor.SkipBlock.step_into():\n    {TRAIN}        flor.SkipBlock.end(net, optimizer)\n"),
]
OUTER = (TRAIN, TRAIN + '        print("bias", net[-1].bias.abs().sum().item())\n')
INNER = ("        loss.backward()\n", '        loss.backward()\n        print("norm", net[-1].weight.grad.norm().item())\n')
PROBED = ("step_into()", "step_into(probed=True)")  # so a replay by the original executes the block
LOSS = re.compile(r"^(epoch \d+ step \d+) loss: (\S+)$", re.MULTILINE)

# How long a run took, its largest process in bytes, and what it printed.
Ran = collections.namedtuple("Ran", "seconds peak output")
# When a replay had all rows; when its verdict stood (None: it proves nothing), which; and of the recorded losses that it
# computed again how many came out otherwise.
Replayed = collections.namedtuple("Replayed", "seconds proved verdict losses wrong")


class Failed(Exception):
    """A system could not do it: the text says how."""


def program(folder, *edits):
    """Writes the program with these edits, each at one place, and returns its path."""
    text = PROGRAM.read_text()
    for old, new in edits:
        if text.count(old) != 1:
            raise SystemExit(f"{PROGRAM}: {old!r} has to stand there once")
        text = text.replace(old, new)
    folder.mkdir(parents=True)
    (folder / "program.py").write_text(text)
    return folder / "program.py"


def environment(**more):
    # Both find their modules compiled, but for the first run.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FLOR_", "PYTHONDONTWRITEBYTECODE"))}
    return kept | QUIET | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} | more


def start(command, folder, variables, name="run", stdout=None):
    """Starts a process whose output goes to files of `folder`."""
    begun = time.monotonic()
    with open(folder / f"{name}.out", "w") as out, open(folder / f"{name}.err", "w") as err:
        process = subprocess.Popen(command, env=variables, stdout=stdout or out, stderr=err, text=True)
    process.begun, process.files = begun, (folder / f"{name}.out", folder / f"{name}.err")
    return process


def end(process):
    """Waits for a process; its peak includes that of the children it waited for."""
    _, status, usage = os.wait4(process.pid, 0)
    seconds, process.returncode = time.monotonic() - process.begun, os.waitstatus_to_exitcode(status)
    out, err = (path.read_text() for path in process.files)
    if process.returncode != 0:
        raise Failed(last_line(err) or f"exit code {process.returncode}")
    return Ran(seconds, usage.ru_maxrss * 1024, out)


def last_line(text):
    return (text.strip().splitlines() or [""])[-1].replace("|", "/")


def together(*processes):
    """Waits for processes that were started at the same time, and ends the others where one fails."""
    try:
        ran = [end(process) for process in processes]
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
    return Ran(max(one.seconds for one in ran), max(one.peak for one in ran), "".join(one.output for one in ran))


def bytes_in(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def complete(found, wanted):
    if found != wanted:
        raise Failed(f"{found} of {wanted} rows")


class Plain:
    def __init__(self, folder):
        self.program = program(folder / "plain")

    def run(self, folder, arguments):
        return together(start([sys.executable, self.program, *arguments], folder, environment()))


class FlorForSlurm:
    title = "Flor for Slurm"
    ways = ("default", "every")

    def __init__(self, folder, binaries):
        self.flor = pathlib.Path(binaries).resolve() / "flor"
        self.program = program(folder / "own")
        self.probed = {"outer": program(folder / "own-outer", OUTER), "inner": program(folder / "own-inner", INNER)}

    def record(self, folder, way, arguments):
        every = ["--every", "1"] if way == "every" else []
        command = [self.flor, "record", "--name", "bench", *every, "--", sys.executable, self.program, *arguments]
        return together(start(command, folder, self.variables(folder)))

    def left(self, folder):
        """Epochs that have a checkpoint, of the block or of the whole iteration, and bytes."""
        names = [path.name for path in (folder / "store").rglob("*.safetensors")]
        return len({found[0] for name in names if (found := re.search(r"epoch=\d+", name))}), bytes_in(folder / "store")

    def replay(self, folder, question, workers, arguments, wanted, losses):
        """All rows are there when all units are done; the command then proves them, and ends with the verdict."""
        command = [self.flor, "replay", "bench", "--again", "--json", "--launcher", "local", "--workers", str(workers),
                   "--", sys.executable, self.probed[question], *arguments]
        process = start(command, folder, self.variables(folder), "replay", subprocess.PIPE)
        rows, verdict = None, None
        with process.stdout:
            for event in map(json.loads, process.stdout):
                if rows is None and event["event"] == "progress" and event["done"] == event["units"]:
                    rows = time.monotonic() - process.begun
                if event["event"] == "verdict":
                    verdict, proved = event, time.monotonic() - process.begun
        process.wait()
        if verdict is None:
            raise Failed(last_line(process.files[1].read_text()))
        if verdict["verdict"] == "differs":
            raise Failed(f"differs: {'; '.join(verdict['reasons'])}")
        complete(sum(len(self.rows(folder, probe["name"])) for probe in verdict["probes"]), wanted)
        return Replayed(rows or proved, proved, verdict["verdict"], verdict["values"], len(verdict["differences"]))

    def rows(self, folder, name):
        command = [self.flor, "log", "bench", "--json", "--names", name]
        return subprocess.run(command, env=self.variables(folder), stdout=subprocess.PIPE, check=True).stdout.splitlines()

    def variables(self, folder):
        return environment(FLOR_STORE=str(folder / "store"))


class Original:
    title = "original"
    ways = ("default", "every", "forked")

    def __init__(self, folder, package):
        """Its rule is made to take every checkpoint in a copy, where the constant that it compares with is 0."""
        for way in ("default", "every"):
            shutil.copytree(pathlib.Path(package) / "flor", folder / way / "flor")
        rule = folder / "every" / "flor" / "skipblock" / "skip_block.py"
        text, changed = re.subn(r"^CUTOFF_RATIO = 15$", "CUTOFF_RATIO = 0", rule.read_text(), flags=re.MULTILINE)
        if changed != 1:
            raise SystemExit(f"{rule}: this is not the code of VLDB 2021: it has no CUTOFF_RATIO = 15")
        rule.write_text(text)
        compileall.compile_dir(folder, quiet=1)  # else the first run would
        self.packages = {"default": folder / "default", "every": folder / "every", "forked": folder / "every"}
        self.program = program(folder / "original", *WORDS)
        end = "        flor.SkipBlock.end(net, optimizer)\n"
        outer = (end, end + OUTER[1].removeprefix(TRAIN))
        self.probed = {"outer": program(folder / "original-outer", *WORDS, outer),
                       "inner": program(folder / "original-inner", *WORDS, INNER, PROBED)}

    def record(self, folder, way, arguments):
        """`maxb:4`: the records of one epoch are written by a fork each, and not all of them at the end."""
        (folder / "store").mkdir()
        return together(self.start(folder, self.program, way, arguments, *["maxb:4"] * (way == "forked")))

    def left(self, folder):
        index = folder / "store" / ".flor" / "bench" / "latest.json"
        if not index.exists():
            raise Failed("it left no index")
        records = map(json.loads, index.read_text().splitlines())
        saved = {one["global_key"] for one in records if str(one.get("value", "")).endswith(".pkl")}
        return len(saved), bytes_in(folder / "store")

    def replay(self, folder, question, workers, arguments, wanted, losses):
        parts = [["mode:reexec", *([f"pid:{pid}", f"ngpus:{workers}"] if workers > 1 else [])] for pid in range(workers)]
        ran = together(*(self.start(folder, self.probed[question], "default", arguments, *part) for part in parts))
        complete(len(re.findall(r"^(bias|norm) ", ran.output, re.MULTILINE)), wanted)
        shown = LOSS.findall(ran.output)
        return Replayed(ran.seconds, None, "", len(shown), sum(losses[at] != loss for at, loss in shown))

    def start(self, folder, path, way, arguments, *settings):
        flags = ",".join(["name:bench", f"rd:{folder / 'store'}", *settings])
        return start([sys.executable, path, f"--flor={flags}", *arguments], folder,
                     environment(PYTHONPATH=str(self.packages[way])), "-".join(settings[1:]).replace(":", "") or "run")
