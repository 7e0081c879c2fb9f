"""What these tests share: `flor record` and `flor replay` as a user types them, in a folder and a store of the test's own."""
import collections
import compileall
import json
import os
import pathlib
import subprocess
import sys

import pytest


def pytest_addoption(parser):
    parser.addoption("--build", required=True, help="the build folder: bin/flor and python/flor")


def pytest_collection_modifyitems(config, items):
    """Takes every sixth case of the tests that have three or more, in files that take minutes: each process that imports torch takes a
    second, and there are thousands. FLOR_ALL_CASES=1, and who asks for tests by name, gets all."""
    if os.environ.get("FLOR_ALL_CASES") or config.option.keyword or any("::" in word for word in config.args):
        return
    cases = collections.defaultdict(list)
    for item in items:
        if os.path.basename(item.path) in LONG and hasattr(item, "callspec"):
            cases[item.path, item.originalname].append(item)
    left_out = {item for some in cases.values() if len(some) >= 3 for at, item in enumerate(some) if at % 6}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def pytest_configure(config):
    package = os.path.join(config.getoption("--build"), "python")
    sys.path.insert(0, package)
    compileall.compile_dir(package, quiet=2)  # once, and not in each of the programs, which leave no compiled files behind


HERE = pathlib.Path(__file__).parent
LONG = {f"{name}_test.py" for name in ("steps", "replay", "carried", "reached", "uses", "room", "while", "held", "unseen", "seen", "overlooked", "bound",
                                       "interrupts", "layouts", "gradients", "free", "ordinary", "loops", "watches", "unknown", "inside", "unchanged")}
PROGRAMS = {name: HERE / "programs" / name for name in ("arrays.py", "large.py")}
PROGRAMS.update({name: HERE.parent.parent / "examples/python" / name for name in ("classifier.py", "cnn.py", "mnist.py", "gpt.py", "finetune.py", "gan.py",
                                                                                "vae.py")})


def rows_of(text):
    """(loops, name, value) of each row of JSON lines, numbers as the texts that they are."""
    rows = []
    for line in text.splitlines():
        row = json.loads(line, parse_float=str, parse_int=str)
        if "value" in row:
            name, value = row.pop("name"), row.pop("value")
            loops = tuple(sorted(item for item in row.items() if not item[0].startswith("@") and item[0] != "run"))
            rows.append((loops, name, json.dumps(value)))
    return rows


class Place:
    def __init__(self, folder, build):
        self.folder = folder
        self.hook = os.path.join(build, "python", "flor-hook")
        # In huge pages the heap has half the page faults: an import of torch takes a sixth less.
        self.environment = {**os.environ, "FLOR_STORE": str(folder / "store"), "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1",
                            "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
                            "PYTHONPATH": os.path.join(build, "python"), "PYTHONDONTWRITEBYTECODE": "1",
                            "PATH": os.path.join(build, "bin") + os.pathsep + os.environ["PATH"]}

    rows_of = staticmethod(rows_of)

    def run(self, *words, code=0, **environment):
        done = subprocess.run([str(word) for word in words], cwd=self.folder, env={**self.environment, **environment},
                              capture_output=True, text=True, check=False, timeout=300)
        assert code is None or done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return name

    def program(self, name, *edits, to=None):
        """Copies a program, with (old, new) replaced, each of which must be there."""
        text = PROGRAMS[name].read_text()
        for old, new in edits:
            assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {name}"
            text = text.replace(old, new)
        return self.write(to or name, text)

    def record(self, program, *flags, code=0, **environment):
        """Records a program with checkpoints wherever possible. Returns what was said."""
        return self.run("flor", "record", "--name", "a", "--every", "1", *flags, "--", sys.executable, program, code=code,
                        **environment).stderr

    def replay(self, program, *flags, code=0):
        return self.run("flor", "replay", "a", *flags, "--", sys.executable, program, code=code).stdout

    def plain(self, program):
        """Rows of a run outside Flor."""
        self.run(sys.executable, program, FLOR_LOG=str(self.folder / "plain.jsonl"))
        rows = rows_of((self.folder / "plain.jsonl").read_text())
        (self.folder / "plain.jsonl").unlink()
        return rows

    def joined(self):
        return rows_of(self.run("flor", "log", "a", "--format", "jsonl").stdout)


@pytest.fixture
def place(tmp_path, pytestconfig):
    return Place(tmp_path, os.path.abspath(pytestconfig.getoption("--build")))
