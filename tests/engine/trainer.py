"""A recording trainer: `rules_program` of tests/rules, a checkpoint at every opportunity, no LibTorch; on a disk that
fails on demand (disk.cpp)."""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rules"))
from harness import end_agent, printed_rows  # noqa: E402,F401

MATERIALIZERS = ["inline", "thread", "fork", "fork-batch"]
EPOCHS = 6
CHECKPOINTS = 2 * EPOCHS + 1  # blocks, iterations, the loop's entry


def arguments(usage, **options):
    parser = argparse.ArgumentParser(description=usage, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, otherwise in options.items():
        parser.add_argument(f"--{name}", type=type(otherwise), default=otherwise)
    for name in ("program", "bin", "disk"):
        parser.add_argument(name)
    return parser.parse_args()


class Trainer:
    """One recording in a store of its own."""

    def __init__(self, asked, place, materializer):
        self.program, self.bin, self.disk = os.path.realpath(asked.program), os.path.abspath(asked.bin), os.path.realpath(asked.disk)
        self.materializer = materializer
        self.scenario = "train"  # of rules_program
        self.directory = tempfile.mkdtemp(prefix="recording-", dir=place)
        self.trace = os.path.join(self.directory, "trace")
        # One agent serves all: its socket lies beside the stores.
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("FLOR_", "SLURM_"))}
        self.environment.update(FLOR_STORE=os.path.join(self.directory, "store"), FLOR_MATERIALIZER=materializer,
                                FLOR_AGENT_SOCKET=os.path.join(place, "agent.sock"), XDG_CONFIG_HOME=self.directory)

    def command(self):
        return [self.program, self.scenario, "--guard", f"--epochs={EPOCHS}", f"--trace={self.trace}"]

    def start(self, fault=None, wrapper=()):
        recording = {**self.environment, "FLOR_RECORD": "1", "FLOR_EVERY": "1"}
        if fault:
            recording.update(LD_PRELOAD=self.disk, FLOR_TEST_DISK=fault, FLOR_TEST_DISK_COUNT=self.path("count"))
        return subprocess.Popen([*wrapper, *self.command()], env=recording, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, cwd=self.directory, start_new_session=True)

    def record(self, fault=None, wrapper=()):
        """Return code, stderr."""
        process = self.start(fault, wrapper)
        _, err = process.communicate(timeout=300)
        return process.returncode, err

    def path(self, name):
        return os.path.join(self.directory, name)

    def flor(self, *words):
        return subprocess.run([os.path.join(self.bin, "flor"), *words], env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.directory, timeout=120)

    def run(self):
        """The run's directory, or None when none was begun."""
        store = self.environment["FLOR_STORE"]
        names = [name for name in os.listdir(store) if not name.startswith(".")] if os.path.isdir(store) else []
        runs = [name for name in names if os.path.exists(os.path.join(store, name, "run.json"))]
        return os.path.join(store, runs[0]) if runs else None

    def text(self, name):
        with open(os.path.join(self.run(), name)) as file:
            return file.read()

    def damages(self):
        """What `flor check` finds."""
        return json.loads(self.flor("check", os.path.basename(self.run()), "--json").stdout)["damages"]

    def checkpoints(self):
        """Files that have their final name, below checkpoints/."""
        top = os.path.join(self.run(), "checkpoints")
        return {os.path.relpath(os.path.join(directory, name), top) for directory, _, names in os.walk(top)
                for name in names if not name.startswith(".")}

    def entered(self):
        """How many epochs have entered their block."""
        if not os.path.exists(self.trace):
            return 0
        with open(self.trace) as file:
            return sum(line.startswith("train ") for line in file)

    def wait_for_children(self, seconds=60):
        """A child that outlives its trainer finishes what it writes."""
        deadline = time.monotonic() + seconds
        while any(pid.isdigit() and self.is_ours(f"/proc/{pid}") for pid in os.listdir("/proc")):
            assert time.monotonic() < deadline, "a child of the trainer does not end"
            time.sleep(0.005)

    def is_ours(self, process):
        try:
            return os.readlink(process + "/cwd") == self.directory and os.readlink(process + "/exe") == self.program
        except OSError:  # it has ended
            return False

    def clean(self):
        shutil.rmtree(self.directory, ignore_errors=True)


def kill(process):
    try:
        os.kill(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def report(problems, total):
    print("\n".join(problems[:20]))
    print(f"{total - len(problems)} passed, {len(problems)} failed")
    sys.exit(1 if problems else 0)
