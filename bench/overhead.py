"""What recording costs, and what the library costs outside flor: pairs of runs, on one training thread.

    bench/overhead.py [--epsilon 0.0667]… [--every N] [--threads 1] [HOW…] PROGRAM …
    bench/overhead.py --without OTHER [HOW…] PROGRAM …

HOW: [--pairs 15] [--in-turn | --slices 0.05] [--scatter build/lib/libscattered_heap.so]
     [--clock build/lib/librunning_clock.so] [--json FILE]

The first compares PROGRAM recorded with PROGRAM plain, by the adaptive policy or with a checkpoint at every N-th
execution; the second PROGRAM plain with OTHER, the same program built without the library. What follows PROGRAM are its
arguments. The time of a run is what its process takes from start to exit.

Both sides of a pair run at the same time, each with all its threads confined to cores of its own, as many as it trains
on; then again with the cores swapped; the pair's ratio is the geometric mean of the two. Motivation: the speed of a
virtual machine drifts by several percent from one run to the next, for both sides alike. So what flor does in the
background is not given a core that training does not use: it counts in full. With --in-turn, and where there are too few
cores, the sides run one after the other on the whole machine, their order alternating. With --slices they have the whole
machine in turn for so many seconds each, the other one stopped: no drift of the machine's speed comes between them, and
flor has a core beside one training thread. Stopped time counts for neither, and with --clock the clock of a stopped side
stands still, too (`running_clock.cpp`): else flor takes the time for computing, and takes up to twice the checkpoints
where ε is what limits them (not where each execution has one). What the kernel still writes when a side is stopped is not
counted.

Reported: the median of the paired ratios, their spread (quartiles), and the 95 % interval of their mean (Student's t).
The allocator is kept from mapping and unmapping large tensors every step, on both sides: page faults can hide or fake
an overhead. Into which holes of the heap tensors fit decides by 2 % how fast some programs are (after Mytkowicz et al.,
ASPLOS 2009), and the few small blocks of a library change that: without a checkpoint taken, the recorded CNN of `sizes` has
a heap of 102 MB and the plain one of 94. The length of the store's path is enough to change it, too, so it is drawn anew
for each pair, or the same difference is seen in all pairs and taken for flor's. That varies the recorded side;
with --scatter the distances of large blocks are drawn anew in each process of both (`scattered_heap.cpp`).
Each pair's ratio is printed on stderr as it is measured. FILE is added to, one row for each line.
"""
import argparse
import concurrent.futures
import json
import math
import mmap
import os
import random
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

# Upper 97.5 % point of Student's t for n - 1 degrees of freedom, n = 2 … 31; beyond, the last is an upper bound.
T = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10,
     2.09, 2.09, 2.08, 2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05, 2.04]
QUIET = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}


def started(command, environment, cores=None, own_session=False):
    begun = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=own_session, preexec_fn=cores and (lambda: os.sched_setaffinity(0, cores)))
    return process, begun


def ends(process, seconds):
    """Has it ended within so many seconds (None: whenever)? Popen.wait looks only now and then when it is given a limit."""
    process_end = os.pidfd_open(process.pid)
    try:
        return bool(select.select([process_end], [], [], seconds)[0])
    finally:
        os.close(process_end)


def seconds_of(process, begun):
    if process.wait() != 0:
        raise SystemExit(f"{process.args[0]} failed: exit code {process.returncode}")
    return time.monotonic() - begun


def together(base, subject, threads):
    """Seconds of both, run at the same time, each on cores of its own; by the cores that the first one got."""
    cores = sorted(os.sched_getaffinity(0))
    halves = [set(cores[:threads]), set(cores[threads:2 * threads])]
    for own, other in (halves, halves[::-1]):
        runs = [started(*base, own), started(*subject, other)]
        with concurrent.futures.ThreadPoolExecutor() as waiting:  # which of them ends first is not known
            yield tuple(waiting.map(lambda run: seconds_of(*run), runs))


class Clock:
    """How long a side was stopped, for running_clock.cpp."""

    def __init__(self):
        file, self.path = tempfile.mkstemp(prefix="running-clock-")
        os.ftruncate(file, 8)
        self._memory, self._nanoseconds = mmap.mmap(file, 8), 0
        os.close(file)

    def add(self, seconds):
        self._nanoseconds += round(seconds * 1e9)
        struct.pack_into("=q", self._memory, 0, self._nanoseconds)

    def close(self):
        self._memory.close()
        os.remove(self.path)


def in_turn(base, subject, subject_first):
    if subject_first:
        after = seconds_of(*started(*subject))
        return seconds_of(*started(*base)), after
    return seconds_of(*started(*base)), seconds_of(*started(*subject))


def sliced(base, subject, subject_first, seconds):
    """Seconds of both, stopped and continued by turns."""
    sides = [base, subject][::-1 if subject_first else 1]
    processes, took, stopped = [None, None], [0.0, 0.0], [0.0, 0.0]
    left, clocks = [0, 1], [Clock(), Clock()]
    try:
        while left:
            for side in list(left):
                begun = time.monotonic()
                if processes[side] is None:
                    command, environment = sides[side]
                    processes[side], _ = started(command, environment | {"RUNNING_CLOCK": clocks[side].path}, own_session=True)
                else:
                    clocks[side].add(begun - stopped[side])
                    os.killpg(processes[side].pid, signal.SIGCONT)
                if ends(processes[side], seconds if len(left) > 1 else None):
                    took[side] += seconds_of(processes[side], begun)
                    left.remove(side)
                else:
                    os.killpg(processes[side].pid, signal.SIGSTOP)
                    os.waitid(os.P_PID, processes[side].pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                    stopped[side] = time.monotonic()
                    took[side] += stopped[side] - begun
    finally:
        for process in processes:
            if process is not None and process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        for clock in clocks:
            clock.close()
    return tuple(took[::-1 if subject_first else 1])


def checkpoints_of(store):
    return sum(name.endswith(".safetensors") for _, _, files in os.walk(store) for name in files)


def spread(ratios):
    """Of paired ratios: median, quartiles, mean and the 95 % interval of the mean."""
    mean = statistics.mean(ratios)
    margin = T[min(len(ratios), 31) - 2] * statistics.stdev(ratios) / math.sqrt(len(ratios))
    quartiles = statistics.quantiles(ratios, n=4)
    return {"pairs": len(ratios), "median": statistics.median(ratios), "quartiles": [quartiles[0], quartiles[2]],
            "mean": mean, "interval_95": [mean - margin, mean + margin]}


def measure(base, subject, pairs, threads=1, apart=True, slices=None):
    """Ratios of the subject's time to the base's; each a function of a store directory: (command, environment)."""
    ratios, base_times, checkpoints = [], [], 0
    for pair in range(pairs + 1):  # the first pair warms the page cache and is dropped
        store = tempfile.mkdtemp(prefix="flor-bench-" + "x" * random.randrange(128))
        sides = base(store), subject(store)
        if apart:
            times = list(together(*sides, threads))
        elif slices:
            times = [sliced(*sides, bool(pair % 2), slices)]
        else:
            times = [in_turn(*sides, subject_first=bool(pair % 2))]
        checkpoints = checkpoints_of(store) / len(times)
        shutil.rmtree(store)
        if pair > 0:
            ratios.append(statistics.geometric_mean(after / before for before, after in times))
            print(f"{ratios[-1]:.4f}", end=" ", file=sys.stderr, flush=True)
            base_times += [before for before, _ in times]
    return {"base_seconds": statistics.median(base_times), "checkpoints": checkpoints, "at_once": apart, "slices": slices, **spread(ratios)}


def plain(command, threads, *preloaded):
    # A program of Python finds its modules, and Flor's, compiled: the pair that is dropped leaves them so.
    left_out = ("FLOR_", "PYTHONDONTWRITEBYTECODE")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(left_out)} | QUIET
    libraries = [os.path.abspath(library) for library in preloaded if library]
    environment |= {"LD_PRELOAD": ":".join(libraries)} if libraries else {}
    environment |= {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    return lambda store: (command, environment)


def recorded(command, threads, settings, *preloaded):
    _, environment = plain(command, threads, *preloaded)("")
    return lambda store: (command, environment | {"FLOR_RECORD": "1", "FLOR_STORE": store} | settings)


def add(rows, path):
    known = json.loads(open(path).read()) if os.path.exists(path) else []
    with open(path, "w") as file:
        json.dump(known + rows, file, indent=1)


HEAD = f"{'against':>14} {'pairs':>5} {'base s':>7} {'median':>7} {'quartiles':>15} {'95 % interval':>15} " \
       f"{'limit':>7} {'checkpoints':>11}"


def line(against, row, limit):
    return f"{against:>14} {row['pairs']:>5} {row['base_seconds']:>7.2f} {row['median']:>7.4f} " \
           f"{row['quartiles'][0]:>7.4f} {row['quartiles'][1]:>7.4f} {row['interval_95'][0]:>7.4f} " \
           f"{row['interval_95'][1]:>7.4f} {limit:>7} {row['checkpoints']:>11g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=15, choices=range(2, 201), metavar="2…200")
    parser.add_argument("--epsilon", type=float, action="append")
    parser.add_argument("--every", type=int)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--in-turn", action="store_true")
    parser.add_argument("--slices", type=float, metavar="SECONDS")
    parser.add_argument("--scatter", metavar="LIBRARY")
    parser.add_argument("--clock", metavar="LIBRARY")
    parser.add_argument("--without")
    parser.add_argument("--json")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    preloaded = [asked.scatter, asked.clock]
    for option, library in ("scatter", asked.scatter), ("clock", asked.clock):
        if library and not os.path.exists(library):  # the loader would go on without it
            parser.error(f"--{option}: there is no {library}; scripts/build -DFLOR_BENCH=ON builds it")
    if asked.clock and not asked.slices:
        parser.error("--clock is for --slices: nobody is stopped otherwise")
    command = [asked.program] + asked.arguments
    base = plain(command, asked.threads, *preloaded)
    rows = []
    apart = not asked.in_turn and not asked.slices and len(os.sched_getaffinity(0)) >= 2 * asked.threads

    def report(against, base, subject, limit, **facts):
        row = measure(base, subject, asked.pairs, asked.threads, apart, asked.slices)
        rows.append({"label": " ".join([os.path.basename(asked.program)] + asked.arguments), "threads": asked.threads,
                     "scattered": bool(asked.scatter), "clock": bool(asked.clock), **facts, **row})
        print(line(against, row, limit), flush=True)

    print(HEAD, flush=True)
    if asked.without:
        report("without", plain([asked.without] + asked.arguments, asked.threads, *preloaded), base, "")
    elif asked.every:
        report(f"every {asked.every}", base,
               recorded(command, asked.threads, {"FLOR_EVERY": str(asked.every)}, *preloaded), "", kind="every execution")
    else:
        for epsilon in asked.epsilon or [0.01, 0.0667, 0.2]:
            report(f"eps {epsilon}", base,
                   recorded(command, asked.threads, {"FLOR_EPSILON": str(epsilon)}, *preloaded),
                   f"{1 + epsilon:.4f}", epsilon=epsilon, kind="adaptive")
    if asked.json:
        add(rows, asked.json)


if __name__ == "__main__":
    main()
