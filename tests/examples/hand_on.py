"""Rows go from a run to MLflow, while it is recorded and after a replay: hand_on.py RULES_PROGRAM BIN.

The server speaks the part of MLflow's REST API that is used, with its limits; MLflow itself is no package of Debian's."""
import http.server
import json
import math
import os
import re
import subprocess
import sys
import threading
import unittest
import urllib.parse

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "rules"))
import harness  # noqa: E402

TOOL = os.path.join(here, "..", "..", "examples", "hand_on", "hand_on.py")


class MLflow(http.server.BaseHTTPRequestHandler):
    """Keeps experiments and runs in the class."""

    def do_POST(self):
        self.answer(self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def do_GET(self):
        path, query = self.path.split("?")
        self.answer(path, dict(urllib.parse.parse_qsl(query)))

    def answer(self, path, body):
        code, answer = getattr(self, re.sub("[/-]", "_", path.removeprefix("/api/2.0/mlflow/")))(**body)
        text = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass

    def experiments_create(self, name):
        if name in self.experiments:
            return 400, {"error_code": "RESOURCE_ALREADY_EXISTS"}
        self.experiments[name] = str(len(self.experiments))
        return 200, {"experiment_id": self.experiments[name]}

    def experiments_get_by_name(self, experiment_name):
        return 200, {"experiment": {"experiment_id": self.experiments[experiment_name], "name": experiment_name}}

    def runs_create(self, experiment_id, run_name, start_time, tags):
        if not isinstance(start_time, int) or start_time < 1e12:
            return 400, {"error_code": "INVALID_PARAMETER_VALUE"}
        run = f"run{len(self.runs)}"
        self.runs[run] = {"experiment": experiment_id, "name": run_name, "tags": tags, "params": {}, "metrics": [], "status": "RUNNING"}
        return 200, {"run": {"info": {"run_id": run}}}

    def runs_log_batch(self, run_id, metrics=(), params=()):
        if len(metrics) > 1000 or len(params) > 100 or any(not re.fullmatch(r"[\w\-. :/]+", one["key"]) for one in metrics):
            return 400, {"error_code": "INVALID_PARAMETER_VALUE"}
        self.runs[run_id]["metrics"] += metrics
        self.runs[run_id]["params"].update({one["key"]: one["value"] for one in params})
        return 200, {}

    def runs_update(self, run_id, status, end_time):
        self.runs[run_id]["status"] = status
        return 200, {}


# What it calls of the package of Weights & Biases, which is not to be had here: each call becomes a line.
WANDB = """
import json
class Run:
    def __getattr__(self, name):
        return lambda *words, **named: print(json.dumps([name, *words, named]))
def init(**named):
    print(json.dumps(["init", named]))
    return Run()
"""


class HandingOn(harness.Case):
    def setUp(self):
        super().setUp()
        MLflow.experiments, MLflow.runs = {}, {}
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), MLflow)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.address = f"http://127.0.0.1:{server.server_port}/"
        self.environment["PATH"] = harness.BIN + ":" + os.environ["PATH"]

    def hand_on(self, *words, code=0):
        return self.execute([sys.executable, TOOL, *words], code=code)

    def metrics(self, run, name):
        return [(one["step"], one["value"]) for one in MLflow.runs[run]["metrics"] if one["key"] == name]

    def expected(self, rows, name):
        return [(int(row[0][-1][1]) if row[0] else i, float(row[2])) for i, row in enumerate(harness.named(rows, name))]

    def test_a_run_arrives_while_it_is_recorded(self):
        until = self.path("until")
        program = ["train", "--guard", "--hold=3", "--in=recording", "--until=" + until]
        recording = self.start("record", "--name", "held", "--", harness.PROGRAM, *program)
        self.held(until, "epoch 3")
        tool = subprocess.Popen([sys.executable, TOOL, "mlflow", self.address, "held", "--follow"], env=self.environment,
                                stdout=subprocess.PIPE, text=True)
        self.addCleanup(tool.kill)
        self.wait_for(lambda: "run0" in MLflow.runs and len(self.metrics("run0", "accuracy")) == 3, "three epochs")
        self.assertEqual(MLflow.runs["run0"]["status"], "RUNNING")
        open(until, "w").close()
        recording.communicate(timeout=60)
        self.assertRegex(tool.communicate(timeout=60)[0], r"^handed on \d+ numbers of held\n$")
        run = MLflow.runs["run0"]
        self.assertEqual((run["status"], run["name"]), ("FINISHED", "held"))
        rows = self.newest_run().joined()
        self.assertEqual(self.metrics("run0", "accuracy"), self.expected(rows, "accuracy"))
        self.assertEqual(run["tags"], [{"key": "flor.run", "value": self.newest_run().id}])

    def test_rows_of_a_replay_keep_their_steps(self):
        run = self.record("train", "--guard")
        run.replay("train", "--guard", "--inner", "--outer", probe="all", workers=2, flags=("--epochs", "2:4"))
        self.hand_on("mlflow", self.address, run.id, "--experiment", "it's one")
        self.hand_on("mlflow", self.address, run.id, "--experiment", "it's one", "--names", "inner,outer")
        self.assertEqual({one["experiment"] for one in MLflow.runs.values()}, {"0"})
        self.assertEqual({one["key"] for one in MLflow.runs["run1"]["metrics"]}, {"inner", "outer"})
        self.assertEqual([step for step, _ in self.metrics("run1", "outer")], [2, 3])
        # In two loops, so its rows are counted.
        self.assertEqual([step for step, _ in self.metrics("run1", "inner")], list(range(len(self.metrics("run1", "inner")))))

    def test_values_that_are_no_finite_numbers(self):
        run = self.record("rows")
        self.hand_on("mlflow", self.address, run.id)
        self.assertEqual(self.metrics("run0", "nan"), [(0, "NaN"), (1, "NaN")])
        self.assertEqual(self.metrics("run0", "infinity"), [(0, "Infinity"), (1, "Infinity")])
        self.assertEqual(self.metrics("run0", "negative_infinity"), [(0, "-Infinity"), (1, "-Infinity")])
        self.assertEqual(math.copysign(1, self.metrics("run0", "negative_zero")[0][1]), -1)
        self.assertEqual(self.metrics("run0", "text"), [])

    def test_each_name_has_a_step_of_its_own_in_weights_and_biases(self):
        run = self.record("train", "--guard", flags=("--name", "mine"))
        os.mkdir(self.path("python"))
        with open(self.path("python/wandb.py"), "w") as file:
            file.write(WANDB)
        self.environment["PYTHONPATH"] = self.path("python")
        calls = [json.loads(line) for line in self.hand_on("wandb", "project", "mine", "--names", "accuracy").stdout.splitlines()[:-1]]
        self.assertEqual(calls[0][1]["name"], "mine")
        self.assertEqual(calls[1:3], [["define_metric", "accuracy/step", {"hidden": True}],
                                      ["define_metric", "accuracy", {"step_metric": "accuracy/step"}]])
        self.assertEqual([(call[1]["accuracy/step"], call[1]["accuracy"]) for call in calls[3:-1]], self.expected(run.joined(), "accuracy"))
        self.assertEqual(calls[-1], ["finish", {}])

    def test_what_goes_wrong_is_one_line(self):
        run = self.record("train", "--guard")
        done = self.hand_on("mlflow", "http://127.0.0.1:9", run.id, code=1)
        self.assertRegex(done.stderr, r"^hand_on.py: http://127.0.0.1:9 does not answer: .*refused.*\n$")
        done = self.hand_on("mlflow", self.address, "nowhere", code=2)
        self.assertRegex(done.stderr, r"^flor: .*nowhere.*\n$")


if __name__ == "__main__":
    harness.PROGRAM, harness.BIN = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=sys.argv[:1], verbosity=2)
