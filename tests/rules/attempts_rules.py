"""A replay asks about one attempt of a recording, as it was when the replay was planned."""
import os

from resuming_rules import Interrupted


class Attempts(Interrupted):
    def test_answers_about_an_earlier_attempt_count_no_more(self):
        run = self.killed("train", "--guard", at=3)
        answer = run.replay("train", "--guard", "--inner", probe="train", flags=("--epochs", "0:3"))
        self.assertEqual(answer.verdict["verdict"], "identical", answer.output)
        self.assertIn("inner", {row[1] for row in run.joined()})
        self.resume(run, "train", "--guard", at=3)
        self.assertNotIn("inner", {row[1] for row in run.joined()})
        self.assertIn("of an earlier attempt", self.flor("show", run.id).stdout)
        refused = self.flor("collect", run.id + "/" + os.path.basename(answer.path), code=1)
        self.assertIn("was resumed since replay", refused.stderr)
        again = run.replay("train", "--guard", "--inner", probe="train", flags=("--known",), workers=2)
        self.assertEqual(again.verdict["verdict"], "identical", again.output)
        self.assertEqual(run.joined(), self.plain("train", "--guard", "--inner"))

    def test_a_replay_planned_while_it_was_recorded_ends_where_the_plan_does(self):
        run, process, _ = self.hold("train", "--guard", at=3, flags=("--every", "1"))
        self.wait_for(lambda: "@iteration/epoch=2" in run.checkpoints(), "the checkpoint of epoch 2")
        trace = "--trace=" + self.path("trace")
        program = [self.program(), "train", "--guard", "--inner", trace]
        self.flor("prepare", run.id, "--replay", "early", "--epochs", "0:3", "--probe", "train", "--", *program)
        self.go_on()
        self.assertEqual(process.wait(timeout=60), 0)
        self.start_redis()
        self.execute(program, env={"FLOR_REPLAY": run.id + "/early"})
        self.assertEqual(sorted(set(self.trained())), [0, 1, 2])
        said = self.flor("collect", run.id + "/early").stdout
        self.assertIn("identical", said)
        # What follows the loop has not been compared, so the same question is another one now.
        answer = run.replay("train", "--guard", "--inner", trace, probe="train", flags=("--known", "--epochs", "0:6"))
        self.assertEqual(answer.verdict["verdict"], "identical", answer.output)
        self.assertTrue(answer.plan["covers_end"])
