#!/usr/bin/env python3
"""Hands the rows of a run on to MLflow or to Weights & Biases, also while it is recorded.

    hand_on.py mlflow http://tracking:5000 RUN [--names loss,accuracy] [--follow] [--experiment NAME]
    hand_on.py wandb PROJECT RUN [--names loss,accuracy] [--follow]

It reads what `flor log` prints, so it needs `flor` in PATH and nothing else; for Weights & Biases also their package.
Each call makes a run of its own there. After a replay, call it for the names that the replay added: --names grad_norm.
"""
import argparse
import itertools
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request


def rows(run, names, follow):
    """Yields each row of `flor log` as a dict: the values of its loops, `name` and `value`. Yields None where no row
    has come for a second."""
    command = ["flor", "log", run, *names, *(["--follow"] if follow else ["--format", "jsonl"])]
    lines = queue.Queue(10000)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as log:
        threading.Thread(target=lambda: [lines.put(line) for line in itertools.chain(log.stdout, [""])], daemon=True).start()
        while True:
            try:
                line = lines.get(timeout=1)
            except queue.Empty:
                yield None
                continue
            if not line:
                break
            yield json.loads(line)
    if log.returncode != 0:
        sys.exit(log.returncode)


class Steps:
    """The step of each row. In one loop it is the loop's value; elsewhere the rows of a name are counted."""

    def __init__(self):
        self.counts = {}

    def of(self, row):
        loops = [value for key, value in row.items() if key not in ("name", "value") and not key.startswith("@")]
        count = self.counts[row["name"]] = self.counts.get(row["name"], -1) + 1
        return loops[0] if len(loops) == 1 and isinstance(loops[0], int) else count


def numbers(run, names, follow):
    """Yields (name, step, value) of each row that is a number; NaN and infinities are among them. Yields None as
    rows() does."""
    steps = Steps()
    for row in rows(run, names, follow):
        if row is None:
            yield None
            continue
        value = row.get("value")
        if value in ("NaN", "Infinity", "-Infinity"):
            value = float(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield row["name"], steps.of(row), value


class MLflow:
    """A client of MLflow's REST API (https://mlflow.org/docs/latest/rest-api.html). A row keeps its step however late it
    comes, so rows of replays are drawn where they belong."""

    MOST_METRICS, MOST_PARAMS = 1000, 100  # of one request

    def __init__(self, server, experiment, run, about):
        self.server, self.batch = server.rstrip("/"), []
        start = int(about["started"] * 1000)
        self.run = self.call("runs/create", {"experiment_id": self.experiment(experiment), "run_name": about["name"] or run,
                                             "start_time": start, "tags": [{"key": "flor.run", "value": about["id"]}]})["run"]["info"]["run_id"]
        params = [{"key": self.key(name), "value": str(value)} for name, value in about["args"].items()]
        for first in range(0, len(params), self.MOST_PARAMS):
            self.call("runs/log-batch", {"run_id": self.run, "params": params[first:first + self.MOST_PARAMS]})

    def call(self, method, body=None, is_there=True):
        """Returns the answer to a POST, or to a GET where there is no body; None where `is_there` is false and there is no such thing."""
        headers = {"Content-Type": "application/json"}
        if "MLFLOW_TRACKING_TOKEN" in os.environ:
            headers["Authorization"] = "Bearer " + os.environ["MLFLOW_TRACKING_TOKEN"]
        request = urllib.request.Request(f"{self.server}/api/2.0/mlflow/{method}", body and json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as problem:
            text = problem.read().decode(errors="replace")
            if not is_there and problem.code in (400, 404) and "RESOURCE_ALREADY_EXISTS" in text:
                return None
            sys.exit(f"hand_on.py: {self.server} refused {method}: {text.strip()}")
        except (OSError, ValueError) as problem:
            sys.exit(f"hand_on.py: {self.server} does not answer: {problem}")

    def experiment(self, name):
        made = self.call("experiments/create", {"name": name}, is_there=False)
        if made is not None:
            return made["experiment_id"]
        found = self.call("experiments/get-by-name?" + urllib.parse.urlencode({"experiment_name": name}))
        return found["experiment"]["experiment_id"]

    @staticmethod
    def key(name):
        """MLflow takes letters, digits and a few signs in a name."""
        return re.sub(r"[^\w\-. :/]", "_", name)

    def add(self, name, step, value):
        number = value if value == value and abs(value) != float("inf") else str(value).replace("inf", "Infinity").replace("nan", "NaN")
        self.batch.append({"key": self.key(name), "value": number, "timestamp": int(time.time() * 1000), "step": step})
        if len(self.batch) >= self.MOST_METRICS:
            self.send()

    def send(self):
        if self.batch:
            self.call("runs/log-batch", {"run_id": self.run, "metrics": self.batch})
        self.batch = []

    def end(self):
        self.send()
        self.call("runs/update", {"run_id": self.run, "status": "FINISHED", "end_time": int(time.time() * 1000)})


class WandB:
    """Weights & Biases drops rows whose step is below the last one. So each name has a step of its own, NAME/step."""

    def __init__(self, project, run, about):
        import wandb
        self.known = set()
        self.run = wandb.init(project=project, name=about["name"] or run, config=about["args"], tags=["flor"])

    def add(self, name, step, value):
        axis = name + "/step"
        if name not in self.known:
            self.run.define_metric(axis, hidden=True)
            self.run.define_metric(name, step_metric=axis)
            self.known.add(name)
        self.run.log({name: value, axis: step})

    def send(self):
        """Their package sends by itself."""

    def end(self):
        self.run.finish()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("to", choices=["mlflow", "wandb"])
    parser.add_argument("where", help="the address of the MLflow server, or the project of Weights & Biases")
    parser.add_argument("run", help="as for `flor log`: the id or the name of a run")
    parser.add_argument("--names", default="", help="which names to hand on, with commas (default: all)")
    parser.add_argument("--follow", action="store_true", help="hand on new rows until the recording ends")
    parser.add_argument("--experiment", default="flor", help="of MLflow; made where it is not there (default: flor)")
    flags = parser.parse_args()
    shown = subprocess.run(["flor", "show", flags.run, "--json"], stdout=subprocess.PIPE, text=True)
    if shown.returncode != 0:
        sys.exit(shown.returncode)
    about = json.loads(shown.stdout)
    if flags.to == "mlflow":
        there = MLflow(flags.where, flags.experiment, flags.run, about)
    else:
        there = WandB(flags.where, flags.run, about)
    count = 0
    for number in numbers(flags.run, [name for name in flags.names.split(",") if name], flags.follow):
        if number is None:
            there.send()
            continue
        there.add(*number)
        count += 1
    there.end()
    print(f"handed on {count} numbers of {flags.run}")


if __name__ == "__main__":
    main()
