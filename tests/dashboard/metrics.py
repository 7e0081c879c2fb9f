"""What Prometheus gets of `flor serve` while a recording and a replay run, read by Prometheus's own parser:
metrics.py RULES_PROGRAM BIN."""
import json
import os
import re
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rules"))
import harness  # noqa: E402


class Metrics(harness.Case):
    def setUp(self):
        super().setUp()
        os.makedirs(os.path.join(self.directory, "store"), exist_ok=True)

    def serve(self, *words):
        server = subprocess.Popen([os.path.join(harness.BIN, "flor"), "serve", *words], stdout=subprocess.PIPE, text=True,
                                  env=self.environment, start_new_session=True)
        self.addCleanup(lambda: server.poll() is None and (server.kill(), server.wait()))
        self.addCleanup(server.stdout.close)
        return re.search(r"(http://\S+)/#token=(\S+)", server.stdout.readline()).groups()

    def scrape(self, root, token):
        request = urllib.request.Request(root + "/metrics", headers={"Authorization": "Bearer " + token})
        with urllib.request.urlopen(request, timeout=30) as answer:
            self.assertEqual(answer.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
            text = answer.read().decode()
        samples = {}
        for family in text_string_to_metric_families(text):
            self.assertEqual(family.type, "gauge")
            self.assertTrue(family.documentation)
            for sample in family.samples:
                key = (sample.name, tuple(sorted(sample.labels.items())))
                self.assertNotIn(key, samples)
                samples[key] = sample.value
        return samples

    def value(self, samples, metric, **labels):
        found = [value for (of, has), value in samples.items() if of == metric and labels.items() <= dict(has).items()]
        self.assertEqual(len(found), 1, (metric, labels, samples))
        return found[0]

    def test_a_recording_and_a_replay_are_seen_while_they_run(self):
        until = self.path("until")
        program = ["train", "--guard", "--hold=3", "--in=recording", "--until=" + until]
        recording = self.start("record", "--name", "held", "--every", "1", "--", self.program(), *program)
        self.wait_for(lambda: os.path.exists(until + ".reached"), "epoch 3")
        root, token = self.serve()
        before = self.scrape(root, token)
        self.assertEqual(self.value(before, "flor_runs", status="recording"), 1)
        self.assertEqual(self.value(before, "flor_recording_iterations", name="held"), 3)
        self.assertEqual(self.value(before, "flor_recording_iterations_expected"), 6)
        self.assertGreater(self.value(before, "flor_recording_overhead_ratio"), 0)
        open(until, "w").close()
        recording.communicate(timeout=60)
        self.wait_for(lambda: self.value(self.scrape(root, token), "flor_runs", status="completed") == 1, "the end")
        self.assertGreater(self.value(self.scrape(root, token), "flor_checkpoint_bytes"), 0)

        run, until = self.newest_run(), self.path("replaying")
        replay = self.start("replay", run.id, "--launcher", "local", "--workers", "1", "--probe", "all", "--", harness.PROGRAM,
                            "train", "--guard", "--inner", "--hold=3", "--in=replaying", "--until=" + until)
        self.wait_for(lambda: os.path.exists(until + ".reached"), "epoch 3 of the replay")
        self.wait_for(lambda: any(name == "flor_replay_units" for name, _ in self.scrape(root, token)), "the next look at the store")
        now = self.scrape(root, token)
        units = {name: self.value(now, "flor_replay_units" + name, run=run.id)
                 for name in ("", "_committed", "_running", "_waiting")}
        self.assertEqual(units["_running"], 1)
        self.assertEqual(units["_committed"] + units["_running"] + units["_waiting"], units[""])
        self.assertEqual(self.value(now, "flor_replay_workers"), 1)
        open(until, "w").close()
        replay.communicate(timeout=60)
        self.assertEqual(replay.returncode, 0)
        self.assertEqual([key for key in self.scrape(root, token) if key[0].startswith("flor_replay")], [])

    def test_the_board_and_the_documents_name_what_there_is(self):
        root, token = self.serve()
        request = urllib.request.Request(root + "/metrics", headers={"Authorization": "Bearer " + token})
        with urllib.request.urlopen(request, timeout=30) as answer:
            there = set(re.findall(r"^# TYPE (\w+)", answer.read().decode(), re.M))
        tree = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        with open(os.path.join(tree, "docs", "dashboard.md")) as page:
            self.assertEqual(set(re.findall(r"\bflor_[a-z_]+", page.read())), there)
        with open(os.path.join(tree, "configs", "grafana.json")) as file:
            asked = {name for panel in json.load(file)["panels"] for target in panel["targets"]
                     for name in re.findall(r"\bflor_[a-z_]+", target["expr"])}
        self.assertLess({"flor_runs", "flor_replay_units_waiting"}, asked)
        self.assertLessEqual(asked, there)

    def test_a_monitor_keeps_its_token_over_a_restart(self):
        file = self.path("token")
        served = [self.serve("--metrics-token-file", file) for _ in range(2)]
        with open(file) as kept:
            token = kept.read().strip()
        self.assertEqual(os.stat(file).st_mode & 0o777, 0o600)
        self.assertEqual(len({token, *(link for _, link in served)}), 3, "that of the link is a new one each time")
        for root, _ in served:
            self.assertIn("flor_runs", {name for name, _ in self.scrape(root, token)})

    def test_a_stranger_sees_nothing(self):
        root, _ = self.serve()
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.scrape(root, "guess")
        self.assertEqual(refused.exception.code, 401)
        refused.exception.close()


if __name__ == "__main__":
    harness.PROGRAM, harness.BIN = sys.argv[1], sys.argv[2]
    unittest.main(argv=sys.argv[:1])
