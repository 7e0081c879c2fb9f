#!/usr/bin/env python3
"""How long `flor log` and `flor sql` take for runs with many rows.

    rows.py BIN [--rows 10000000] [--runs 10] [--rounds 5]

BIN is the directory of flor. Makes a store of --runs runs that have --rows rows together, of three names, in the form in
which they are recorded. Prints the rows a second with which the index is built, the seconds of a query over an index that
is there (a filter, a join with the arguments, a mean for each epoch), and those of `flor log` of one run.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time


def make_store(store, runs, rows):
    steps = 100
    for i in range(runs):
        run = f"20260101-000000-{i:016x}"
        os.makedirs(os.path.join(store, run))
        epochs = rows // runs // (steps * 2 + 1)
        manifest = {"format": 1, "id": run, "name": f"run-{i}", "status": "completed", "started": 1.79e9 + i, "args": {"lr": str(i / 100)},
                    "loops": [{"name": "epoch", "main": True, "range": True, "begin": 0, "end": epochs, "iterations": epochs,
                               "ended": "exhausted", "last": epochs - 1, "seconds": 1.0}]}
        with open(os.path.join(store, run, "run.json"), "w") as file:
            json.dump(manifest, file)
        with open(os.path.join(store, run, "log.jsonl"), "w") as file:
            for epoch in range(epochs):
                at = f"epoch={epoch}/train#0/step="
                for step in range(steps):
                    for name in ("loss", "grad_norm"):
                        value = (epoch * 7919 + step * 104729 + i) % 1000003 / 1000003 + 0.1
                        file.write(f'{{"name":"{name}","value":{value!r},"epoch":{epoch},"step":{step},"@at":"{at}{step}"}}\n')
                file.write(f'{{"name":"accuracy","value":{epoch / epochs!r},"epoch":{epoch},"@at":"epoch={epoch}"}}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    for name, default in (("rows", 10000000), ("runs", 10), ("rounds", 5)):
        parser.add_argument("--" + name, type=int, default=default)
    flags = parser.parse_args()
    flor = os.path.join(os.path.abspath(flags.bin), "flor")
    with tempfile.TemporaryDirectory() as directory:
        store, index = os.path.join(directory, "store"), os.path.join(directory, "index")
        make_store(store, flags.runs, flags.rows)

        def seconds(*words):
            began = time.monotonic()
            done = subprocess.run([flor, *words, "--store", store], stdout=subprocess.PIPE, text=True, check=True)
            return time.monotonic() - began, done.stdout

        took, out = seconds("sql", "--index", index, "--format", "csv", "SELECT count(*) FROM log")
        count = int(out.split()[-1])
        print(f"index of {count} rows: {took:.1f} s, {count / took:.0f} rows a second")
        query = ("SELECT a.value AS lr, l.epoch, avg(l.value) FROM log l JOIN args a USING (run) WHERE l.name = 'grad_norm' "
                 "AND l.run LIKE '%3' AND l.value > 1 GROUP BY a.value, l.epoch")
        times = sorted(seconds("sql", "--index", index, "--format", "csv", query)[0] for _ in range(flags.rounds))
        print(f"a filtered, joined query: {statistics.median(times):.2f} s ({times[0]:.2f} – {times[-1]:.2f})")
        times = sorted(seconds("log", "20260101-000000-0000000000000003", "loss", "accuracy", "--by", "epoch", "--agg", "max")[0] for _ in range(flags.rounds))
        print(f"flor log of one run of {count // flags.runs} rows: {statistics.median(times):.2f} s ({times[0]:.2f} – {times[-1]:.2f})")


if __name__ == "__main__":
    sys.exit(main())
