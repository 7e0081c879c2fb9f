"""Where the time of an outer-probe replay goes: it executes no block, so beside starting a process it should pay for
restoring checkpoints and for the code outside of the blocks, and for nothing else.

    bench/skipping.py [--repeats 5] [--adaptive] [--json FILE] BIN PROGRAM PROBED [ARGUMENTS…]

BIN holds `flor`; PROBED is PROGRAM with an outer probe. Each repeat times, one behind the other: PROGRAM plain; PROGRAM
plain until it prints its first row (start, and one step); the replay by one local worker. Medians, in seconds:
restores come from the replay's timeline, outer code from the record's (iterations without their blocks); `rest` is what
the replay took beyond all of them: the flor command, its queue, the merge and the verdict. The recording takes every
checkpoint; with --adaptive those that the policy takes by default.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time


def rows_of(path):
    return [json.loads(row) for row in path.read_text().splitlines()]


def seconds_of(rows, kind):
    return sum(row["seconds"] for row in rows if row["kind"] == kind)


def whole(command):
    begun = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begun


def until_first_row(command):
    begun = time.monotonic()
    with subprocess.Popen(["stdbuf", "-oL"] + command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        taken = time.monotonic() - begun
        process.kill()
    return taken


def replay(flor, run, probed):
    begun = time.monotonic()
    subprocess.run([flor, "replay", run.name, "--launcher", "local", "--workers", "1", "--"] + probed, check=True,
                   stdout=subprocess.DEVNULL)
    taken = time.monotonic() - begun
    newest = max((run / "replays").iterdir(), key=lambda path: path.stat().st_mtime)
    verdict = json.loads((newest / "verdict.json").read_text())
    did = {kind: sum(unit[kind] for unit in verdict["units"]) for kind in ("executed", "skipped")}
    restored = seconds_of(rows_of(newest / "timeline.jsonl"), "restore")
    subprocess.run(["rm", "-r", newest], check=True)  # the same question again would run nothing
    return taken, restored, did, verdict["verdict"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--adaptive", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("bin")
    parser.add_argument("program")
    parser.add_argument("probed")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    flor = os.path.join(asked.bin, "flor")
    command, probed = [asked.program] + asked.arguments, [asked.probed] + asked.arguments
    os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    os.environ.pop("FLOR_REDIS", None)
    with tempfile.TemporaryDirectory(prefix="flor-bench-") as store:
        os.environ["FLOR_STORE"] = store
        every = [] if asked.adaptive else ["--every", "1"]
        subprocess.run([flor, "record", *every, "--"] + command, check=True, stdout=subprocess.DEVNULL)
        (run,) = (path.parent for path in pathlib.Path(store).glob("*/run.json"))
        timeline = rows_of(run / "timeline.jsonl")
        blocks, outer = seconds_of(timeline, "block"), seconds_of(timeline, "iteration")
        times = [(whole(command), until_first_row(command), *replay(flor, run, probed)) for _ in range(asked.repeats)]
    plain, start, taken, restored = (statistics.median(column) for column in list(zip(*times))[:4])
    _, _, _, _, did, verdict = times[-1]
    parts = {"plain": plain, "replay": taken, "start": start, "restores": restored, "outer": outer - blocks,
             "rest": taken - start - restored - (outer - blocks)}
    spread = [min(row[2] for row in times), max(row[2] for row in times)]
    print(f"{os.path.basename(asked.program)}: {did['executed']} blocks executed, {did['skipped']} skipped, {verdict}")
    print("  " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in parts.items()) +
          f"; replay from {spread[0]:.2f} to {spread[1]:.2f} s; {plain / taken:.1f} times as fast as plain")
    if asked.json:
        with open(asked.json, "w") as file:
            json.dump({"program": os.path.basename(asked.program), **parts, "replay_spread": spread, **did,
                       "verdict": verdict}, file, indent=1)


if __name__ == "__main__":
    main()
