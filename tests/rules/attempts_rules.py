"""Of several attempts of a recording one counts: for a replay, as it was when that was planned, and for what is restored."""
import os
import signal

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

    def test_a_block_that_was_executed_again_is_not_restored_as_it_was_before(self):
        """The rows are those of the second execution, and on other hardware they differ."""
        trace = "--trace=" + self.path("trace")
        run = self.killed("train", trace, at=4)
        block = run.checkpoint("train/epoch=3")
        os.rename(block, self.path("away"))
        process, pid = self.hold("train", trace, at=4, flags=("--resume", run.id, "--every", "100"))[1:]
        os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=60)
        os.rename(self.path("away"), block)
        self.go_on()
        self.traced()
        self.resume(run, "train", trace, at=4)
        self.assertEqual(self.trained(), [3, 4, 5])
        self.assert_whole(run, "train", trace, attempts=2, at=4)

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
