"""How near replay comes to the shortest time there can be, with workers that are equal, unequal, or slow unannounced.

    bench/replay_scaling.py [--epochs 200] [--seconds 0.2] [--steps 4] [--repeats 5] [--workers 1,2,4,8,16]
                            [--modes complete,inside,partial] [--json FILE] BIN

Records BIN/waiting (an epoch is a sleep, 10 % more or less; everything else is real), then replays it with BIN/flor's
plan, agent and queue by local processes of BIN/waiting_probed. All workers stand in front of their loop before the
clock starts; it stops when the last unit's file is there. `start` is what the processes took before that, apart; `first` the
time from there to the first unit's file, without that unit's own cost on the fastest worker.

    equal      all as fast as the recording
    unequal    every second worker at 0.55 of that speed
    straggler  one worker at 0.4

Ways to share the work, taking turns: `flor` (cut by cost, the tail taken from whoever would end last), `even`
(the same number of epochs each, fixed: Flor's rule), `queue` (one epoch at a time). Reported: seconds and their ratio
to the lower bound, max(sum of the epochs' costs / sum of the speeds, the longest epoch on the fastest worker); medians and
quartiles. Every replay is merged and its verdict has to be `identical`. `simulated` is what BIN/simulation says of the same
epochs and workers, with what a unit takes beside its cost as one worker shows it here. `inside`: the same work
with checkpoints between the steps of an epoch. Last, `partial`: a recording whose units are entered by pseudoresume.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

SPEEDS = {"equal": lambda k: 1.0, "unequal": lambda k: 0.55 if k % 2 else 1.0, "straggler": lambda k: 0.4 if k == 0 else 1.0}
WAYS = ["flor", "even", "queue"]
LONG = 14.0  # seconds; what takes longer is measured once


def rows_of(path):
    return [json.loads(row) for row in path.read_text().splitlines()]


@contextlib.contextmanager
def redis(directory):
    socket = f"{directory}/redis.sock"
    server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket, "--dir", directory, "--appendonly", "yes",
                               "--maxmemory-policy", "noeviction"], stdout=subprocess.DEVNULL)
    try:
        while subprocess.run(["redis-cli", "-s", socket, "ping"], capture_output=True).returncode != 0:
            time.sleep(0.05)
        yield f"unix://{socket}"
    finally:
        server.terminate()
        server.wait()


@contextlib.contextmanager
def agent(binary, socket):
    """The node's service, as design and Slurm have it; one that is started on demand would be started within the clock."""
    with subprocess.Popen([f"{binary}/flor-agent", "--socket", socket], stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def cut(plan, way, workers):
    """The plan's segments, by the rules that flor is compared with."""
    if way == "flor":
        return
    units = len(plan["units"])
    parts = units if way == "queue" else workers
    edges = [units * k // parts for k in range(parts + 1)]
    plan["segments"] = [[first, end] for first, end in zip(edges, edges[1:]) if first < end]
    plan["balance"] = False


class Bench:
    def __init__(self, asked, directory, redis_url, mode):
        self.asked, self.bin, self.directory = asked, os.path.abspath(asked.bin), pathlib.Path(directory)
        self.flor, self.mode = os.path.join(self.bin, "flor"), mode
        more = {"complete": [], "partial": ["--partial"], "inside": ["--inside", str(asked.steps)]}[mode]
        self.arguments = ["--epochs", str(asked.epochs), "--seconds", str(asked.seconds), *more]
        store = self.directory / self.mode
        store.mkdir()
        self.environment = {**os.environ, "FLOR_STORE": str(store), "FLOR_STEP_SECONDS": "0", "FLOR_REDIS": redis_url, "FLOR_BIN": self.bin,
                            "FLOR_AGENT_SOCKET": f"{directory}/agent.sock", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.count = 0
        self.call(self.flor, "record", "--every", "1", "--", f"{self.bin}/waiting", *self.arguments)
        (self.run,) = (path.parent for path in store.glob("*/run.json"))
        self.costs = [row["seconds"] for row in rows_of(self.run / "timeline.jsonl") if row["kind"] == "iteration"]
        self.overhead = 0.0  # seconds of a unit beside its cost, once measured

    def call(self, *command, **more):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**self.environment, **more})

    def bound(self, speeds):
        return max(sum(self.costs) / sum(speeds), max(self.costs) / max(speeds))

    def replay(self, way, speeds):
        """Seconds until all stood in front of their loop; from there until the last unit was there; and until the first one
        was, beside its cost."""
        self.count += 1
        name = f"bench-{self.mode}-{self.count}"
        replay = self.run / "replays" / name
        program = [f"{self.bin}/waiting_probed", *self.arguments]
        self.call(self.flor, "prepare", self.run.name, "--replay", name, "--probe", "all", "--", *program,
                  SLURM_ARRAY_TASK_COUNT=str(len(speeds)))
        plan = json.loads((replay / "plan.json").read_text())
        cut(plan, way, len(speeds))
        (replay / "plan.json").write_text(json.dumps(plan))
        ready = self.directory / name
        ready.mkdir()
        begun = time.monotonic()
        workers = [subprocess.Popen(program, stdout=subprocess.DEVNULL, env={
            **self.environment, "FLOR_REPLAY": f"{self.run.name}/{name}", "FLOR_WORKER": str(k), "BENCH_SPEED": str(speed),
            "BENCH_READY": str(ready)}) for k, speed in enumerate(speeds)]
        while len(list(ready.iterdir())) < len(speeds):
            time.sleep(0.01)
        went = time.monotonic()
        (ready / "go").write_text("")
        first = None
        while len(units := list((replay / "units").glob("*.jsonl"))) < len(plan["units"]):
            if units and first is None:
                first = time.monotonic() - went - min(plan["units"][int(unit.stem)]["cost"] for unit in units) / max(speeds)
            if all(worker.poll() is not None for worker in workers):
                raise SystemExit(f"{name}: every worker has gone and units are missing")
            time.sleep(0.002)
        took = time.monotonic() - went
        for worker in workers:
            worker.wait()
        self.call(self.flor, "collect", f"{self.run.name}/{name}")
        assert json.loads((replay / "verdict.json").read_text())["verdict"] == "identical"
        return went - begun, took, first


def spread(values):
    q1, _, q3 = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return {"median": statistics.median(values), "q1": q1, "q3": q3, "samples": values}


def simulated(bench, kind, count):
    costs = bench.directory / "costs.json"
    costs.write_text(json.dumps(bench.costs))
    out = subprocess.run([f"{bench.bin}/simulation", "--costs", str(costs), "--workers", str(count), "--speeds", kind,
                          "--overhead", str(bench.overhead)], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(out)["ratio"]


def measure(bench, kind, count, ways, out):
    speeds = [SPEEDS[kind](k) for k in range(count)]
    bound = bench.bound(speeds)
    took = {way: [] for way in ways}
    for _ in range(bench.asked.repeats if bound < LONG else 1):
        for way in ways:
            took[way].append(bench.replay(way, speeds))
    line = f"{bench.mode:>8} {kind:>9} {count:>7} {bound:>7.2f}"
    for way in ways:
        row = {"mode": bench.mode, "epoch": bench.asked.seconds, "speeds": kind, "workers": count, "way": way, "bound": bound,
               "ratio": spread([seconds / bound for _, seconds, _ in took[way]]),
               "start": statistics.median(start for start, _, _ in took[way]),
               "first": statistics.median(first for _, _, first in took[way])}
        ratio = row["ratio"]
        line += f" | {ratio['median']:>6.3f} {ratio['q1']:>5.3f} {ratio['q3']:>5.3f} {row['start']:>6.2f} {row['first']:>6.3f}"
        if way == "flor" and bench.mode == "complete":
            if count == 1:
                bench.overhead = (ratio["median"] - 1) * bound / len(bench.costs)
            row["simulated"] = simulated(bench, kind, count)
            line += f" {row['simulated']:>6.3f}"
        out.append(row)
    print(line, flush=True)


def write(path, asked, work, rows):
    """Adds to what the file has of other modes."""
    path = pathlib.Path(path)
    before = json.loads(path.read_text()) if path.exists() else {"epochs": asked.epochs, "work": work, "rows": []}
    if "complete" in asked.modes.split(","):
        before["work"] = work
    kept = [row for row in before["rows"] if row["mode"] not in asked.modes.split(",")]
    path.write_text(json.dumps({**before, "rows": kept + rows}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--steps", type=int, default=4, help="of an epoch in the mode inside")
    parser.add_argument("--modes", default="complete,inside,partial")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--workers", default="1,2,4,8,16")
    parser.add_argument("--speeds", default=",".join(SPEEDS))
    parser.add_argument("--json")
    parser.add_argument("bin")
    asked = parser.parse_args()
    counts, rows = [int(count) for count in asked.workers.split(",")], []
    with tempfile.TemporaryDirectory(prefix="flor-bench-") as directory, redis(directory) as url, \
            agent(asked.bin, f"{directory}/agent.sock"):
        print(f"{'mode':>8} {'speeds':>9} {'workers':>7} {'bound s':>7}" +
              " | ".join([""] + [f"{way:>6} {'quartiles':>11} start s first s" + (" simul." if way == "flor" else "") for way in WAYS]))
        work = 0.0
        for mode in asked.modes.split(","):
            bench = Bench(asked, directory, url, mode)
            work = work or sum(bench.costs)
            kinds = ["equal"] if mode == "partial" else asked.speeds.split(",")
            for kind, count in ((kind, count) for kind in kinds for count in counts):
                if count > 1 or kind == "equal":
                    measure(bench, kind, count, WAYS if mode == "complete" else ["flor"], rows)
    if asked.json:
        write(asked.json, asked, work, rows)


if __name__ == "__main__":
    main()
