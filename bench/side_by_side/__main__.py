"""Flor for Slurm beside the original Flor (Python, VLDB 2021): what a recording costs, and what its replays take.

    bench/side_by_side --flor-vldb FOLDER [--workloads cnn,adam13,frozen51] [--epochs N] [--steps N] [--repeats 3]
                       [--json FILE] BIN

BIN holds `flor`, FOLDER the package `flor` of the original (the branch `vldb` of https://github.com/ucbrise/flor).
This Python needs PyTorch, and what the original imports: cloudpickle, pandas, astor, astunparse.

The program is `program.py`. Flor for Slurm gets it as it is. For the original its words `flor.it`,
`flor.SkipBlock.step_into()` and `flor.SkipBlock.end(net, optimizer)` are added, and nothing else.

A round runs the program plain, and recorded in each way, one after the other. Each round has another order. What is not
on the disk yet is written between two runs, outside of both times. The ways are: by default; with a checkpoint at every
epoch; for the original this also with a fork at every epoch (`maxb:4`), because by default it keeps all checkpoints in
memory until the end. Overheads are paired with the plain run of the same round: median, lowest and highest. Extra memory
is that of the largest process: where checkpoints are kept in memory, it grows with the number of epochs.

The recordings of the last round are asked two questions: a print at the end of the epoch (outer probe, one process: times
as fast as plain), and one inside the step loop (inner probe, two processes that start together: share of the plain time).
A replay is repeated while that takes less than 10 s. It ends when all rows are there. Flor for Slurm then proves them by
execution; that end is shown apart, and the original has none. A replay with too few rows has failed. The losses that the
inner probe's replay prints again are compared with the recorded ones.

All trains on one thread. The script prints a table in Markdown; FILE is added to, with all samples.
"""
import argparse
import collections
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from overhead import add  # noqa: E402
from systems import LOSS, Failed, FlorForSlurm, Original, Plain

Workload = collections.namedtuple("Workload", "title epochs steps")
WORKLOADS = {
    "cnn": Workload("small CNN, 3 MB", 12, 24),
    "adam13": Workload("13 M parameters with Adam, 158 MB", 4, 37),
    "frozen51": Workload("51 M frozen + 0.5 M head, 208 MB", 6, 16),
}
REPEAT_WITHIN = 10  # seconds
QUESTIONS = {"outer": 1, "inner": 2}  # and processes
ROWS = [  # title, way, what of it
    ("recording, by default", "default", "overhead"),
    ("– epochs with a checkpoint", "default", "checkpoints"),
    ("– bytes written", "default", "bytes"),
    ("– extra memory", "default", "memory"),
    ("with a checkpoint at every epoch", "every", "overhead"),
    ("– epochs with a checkpoint", "every", "checkpoints"),
    ("– bytes written", "every", "bytes"),
    ("– extra memory", "every", "memory"),
    ("the same, each written when taken", "forked", "overhead"),
    ("– extra memory", "forked", "memory"),
    ("outer-probe replay, by default", "default", "outer"),
    ("– with the proof", "default", "outer proved"),
    ("outer-probe replay, a checkpoint at every epoch", "every", "outer"),
    ("– with the proof", "every", "outer proved"),
    ("inner-probe replay, 2 workers, by default", "default", "inner"),
    ("– with the proof", "default", "inner proved"),
    ("– losses that came out otherwise", "default", "inner wrong"),
    ("inner-probe replay, 2 workers, a checkpoint at every epoch", "every", "inner"),
    ("– with the proof", "every", "inner proved"),
    ("– losses that came out otherwise", "every", "inner wrong"),
]


def say(text):
    print(text, file=sys.stderr, flush=True)


def attempt(what, action):
    """What the action returns, or None and how it failed."""
    try:
        done, failure = action(), None
    except Failed as error:
        done, failure = None, str(error)
    say(f"  {what}: {failure or f'{done.seconds:.2f} s'}")
    return done, failure


class Bench:
    """One workload: what was measured is in `plain` and `found`."""

    def __init__(self, name, asked, plain, systems, folder):
        self.name, self.systems, self.folder, self.repeats = name, systems, folder, asked.repeats
        self.epochs, self.steps = asked.epochs or WORKLOADS[name].epochs, asked.steps or WORKLOADS[name].steps
        self.arguments = ["--size", name, "--epochs", str(self.epochs), "--steps", str(self.steps)]
        self.program, self.losses = plain, {}
        self.plain = {"seconds": [], "peaks": []}
        self.found = {
            system.title: {way: {"seconds": [], "peaks": [], "replays": {}} for way in system.ways} for system in systems
        }

    def measure(self):
        say(f"{self.name}: {self.epochs} epochs of {self.steps} steps")
        turns = [(None, "plain")] + [(system, way) for system in self.systems for way in system.ways]
        attempt("warming up", lambda: self.program.run(self.new("warm"), ["--size", self.name, "--epochs", "1"]))
        for round_ in range(self.repeats):
            first = 2 * round_ % len(turns)
            for system, way in turns[first:] + turns[:first]:
                self.record(system, way) if system else self.run_plain()
        for system in self.systems:
            for way in ("default", "every"):
                for question, workers in QUESTIONS.items():
                    self.replay(system, way, question, workers)

    def run_plain(self):
        ran, failure = attempt("plain", lambda: self.program.run(self.new("plain"), self.arguments))
        if failure:
            raise SystemExit(f"the program itself fails: {failure}")
        self.plain["seconds"].append(ran.seconds)
        self.plain["peaks"].append(ran.peak)
        self.losses = dict(LOSS.findall(ran.output))

    def record(self, system, way):
        into, store = self.found[system.title][way], self.new(f"{system.title}-{way}")

        def recording():
            ran = system.record(store, way, self.arguments)
            into["checkpoints"], into["bytes"] = system.left(store)
            return ran

        ran, failure = attempt(f"{system.title}, {way}", recording)
        if failure:
            into["failed"] = failure
            return
        into["seconds"].append(ran.seconds)
        into["peaks"].append(ran.peak)

    def replay(self, system, way, question, workers):
        into, rows = self.found[system.title][way], self.epochs * (self.steps if question == "inner" else 1)
        samples, spent, store = [], 0, self.folder / f"{self.name}-{system.title}-{way}"
        while "failed" not in into and len(samples) < self.repeats and (not samples or spent < REPEAT_WITHIN):
            done, failure = attempt(
                f"{system.title}, {way}, {question} probe",
                lambda: system.replay(store, question, workers, self.arguments, rows, self.losses),
            )
            if failure:
                into["replays"][question] = {"failed": failure}
                return
            samples.append(done._asdict())
            spent += done.proved or done.seconds
        into["replays"][question] = {"samples": samples}

    def new(self, name):
        """An empty folder. What earlier runs left is removed or on the disk, and does not slow down the next one."""
        folder = self.folder / f"{self.name}-{name}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        os.sync()
        return folder

    def sample(self):
        return {"workload": self.name, "epochs": self.epochs, "steps": self.steps, "plain": self.plain, **self.found}

    def head(self):
        return f"{WORKLOADS[self.name].title}; {self.epochs} epochs, plain {statistics.median(self.plain['seconds']):.1f} s"

    def cell(self, system, way, what):
        """The text of a cell of the table."""
        if way not in self.found[system.title]:
            return "as above"
        found = self.found[system.title][way]
        question = what.split()[0]
        replay = found["replays"].get(question, {})
        if failed := found.get("failed") or replay.get("failed"):
            return f"fails: {failed}"
        if question in QUESTIONS:
            return self.replayed(replay["samples"], *what.split())
        if what == "overhead":
            shares = [100 * (after / before - 1) for after, before in zip(found["seconds"], self.plain["seconds"])]
            return f"{statistics.median(shares):.1f} % ({min(shares):.1f} – {max(shares):.1f})"
        if what == "memory":
            return size(max(0, statistics.median(found["peaks"]) - statistics.median(self.plain["peaks"])))
        return size(found["bytes"]) if what == "bytes" else f"{found['checkpoints']} of {self.epochs}"

    def replayed(self, samples, question, which="seconds"):
        if which == "wrong":
            return f"{max(one['wrong'] for one in samples)} of {samples[0]['losses']}"
        if which == "proved" and samples[0]["verdict"] != "identical":
            return samples[0]["verdict"] or "no proof"
        plain, taken = statistics.median(self.plain["seconds"]), statistics.median(one[which] for one in samples)
        return f"{plain / taken:.1f} ×" if question == "outer" else f"{taken / plain:.2f}"


def size(count):
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def table(benches, systems):
    columns = [(bench, system) for bench in benches for system in systems]
    heads = [bench.head() if system is systems[0] else "" for bench, system in columns]
    lines = [["", *heads], ["---"] * (1 + len(columns)), ["", *(system.title for _, system in columns)]]
    lines += [[title, *(bench.cell(system, way, what) for bench, system in columns)] for title, way, what in ROWS]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flor-vldb", required=True, metavar="FOLDER")
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json")
    parser.add_argument("bin")
    asked = parser.parse_args()
    names = asked.workloads.split(",")
    if unknown := set(names) - set(WORKLOADS):
        parser.error(f"--workloads: there is no {', '.join(sorted(unknown))}; there are {', '.join(WORKLOADS)}")
    if asked.epochs is not None and asked.epochs < 3:
        parser.error("--epochs: at least 3; the original takes as many epochs as workers for another question")
    with tempfile.TemporaryDirectory(prefix="flor-bench-") as name:
        folder = pathlib.Path(name)
        plain, systems = Plain(folder), [FlorForSlurm(folder, asked.bin), Original(folder, asked.flor_vldb)]
        benches = [Bench(name, asked, plain, systems, folder) for name in names]
        for bench in benches:
            bench.measure()
            if asked.json:
                add([bench.sample()], asked.json)
    print(table(benches, systems))


if __name__ == "__main__":
    main()
