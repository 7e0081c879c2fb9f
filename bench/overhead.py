"""Recording overhead: interleaved pairs of plain and recorded runs of an example, on one training thread.

    bench/overhead.py [--pairs 15] [--epsilon 0.0667] [--json FILE] NAME [ARGUMENTS…]

The time of a run is what its process takes from start to exit. Within a pair the order alternates. Reported: the
median ratio recorded / plain, its spread (quartiles), and the upper 95 % bound of the mean of the paired ratios
(Student's t). The allocator is kept from mapping and unmapping large tensors every step, on both sides: page faults
can hide or fake an overhead.
"""
import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import tempfile
import time

# Upper 97.5 % point of Student's t for n - 1 degrees of freedom, n = 2 … 31.
T = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10,
     2.09, 2.09, 2.08, 2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05, 2.04]
QUIET = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "OMP_NUM_THREADS": "1",
         "OPENBLAS_NUM_THREADS": "1"}


def timed(command, environment):
    begun = time.monotonic()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - begun


def checkpoints_of(store):
    return sum(name.endswith(".safetensors") for _, _, files in os.walk(store) for name in files)


def measure(command, epsilon, pairs):
    plain_environment = {k: v for k, v in os.environ.items() if not k.startswith("FLOR_")} | QUIET
    ratios, plain_times, checkpoints = [], [], 0
    for pair in range(pairs + 1):  # the first pair warms the page cache and is dropped
        store = tempfile.mkdtemp(prefix="flor-bench-")
        recorded_environment = plain_environment | {"FLOR_RECORD": "1", "FLOR_STORE": store,
                                                    "FLOR_EPSILON": str(epsilon)}
        sides = [("plain", plain_environment), ("recorded", recorded_environment)]
        times = {}
        for side, environment in sides if pair % 2 else reversed(sides):
            times[side] = timed(command, environment)
        checkpoints = checkpoints_of(store)
        shutil.rmtree(store)
        if pair > 0:
            ratios.append(times["recorded"] / times["plain"])
            plain_times.append(times["plain"])
    mean = statistics.mean(ratios)
    bound = mean + T[len(ratios) - 2] * statistics.stdev(ratios) / math.sqrt(len(ratios))
    quartiles = statistics.quantiles(ratios, n=4)
    return {"epsilon": epsilon, "pairs": len(ratios), "plain_seconds": statistics.median(plain_times),
            "median": statistics.median(ratios), "quartiles": [quartiles[0], quartiles[2]], "mean": mean,
            "bound_95": bound, "kept": bound < 1 + epsilon, "checkpoints": checkpoints}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=15, choices=range(2, 31), metavar="2…30")
    parser.add_argument("--epsilon", type=float, action="append")
    parser.add_argument("--json")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    rows = []
    print(f"{'epsilon':>8} {'pairs':>5} {'plain s':>8} {'median':>7} {'quartiles':>15} {'95 % bound':>10} "
          f"{'1 + eps':>8} {'checkpoints':>11}")
    for epsilon in asked.epsilon or [0.01, 0.0667, 0.2]:
        row = measure([asked.program] + asked.arguments, epsilon, asked.pairs)
        rows.append({"program": os.path.basename(asked.program), **row})
        print(f"{epsilon:>8} {row['pairs']:>5} {row['plain_seconds']:>8.2f} {row['median']:>7.4f} "
              f"{row['quartiles'][0]:>7.4f} {row['quartiles'][1]:>7.4f} {row['bound_95']:>10.4f} "
              f"{1 + epsilon:>8.4f} {row['checkpoints']:>11}", flush=True)
    if asked.json:
        with open(asked.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
