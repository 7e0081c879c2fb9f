"""How the period follows costs that change half-way: a table of the policy's decisions, from real recordings.

    bench/adaptivity.py [--json FILE] PROGRAM      (PROGRAM: the build's bin/adaptivity)

In each scenario a block gets ten times cheaper or dearer, or its state ten times larger or smaller, after half of its
executions. For each half: C and M as measured (medians), the period that they ask for (M / (ε·C), at least 1), and the
period seen (executions for each checkpoint, over the half's last three quarters: before that the past is adapted to).
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

EPSILON = 0.01
SCENARIOS = {
    "block 10x cheaper": ["--steps", "100", "--then-steps", "10"],
    "block 10x dearer": ["--steps", "10", "--then-steps", "100"],
    "state 10x larger": ["--megabytes", "4", "--then-megabytes", "40"],
    "state 10x smaller": ["--megabytes", "40", "--then-megabytes", "4"],
}


def decisions(program, arguments):
    with tempfile.TemporaryDirectory(prefix="flor-bench-") as store:
        environment = os.environ | {"FLOR_RECORD": "1", "FLOR_STORE": store, "FLOR_EPSILON": str(EPSILON),
                                    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        subprocess.run([program] + arguments, env=environment, check=True, stdout=subprocess.DEVNULL)
        (timeline,) = pathlib.Path(store).glob("*/timeline.jsonl")
        rows = [json.loads(row) for row in timeline.read_text().splitlines()]
    return [row for row in rows if row["kind"] == "block"]


def summary(rows):
    settled = rows[len(rows) // 4:]
    taken = sum(row["decision"] == "materialize" for row in settled)
    seconds = statistics.median(row["seconds"] for row in settled)
    cost = statistics.median(row["M"] for row in settled)
    return {"C": seconds, "M": cost, "asked": max(1, cost / (EPSILON * seconds)),
            "seen": len(settled) / taken if taken else None, "decisions": "".join(
                "#" if row["decision"] == "materialize" else "." for row in rows)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json")
    parser.add_argument("program")
    asked = parser.parse_args()
    table = {}
    for name, arguments in SCENARIOS.items():
        rows = decisions(asked.program, arguments)
        halves = [summary(rows[:len(rows) // 2]), summary(rows[len(rows) // 2:])]
        table[name] = halves
        print(name)
        for label, half in zip(("before", "after"), halves):
            seen = f"{half['seen']:.1f}" if half["seen"] else "none"
            print(f"  {label:>6}: C {half['C'] * 1e3:6.1f} ms, M {half['M'] * 1e3:6.2f} ms, "
                  f"period asked for {half['asked']:5.1f}, seen {seen:>5}\n          {half['decisions']}", flush=True)
    if asked.json:
        with open(asked.json, "w") as file:
            json.dump(table, file, indent=1)


if __name__ == "__main__":
    main()
