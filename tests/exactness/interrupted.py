"""Ends a recording twice, at places that a seed chooses, resumes it each time, and replays it with 1, 3 and 8 workers,
of 3 with one that is killed (--all: of each number, with and without). Every value equals, bit for bit, that of one plain run that nobody disturbed.

    interrupted.py NAME BIN VARIANTS [--all] [SEED]
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from exactness import DEVICE, INNER, OUTER, RECORDED, compare, logged_rows, printed_rows, run, verdict_of

EPOCHS = 8
# Epochs of a tenth of a second or two.
ARGUMENTS = {
    "char_lm": ["--steps", "20", "--hidden", "64", "--batch", "8", "--length", "32", "--log-every", "4"],
    "mnist": ["--samples", "400", "--batch", "30", "--width", "8", "--log-every", "4"],
    "finetune": ["--steps", "20", "--width", "96", "--depth", "2", "--batch", "16", "--log-every", "4"],
}


class Recording:
    """`flor record` in the background."""

    def __init__(self, command, store):
        self.process = subprocess.Popen(command, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.store = store

    def run_directory(self):
        runs = [entry.path for entry in os.scandir(self.store) if not entry.name.startswith(".")]
        return runs[0] if runs and os.path.exists(os.path.join(runs[0], "run.json")) else None

    def reached(self, epoch):
        path = self.run_directory()
        timeline = path and os.path.join(path, "timeline.jsonl")
        if not timeline or not os.path.exists(timeline):
            return False
        with open(timeline) as file:
            return any(f'"at":"epoch={value}"' in line for line in file for value in range(epoch, EPOCHS))

    def end(self, epoch, how):
        """Sends the signal when the epoch has ended; False where the program was quicker."""
        while not self.reached(epoch):
            if self.process.poll() is not None:
                return False
            time.sleep(0.002)
        with open(os.path.join(self.run_directory(), "run.json")) as file:
            pid = json.load(file)["pid"]
        try:
            os.kill(pid, how)
        except ProcessLookupError:
            pass
        self.process.communicate()
        return self.process.returncode != 0


def record_with_interruptions(flor, store, program, dice):
    """The run's id, and how often it was ended."""
    command = [flor, "record", "--every", "1"]
    ended = 0
    for epoch in (dice.randint(0, 2), dice.randint(3, 5)):
        recording = Recording(command + ["--"] + program, store)
        if not recording.end(epoch, dice.choice([signal.SIGKILL, signal.SIGTERM])):
            break
        ended += 1
        command = [flor, "record", "--every", "1", "--resume", os.path.basename(recording.run_directory())]
    else:
        run(command + ["--"] + program)
    if ended == 0:
        sys.exit(f"{program[0]}: it was never ended; let its epochs take longer")
    (run_id,) = [name for name in os.listdir(store) if not name.startswith(".")]
    with open(os.path.join(store, run_id, "run.json")) as file:
        manifest = json.load(file)
    if (manifest["status"], manifest["attempt"]) != ("completed", ended):
        sys.exit(f"{program[0]}: {manifest['status']} in attempt {manifest['attempt']}, ended {ended} times")
    return run_id, ended


def workers_of(replay):
    """Pids of the replay's workers."""
    found = subprocess.run(["pgrep", "-P", str(replay)], text=True, stdout=subprocess.PIPE).stdout.split()
    return [int(pid) for pid in found if "redis" not in open(f"/proc/{pid}/comm").read()]


def replay(flor, run_id, workers, program, kill):
    """With `kill` one of its workers is killed as soon as it is there."""
    command = [flor, "replay", run_id, "--again", "--launcher", "local", "--workers", str(workers), "--"] + program
    process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    while kill and process.poll() is None:
        try:
            found = workers_of(process.pid)
            if len(found) == workers:
                time.sleep(0.4)
                os.kill(found[0], signal.SIGKILL)
                break
        except (OSError, ProcessLookupError):
            pass
        time.sleep(0.002)
    output = process.communicate()[0]
    # The only worker of a replay, killed before its first unit, is one that never got on.
    if process.returncode != 0 and not (kill and workers == 1 and "every worker has gone" in output):
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}\n{output}")
    return process.returncode == 0


def main():
    name, bin_dir, variants = sys.argv[1:4]
    flags = sys.argv[4:]
    replays, suffixes = [(1, False), (3, True), (8, False)], ["", ".complete"]
    if "--all" in flags:
        flags.remove("--all")
        replays += [(1, True), (8, True), (3, False)]
        suffixes.append(".inside")
    seed = int(flags[0]) if flags else random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    dice = random.Random(seed)
    flor = os.path.join(bin_dir, "flor")
    for variable in ("FLOR_REDIS", "SLURM_CONF"):
        os.environ.pop(variable, None)
    arguments = ["--epochs", str(EPOCHS)] + ARGUMENTS[name] + DEVICE
    names, probes = RECORDED[name], [INNER[name], OUTER[name]]
    plain = run([os.path.join(variants, name + ".probed")] + arguments)
    os.environ["FLOR_STEP_SECONDS"] = "0"
    for suffix in suffixes:
        store = os.environ["FLOR_STORE"] = tempfile.mkdtemp(prefix="flor-interrupted-")
        try:
            program = os.path.join(variants, name + suffix) if suffix else os.path.join(bin_dir, name)
            run_id, ended = record_with_interruptions(flor, store, [program] + arguments, dice)
            what = f"{name}{suffix}, ended {ended} times"
            compare(what, printed_rows(plain, names), logged_rows(run([flor, "log", run_id, "--format", "jsonl"]), names))
            for workers, kill in replays:
                if not replay(flor, run_id, workers, [os.path.join(variants, name + suffix + ".probed")] + arguments, kill):
                    continue
                if verdict_of(store, run_id)["verdict"] != "identical":
                    sys.exit(f"{what}: {verdict_of(store, run_id)}")
                compare(f"{what}; {workers} workers{', one killed' if kill else ''}", printed_rows(plain, names + probes),
                        logged_rows(run([flor, "log", run_id, "--format", "jsonl"]), names + probes))
        finally:
            shutil.rmtree(store, ignore_errors=True)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
