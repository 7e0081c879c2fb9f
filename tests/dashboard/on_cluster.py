"""The page in a real browser, while a cluster records and replays: on_cluster.py RULES_PROGRAM BIN SCREENSHOTS CLUSTER, where CLUSTER
is scripts/cluster and its environment is set. Redis is killed meanwhile, the event stream is cut, and the page is loaded anew."""
import json
import os
import signal
import subprocess
import sys
import unittest
import urllib.request

from selenium.webdriver.common.by import By

from browser import Case, harness

CLUSTER = sys.argv[4]
KEPT = {name: value for name, value in os.environ.items() if name.startswith("SLURM_CONF") or name in ("FLOR_REDIS", "FLOR_CLUSTER_DIR")}


class OnCluster(Case):
    def setUp(self):
        super().setUp()
        self.environment.update(KEPT)

    def held(self, *words):
        return ["train", "--guard", "--epochs=9", *words, "--until=" + self.path("until")]

    def wait_until_held(self):
        self.wait_for(lambda: os.path.exists(self.path("until.reached")), "an epoch that waits")

    def let_go(self):
        open(self.path("until"), "w").close()
        os.remove(self.path("until.reached"))

    def recording(self):
        """srun in the background."""
        return subprocess.Popen(["srun", "--flor-record", "--flor-name=held", "--flor-store=" + self.environment["FLOR_STORE"], harness.PROGRAM,
                                 *self.held("--hold=3", "--in=recording")], env={**self.environment, "FLOR_EVERY": "1"},
                                cwd=self.directory, stdout=subprocess.DEVNULL, start_new_session=True)

    def kill_redis(self):
        with open(os.path.join(KEPT["FLOR_CLUSTER_DIR"], "run", "redis-server.pid")) as file:
            os.kill(int(file.read()), signal.SIGKILL)

    def offline(self, is_so):
        self.driver.execute_cdp_cmd("Network.enable", {})
        self.driver.execute_cdp_cmd("Network.emulateNetworkConditions",
                                    {"offline": is_so, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})

    def served_rows(self, link, run, name):
        """How many rows of a name the page's server gives."""
        address, token = link.split("/#token=")
        request = urllib.request.Request(f"{address}/data/runs/{run}/series?name={name}&points=2000", headers={"Authorization": "Bearer " + token})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return len(json.load(answer)["y"])

    def test_a_recording_and_a_replay_are_watched_through_all_that_may_happen(self):
        link = self.serve()[1]
        self.driver.get(link)
        self.until(lambda: "No runs yet" in self.text())
        self.mark()
        recording = self.recording()
        self.addCleanup(harness.end_session, recording)
        self.wait_until_held()
        self.until(lambda: "recording" in self.text() and "3/9" in self.text())
        self.offline(True)
        self.let_go()
        self.assertEqual(recording.wait(120), 0)
        self.offline(False)
        self.until(lambda: "completed" in self.text() and "9/9" in self.text())
        self.assertTrue(self.is_marked(), "it goes on without being loaded anew")
        os.remove(self.path("until"))

        run = self.newest_run()
        replay = self.start("replay", run.id, "--launcher", "slurm", "--workers", "3", "--probe", "all", "--", harness.PROGRAM,
                            *self.held("--inner", "--hold=4", "--in=replaying"))
        self.wait_until_held()
        name = os.path.basename(run.newest_replay())
        self.driver.get(f"{link.split('#')[0]}run/{run.id}/replay/{name}")
        self.until(lambda: "unit 4" in self.text())
        self.mark()
        self.shoot("cluster-replay")
        self.kill_redis()
        self.driver.refresh()
        self.until(lambda: "unit 4" in self.text(), 60)
        self.assertFalse(self.is_marked())
        self.mark()
        subprocess.run([CLUSTER, "up"], check=True, stdout=subprocess.DEVNULL)
        self.let_go()
        said = replay.communicate(timeout=180)[0]
        self.assertEqual(replay.returncode, 0, said)
        self.until(lambda: "identical" in self.text() and "units, 0 differ" in self.text(), 60)
        self.assertTrue(self.is_marked())
        rows = self.plain(*self.held("--inner"))
        for name in {row[1] for row in rows}:
            self.assertEqual(self.served_rows(link, run.id, name), len([row for row in rows if row[1] == name]), name)
        self.driver.find_element(By.LINK_TEXT, "Flor").click()
        self.until(lambda: "1–1 of 1" in self.text())
        self.assert_quiet(expected=("ERR_INTERNET_DISCONNECTED", "ERR_NETWORK"))


if __name__ == "__main__":
    harness.PROGRAM, harness.BIN = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
