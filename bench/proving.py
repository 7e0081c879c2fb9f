"""What it costs to prove a replay's answers by execution: each question with `--prove auto` beside `--prove none`, in turn.

    bench/proving.py [--epochs 200] [--seconds 0.2] [--repeats 9] [--json FILE] BIN

Records BIN/waiting (an epoch is a sleep; everything else is real) with a checkpoint at every epoch, and asks with local
workers:

    outer   a probe behind the block, which stays skipped; 2 workers
    inner   a probe inside of the block, which executes; 8 workers

Times run from the plan's file: `answers` to the last unit's file, `verdict` to the verdict's. Reported are the medians, the
medians of the paired ratios (auto / none) with their quartiles, the epochs that executed, and what proving added to the
work: executed epochs' recorded seconds, proofs over all units of the run.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

QUESTIONS = {"outer": ("waiting_outer", "none", 2), "inner": ("waiting_probed", "all", 8)}


def spread(values):
    q1, median, q3 = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": median, "q1": q1, "q3": q3, "samples": values}


class Bench:
    def __init__(self, asked, store):
        self.bin = os.path.abspath(asked.bin)
        self.arguments = ["--epochs", str(asked.epochs), "--seconds", str(asked.seconds)]
        self.environment = {**os.environ, "FLOR_STORE": store, "FLOR_STEP_SECONDS": "0", "FLOR_BIN": self.bin,
                            "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.environment.pop("FLOR_REDIS", None)
        self.call(f"{self.bin}/flor", "record", "--every", "1", "--", f"{self.bin}/waiting", *self.arguments)
        (self.run,) = (path.parent for path in pathlib.Path(store).glob("*/run.json"))

    def call(self, *command, codes=(0,)):
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=self.environment)
        if done.returncode not in codes:
            raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")

    def ask(self, question, prove):
        """Seconds to the answers and to the verdict, and the executed units: of the replay, and of its proofs."""
        program, probe, workers = QUESTIONS[question]
        # Unproved rows are exit 4.
        self.call(f"{self.bin}/flor", "replay", self.run.name, "--again", "--launcher", "local", "--workers", str(workers),
                  "--probe", probe, "--prove", prove, "--", f"{self.bin}/{program}", *self.arguments, codes=(0, 4))
        replay = max((self.run / "replays").iterdir(), key=lambda path: path.stat().st_mtime)
        began = (replay / "plan.json").stat().st_mtime
        answers = max(path.stat().st_mtime for path in (replay / "units").iterdir()) - began
        verdict = json.loads((replay / "verdict.json").read_text())
        assert not any(found["taken_back"] for found in verdict["probes"]) and verdict["verdict"] != "differs", verdict["reasons"]
        plan = json.loads((replay / "plan.json").read_text())
        proved = [id for proof in verdict["proofs"] for id in range(*proof["units"])]
        total = sum(unit["cost"] for unit in plan["units"])
        return {"answers": answers, "verdict": (replay / "verdict.json").stat().st_mtime - began, "bound": plan["estimate"]["bound"],
                "executed": sum(unit["executed"] for unit in verdict["units"]), "proved": len(proved),
                "added": sum(plan["units"][id]["cost"] for id in proved) / total}


def measure(bench, question, repeats):
    bench.ask(question, "none")  # once for the caches
    pairs = [(bench.ask(question, "none"), bench.ask(question, "auto")) for _ in range(repeats)]
    row = {"question": question, "workers": QUESTIONS[question][2], "executed": pairs[-1][1]["executed"],
           "proved": pairs[-1][1]["proved"], "added": pairs[-1][1]["added"], "bound": pairs[-1][1]["bound"]}
    for what in ("answers", "verdict"):
        row[what] = {"none": statistics.median(none[what] for none, _ in pairs),
                     "auto": statistics.median(auto[what] for _, auto in pairs),
                     "ratio": spread([auto[what] / none[what] for none, auto in pairs])}
    return row


def shown(row):
    def ratio(what):
        one = row[what]
        return (f"{one['none']:7.2f} s {one['auto']:7.2f} s  {one['ratio']['median']:.3f} "
                f"({one['ratio']['q1']:.3f} - {one['ratio']['q3']:.3f})")
    return (f"{row['question']:>6} {row['workers']:>7} | {ratio('answers')} | {ratio('verdict')} | "
            f"{row['executed']:>4} + {row['proved']} epochs, {row['added'] * 100:.2f} % more work")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--json")
    parser.add_argument("bin")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flor-bench-") as store:
        bench = Bench(asked, store)
        print(f"{'':>6} {'workers':>7} | {'answers: none, auto, ratio':<44} | {'verdict: none, auto, ratio':<44} | executed")
        rows = []
        for question in QUESTIONS:
            rows.append(measure(bench, question, asked.repeats))
            print(shown(rows[-1]), flush=True)
    if asked.json:
        pathlib.Path(asked.json).write_text(json.dumps({"epochs": asked.epochs, "seconds": asked.seconds, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
