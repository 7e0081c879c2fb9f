"""A recording trainer under strace: `rules_program` of tests/rules, a checkpoint at every opportunity, no LibTorch."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rules"))
from harness import end_agent, json_lines, printed_rows  # noqa: E402,F401

MATERIALIZERS = ["inline", "thread", "fork", "fork-batch"]
EPOCHS = 6
# What the chain is made of, from the first directory to the last sync.
CALLS = ["openat", "mkdir", "pwrite64", "write", "fsync", "rename", "renameat2", "link", "unlink", "close", "clone",
         "read"]


class Trainer:
    """One recording in a store of its own."""

    def __init__(self, program, bin_directory, place, materializer):
        self.program, self.bin, self.materializer = os.path.realpath(program), bin_directory, materializer
        self.directory = tempfile.mkdtemp(prefix="recording-", dir=place)
        self.trace = os.path.join(self.directory, "trace")
        # One agent serves all: its socket lies beside the stores.
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("FLOR_", "SLURM_"))}
        self.environment.update(FLOR_STORE=os.path.join(self.directory, "store"), FLOR_MATERIALIZER=materializer,
                                FLOR_AGENT_SOCKET=os.path.join(place, "agent.sock"), XDG_CONFIG_HOME=self.directory)

    def command(self):
        return [self.program, "train", "--guard", f"--epochs={EPOCHS}", f"--trace={self.trace}"]

    def start(self, strace=()):
        recording = {**self.environment, "FLOR_RECORD": "1", "FLOR_EVERY": "1"}
        command = (["strace", "-f", "-qq", *strace] if strace else []) + self.command()
        return subprocess.Popen(command, env=recording, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                cwd=self.directory, start_new_session=True)

    def record(self, strace=()):
        """Return code, stdout, stderr."""
        process = self.start(strace)
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    def flor(self, *words):
        return subprocess.run([os.path.join(self.bin, "flor"), *words], env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.directory, timeout=120)

    def run(self):
        """The run's directory, or None when none was begun."""
        store = self.environment["FLOR_STORE"]
        names = [name for name in os.listdir(store) if not name.startswith(".")] if os.path.isdir(store) else []
        runs = [name for name in names if os.path.exists(os.path.join(store, name, "run.json"))]
        return os.path.join(store, runs[0]) if runs else None

    def checkpoints(self):
        """Files that have their final name, below checkpoints/."""
        top = os.path.join(self.run(), "checkpoints")
        return {os.path.relpath(os.path.join(directory, name), top) for directory, _, names in os.walk(top)
                for name in names if not name.startswith(".")}

    def entered(self):
        """The epochs whose block was entered."""
        if not os.path.exists(self.trace):
            return 0
        with open(self.trace) as file:
            return sum(line.startswith("train ") for line in file)

    def wait_for_children(self, seconds=60):
        """A child that outlives its trainer finishes what it writes."""
        deadline = time.monotonic() + seconds
        while self.children():
            assert time.monotonic() < deadline, "a child of the trainer does not end"
            time.sleep(0.005)

    def children(self):
        return [pid for pid in os.listdir("/proc") if pid.isdigit() and self.is_ours(f"/proc/{pid}")]

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
