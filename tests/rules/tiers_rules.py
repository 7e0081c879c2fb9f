"""Recordings whose checkpoints land in a local tier: they end up in the store, and replay like any other."""
import os
import shutil
import signal
import socket
import threading

from harness import Case, json_lines
import harness

FILE = "checkpoints/train/epoch=2.safetensors"


class LocalTier(Case):
    def setUp(self):
        super().setUp()
        self.tier = self.path("tier")
        os.mkdir(self.tier)
        self.environment["FLOR_LOCAL"] = self.tier

    def local(self, run):
        return os.path.join(self.tier, f"flor-{os.getuid()}", run.id)

    def tiers(self, run):
        return [row.get("tier") for row in json_lines(run.file("timeline.jsonl")) if row["kind"] == "checkpoint"]

    def test_all_is_in_the_store_when_the_program_ends(self):
        run = self.record("train", "--guard")
        self.assertEqual(set(self.tiers(run)), {"local"})
        self.assertFalse(os.path.exists(self.local(run)))
        self.assertEqual(run.manifest()["policy"]["local"], self.local(run))
        self.assertEqual(run.manifest()["status"], "completed")
        self.assertEqual(len(run.checkpoints()), 13)
        self.assertIn("nothing is damaged", self.flor("check", run.id).stdout)
        self.assertNotIn("local tier", self.flor("show", run.id).stdout)
        self.assertEqual(run.replay("train", "--guard", "--outer").verdict["verdict"], "identical")

    def test_a_rate_is_kept_to_and_the_wait_is_said(self):
        self.environment["FLOR_SPOOL_RATE"] = "1k"
        run = self.record("train")  # about 10 kB
        self.assertIn("of the local tier are in the store", run.done.stderr)
        self.assertFalse(os.path.exists(self.local(run)))
        self.assertIn("nothing is damaged", self.flor("check", run.id).stdout)

    def test_a_killed_program_loses_nothing_that_it_had_finished(self):
        until = self.path("until")
        process = self.start("record", "--every", "1", "--", harness.PROGRAM, "train", "--guard", "--epochs=12",
                             "--hold=10", "--in=recording", "--until=" + until)
        self.wait_for(lambda: os.path.exists(until + ".reached"), "epoch 10")
        run = self.newest_run()
        self.wait_for(lambda: len(self.tiers(run)) == 21, "21 checkpoints")
        os.kill(run.manifest()["pid"], signal.SIGKILL)
        process.communicate(timeout=60)
        self.wait_for(lambda: not os.path.exists(self.local(run)), "the agent to bring them all")
        self.assertEqual(len(run.checkpoints()), 21)
        self.assertIn("nothing is damaged", self.flor("check", run.id).stdout)
        answer = run.replay("train", "--guard", "--epochs=12", "--inner", probe="all", flags=("--epochs", "0:10"))
        self.assertEqual(answer.verdict["verdict"], "identical", answer.output)

    def test_checkpoints_come_to_the_store_though_the_agent_does_not_see_the_tier(self):
        """Of another job, say, where each job has a /dev/shm of its own."""
        server = socket.socket(socket.AF_UNIX)
        server.bind(self.environment["FLOR_AGENT_SOCKET"])
        server.listen()
        self.addCleanup(server.close)
        self.addCleanup(server.shutdown, socket.SHUT_RDWR)  # ends accept()
        threading.Thread(target=self.refuse, args=(server,), daemon=True).start()
        until = self.path("until")
        process = self.start("record", "--every", "1", "--", harness.PROGRAM, "train", "--guard", "--epochs=12",
                             "--hold=10", "--in=recording", "--until=" + until)
        self.wait_for(lambda: os.path.exists(until + ".reached"), "epoch 10")
        run = self.newest_run()
        self.wait_for(lambda: len(run.checkpoints()) == 21, "21 checkpoints in the store")
        os.kill(run.manifest()["pid"], signal.SIGKILL)
        said = process.communicate(timeout=60)[0]
        self.assertEqual(said.count("so this process does: flor-agent at"), 1, said)
        self.assertIn("refused: there is no such directory", said)
        self.assertIn("nothing is damaged", self.flor("check", run.id).stdout)

    @staticmethod
    def refuse(server):
        while True:
            try:
                one = server.accept()[0]
            except OSError:
                return
            with one:
                one.recv(1 << 16)
                one.sendall(b'{"ok":false,"error":"there is no such directory"}\n')

    def test_a_tier_that_cannot_be_used_is_said_and_done_without(self):
        self.environment["FLOR_LOCAL"] = self.path("nowhere")
        run = self.record("train", env={"FLOR_SPOOL_RATE": "fast"})
        self.assertEqual(run.done.stderr.count("checkpoints go straight to the store"), 1, run.done.stderr)
        self.assertEqual(set(self.tiers(run)), {None})
        self.assertNotIn("local", run.manifest()["policy"])
        self.assertEqual(run.manifest()["status"], "completed")

    def test_what_still_lies_in_the_local_tier_is_no_damage(self):
        run = self.record("train")
        there = os.path.join(self.local(run), FILE)
        os.makedirs(os.path.dirname(there))
        shutil.move(run.file(FILE), there)
        checked = self.flor("check", run.id).stdout
        self.assertIn("1 checkpoint still lies in the local tier of node", checked)
        self.assertIn("nothing is damaged", checked)
        self.assertIn("1 checkpoint still lies in the local tier of node", self.flor("show", run.id).stdout)
        answer = run.replay("train", "--outer")
        self.assertEqual(answer.verdict["verdict"], "identical", answer.output)
        self.assertIn("it may still lie in the local tier of node", answer.output + answer.reasons)
        os.remove(there)
        self.assertIn("the file is missing", self.flor("check", run.id, code=1).stdout)
