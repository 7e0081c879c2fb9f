"""What a checkpoint costs training, measured within one run: every second epoch ends with one.

    bench/alternating.py [--threads 1] [--json FILE] PROGRAM …

An epoch behind a checkpoint, with that checkpoint's stall, is compared with the mean of its two neighbours, which have
none in front of them. So what differs from process to process drops out: where memory comes to lie, and what starting
and ending costs. It is what one checkpoint per epoch costs a long training, where `overhead.py` measures a short one
whole. Reported as there; the first checkpoints, with which the staging memory comes, are left out. PROGRAM needs one
block for each iteration, and epochs that are alike; take some 100 (`sizes --size cnn --epochs 200`).
"""
import argparse
import json
import os
import pathlib
import shutil
import tempfile

import overhead

FIRST = 4  # epochs left out


def blocks(command, threads):
    """The rows of the timeline that tell of the block's executions."""
    store = tempfile.mkdtemp(prefix="flor-bench-")
    try:
        command, environment = overhead.recorded(command, threads, {"FLOR_EVERY": "2"})(store)
        overhead.seconds_of(*overhead.started(command, environment))
        timeline, = pathlib.Path(store).glob("*/timeline.jsonl")
        rows = [json.loads(line) for line in timeline.read_text().splitlines()]
        return [row for row in rows if row["kind"] == "block"]
    finally:
        shutil.rmtree(store)


def ratios(executions):
    taken = [row["decision"] == "materialize" for row in executions]
    seconds = [row["seconds"] for row in executions]
    return [(seconds[i] + executions[i - 1]["stall"]) / ((seconds[i - 1] + seconds[i + 1]) / 2)
            for i in range(FIRST, len(executions) - 1) if taken[i - 1] and not taken[i]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    executions = blocks([asked.program] + asked.arguments, asked.threads)
    measured = ratios(executions)
    if len(measured) < 5:
        raise SystemExit(f"{len(measured)} checkpoints are too few to compare: give more epochs")
    row = {"label": " ".join([os.path.basename(asked.program)] + asked.arguments), "threads": asked.threads,
           "epoch_seconds": sum(execution["seconds"] for execution in executions) / len(executions),
           **overhead.spread(measured)}
    print(f"{row['pairs']} checkpoints, epochs of {row['epoch_seconds']:.2f} s: median {row['median']:.4f}, quartiles "
          f"{row['quartiles'][0]:.4f} - {row['quartiles'][1]:.4f}, mean {row['mean']:.4f} "
          f"({row['interval_95'][0]:.4f} - {row['interval_95'][1]:.4f})")
    if asked.json:
        overhead.add([row], asked.json)


if __name__ == "__main__":
    main()
