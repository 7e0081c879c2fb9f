"""What conservative logging costs: histograms of weights, gradients and activations, four times per epoch.

    bench/conservative.py [--rounds 15] [--threads 1] [--json FILE] PROGRAM [ARGUMENTS…]

PROGRAM is build/bin/conservative; ARGUMENTS are its --epochs, --steps, --hidden, --batch. Each round runs it plain
(nothing logged), with the same numbers computed by hand on the training thread (LibTorch's own operations), by flor on
the training thread, and by flor in the background; the order changes from round to round. The time of a run is what
its process takes from start to exit, the rows written to disk included.
Reported: the time over that of the round's plain run, minus one, in percent: the median, the quartiles, and the 95 %
interval of the mean (Student's t). The paper's program (Garcia et al., section 3.1) went from 180 % to 26 %.
"""
import argparse
import json
import os
import shutil
import statistics
import tempfile

import overhead

SIDES = {"plain": ("none", {}), "by hand": ("hand", {}), "synchronous": ("flor", {"FLOR_LOG_MEMORY": "0"}),
         "background": ("flor", {})}


def seconds(command, threads, log, settings):
    directory = tempfile.mkdtemp(prefix="flor-bench-")
    try:
        _, environment = overhead.plain(command, threads)("")
        environment = environment | {"FLOR_LOG": directory} | settings
        taken = overhead.seconds_of(*overhead.started(command + ["--log", log], environment))
        rows = sum(1 for _ in open(os.path.join(directory, "log.jsonl"), "rb"))
        return taken, rows
    finally:
        shutil.rmtree(directory)


def measure(command, rounds, threads):
    names = list(SIDES)
    ratios, base, rows = {name: [] for name in names[1:]}, [], {}
    for turn in range(rounds + 1):  # the first round warms the page cache and is dropped
        order = names[turn % len(names):] + names[:turn % len(names)]
        times = {}
        for name in order:
            times[name], rows[name] = seconds(command, threads, *SIDES[name])
        if turn == 0:
            continue
        base.append(times["plain"])
        for name in names[1:]:
            ratios[name].append(times[name] / times["plain"])
    return [{"label": name, "plain_seconds": statistics.median(base), "rows": rows[name],
             **overhead.spread(ratios[name])} for name in names[1:]]


def percent(ratio):
    return f"{100 * (ratio - 1):>8.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, choices=range(2, 31), metavar="2…30")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    results = measure([asked.program] + asked.arguments, asked.rounds, asked.threads)
    print(f"{'overhead, %':>12} {'rounds':>6} {'plain s':>8} {'rows':>6} {'median':>8} {'quartiles':>17} "
          f"{'95 % interval':>17}")
    for row in results:
        print(f"{row['label']:>12} {row['pairs']:>6} {row['plain_seconds']:>8.2f} {row['rows']:>6} "
              f"{percent(row['median'])} {' '.join(map(percent, row['quartiles']))} "
              f"{' '.join(map(percent, row['interval_95']))}")
    if asked.json:
        with open(asked.json, "w") as file:
            json.dump({"program": os.path.basename(asked.program), "arguments": asked.arguments,
                       "threads": asked.threads, "rows": results}, file, indent=1)


if __name__ == "__main__":
    main()
