"""A file server refuses to read for a while when a recording is to go on. Nothing is lost by that."""
import os

import harness
from harness import json_lines
from requeue_rules import Requeued


class Refused(Requeued):
    def refusing(self, part, often, patience="180", after=0):
        library = os.path.join(os.path.dirname(harness.PROGRAM), "refused_reads.so")
        return {"LD_PRELOAD": library, "REFUSED": part, "REFUSALS": often, "FLOR_PATIENCE": patience, "REFUSED_AFTER": str(after)}

    def killed(self, *program, at, checkpoint="@iteration/epoch=2"):
        """As there, and its checkpoint has a row, which a start that fails leaves behind."""
        for name in ("until", "until.reached"):
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        process = self.start_task(program, at)
        self.wait_for(lambda: os.path.exists(self.path("until.reached")), f"epoch {at}")
        run = self.newest_run()
        self.wait_for(lambda: f'"file":"checkpoints/{checkpoint}' in self.timeline(run), checkpoint)
        process.kill()
        process.wait(60)
        self.go_on()
        return run

    def timeline(self, run):
        with open(run.file("timeline.jsonl")) as file:
            return file.read()

    def doubts(self, run):
        return [row for row in json_lines(run.file("timeline.jsonl")) if row["kind"] == "doubt"]

    def test_what_is_refused_for_a_moment_is_read_again(self):
        for number, part in enumerate(("checkpoints/@iteration/epoch=2", "timeline.jsonl", "generators.jsonl", "run.json")):
            with self.subTest(part=part):
                self.environment["FLOR_STORE"] = self.path(f"store{number}")
                run = self.killed("train", "--guard", at=3)
                done = self.requeued("train", "--guard", at=3, **self.refusing(part, "3"))
                self.assertRegex(done.stderr, "Stale file handle.*; trying again for 180 s")
                self.assertIn("resumed behind epoch=2", done.stderr)
                self.assertEqual(run.manifest()["status"], "completed")
                self.assertEqual(self.doubts(run), [])

    def test_a_moment_later_it_is_waited_for_as_well(self):
        """While the run is taken over, and at the entry of its loop, minutes after the program began."""
        waited = 0
        for part, opens in (("timeline.jsonl", range(1, 8)), ("generators.jsonl", range(1, 4)), ("run.json", range(1, 8))):
            for after in opens:
                with self.subTest(part=part, after=after):
                    self.environment["FLOR_STORE"] = self.path(f"store-{part.split('.')[0]}-{after}")
                    run = self.killed("train", "--guard", at=3)
                    done = self.requeued("train", "--guard", at=3, **self.refusing(part, "2", after=after))
                    self.assertIn("resumed behind epoch=2", done.stderr)
                    self.assertEqual(run.manifest()["status"], "completed")
                    waited += "trying again for 180 s" in done.stderr
        self.assertGreater(waited, 8)

    def test_where_nothing_can_be_read_the_record_is_left_for_the_next_start(self):
        run = self.killed("train", "--guard", at=3)
        done = self.requeued("train", "--guard", at=3, **self.refusing("checkpoints/@iteration", "always", "0.3"))
        self.assertIn("the recording of this job cannot be resumed, so the program starts again, unrecorded:", done.stderr)
        self.assertTrue(done.stdout.endswith(self.plain_rows("train", "--guard", at=3)), done.stdout)
        self.assertEqual(self.doubts(run), [])
        done = self.execute([self.program(), *self.holding(["train", "--guard"], 3)], env={"FLOR_LAUNCH": "c.7.0.2", "FLOR_RECORD": "1"})
        self.assertIn("resumed behind epoch=2", done.stderr)

    def test_a_user_who_asked_is_told_and_nothing_is_trained(self):
        run = self.killed("train", "--guard", at=3)
        for name in ("FLOR_RECORD", "FLOR_LAUNCH"):
            del self.environment[name]
        flags = ["record", "--resume", run.id, "--every", "1", "--", self.program(), *self.holding(["train", "--guard"], 3)]
        self.environment.update(self.refusing("checkpoints/@iteration", "always", "0.3"))
        done = self.flor(*flags, code=1)
        self.assertRegex(done.stderr, "error: the recording cannot be resumed: .*Stale file handle")
        self.environment["REFUSALS"] = "0"
        self.assertIn("resumed behind epoch=2", self.flor(*flags).stderr)
