"""Rule 14: loops end as recorded."""
import glob
import json
import os
import signal

from harness import Case, WITHOUT_PROOF, named, without
import harness


class Endings(Case):
    def record_ending(self, *how, code=0):
        run = self.record("endings", *how, code=code)
        loop = run.manifest()["loops"][0]
        return run, loop["ended"], loop["last"]

    def assert_replays(self, run, *how, skipped=("loss", "batch_loss"), traced=None):
        """With an outer probe (blocks skipped) and with an inner one (all executed)."""
        trace = "--trace=" + self.path("trace")
        code = run.manifest()["exit_code"]
        for probe, probes in (("none", ["--outer"]), ("all", ["--inner", "--outer"])):
            expected = self.plain("endings", *how, *probes, code=code)
            answer = self.assert_same_for_all_cuts(run, "endings", *how, *probes, probe=probe, workers=(1, 3))
            if probe == "none":
                self.assert_same_for_all_cuts(run, "endings", *how, *probes, trace, probe=probe, workers=(1, 3),
                                              flags=WITHOUT_PROOF, verdict="unproved")
            lines = self.traced()
            if probe == "all":
                self.assertEqual(answer.rows, expected)
                self.assertEqual(run.joined(), expected)
            else:
                self.assertEqual(without(answer.rows, "loss"), without(expected, "loss"))
                executed = sorted({line for line in lines if line.startswith(("train", "batch"))})
                self.assertEqual(executed, [line + " replaying" for line in traced or []])
        return answer

    def test_rule_14_exhausted(self):
        for mode in ([], ["--guard"]):
            run, ended, last = self.record_ending(*mode)
            self.assertEqual((ended, last), ("exhausted", 5))
            self.assert_replays(run, *mode)

    def test_rule_14_left_by_break(self):
        last_blocks = ["train 3"]
        for mode in ([], ["--guard"]):
            how = [*mode, "--end=break", "--at=3"]
            run, ended, last = self.record_ending(*how)
            self.assertEqual((ended, last), ("early", 3))
            self.assert_replays(run, *how, traced=last_blocks)

    def test_rule_14_left_for_what_a_block_found_out(self):
        for mode in ([], ["--guard"]):
            how = [*mode, "--end=found", "--at=3"]
            run, ended, last = self.record_ending(*how)
            self.assertEqual((ended, last), ("early", 3))
            self.assertNotIn("@iteration/epoch=3", run.checkpoints())  # it is no iteration's end
            self.assert_replays(run, *how, traced=["train 3"])

    def test_rule_14_left_by_an_exception_for_what_a_block_found_out(self):
        for mode in ([], ["--guard"]):
            how = [*mode, "--end=diverged", "--at=3"]
            run, ended, last = self.record_ending(*how)
            self.assertEqual((ended, last), ("unwound", 3))
            self.assertIn("train/epoch=3", run.checkpoints())
            self.assert_replays(run, *how, traced=["train 3"])

    def test_rule_14_left_by_exit_inside_of_a_block(self):
        for mode, code in (([], 0), ([], 3), (["--guard"], 0), (["--guard"], 3)):
            how = [*mode, "--end=exit", "--at=3", f"--code={code}"]
            run, ended, last = self.record_ending(*how, code=code)
            self.assertEqual((ended, last), ("early", 3))
            self.assertEqual(run.manifest()["status"], "failed" if code else "completed")
            self.assertNotIn("train/epoch=3", run.checkpoints())
            self.assert_replays(run, *how, traced=["train 3"])

    def test_rule_14_left_by_an_exception(self):
        for mode in ([], ["--guard"]):
            how = [*mode, "--end=throw", "--at=3"]
            run, ended, last = self.record_ending(*how)
            self.assertEqual((ended, last), ("unwound", 3))
            self.assertNotIn("train/epoch=3", run.checkpoints())
            self.assertNotIn("@iteration/epoch=3", run.checkpoints())
            self.assert_replays(run, *how, traced=["train 3"])

    def test_rule_14_block_left_by_an_exception_is_never_checkpointed(self):
        for mode in ([], ["--guard"]):
            how = [*mode, "--end=caught", "--at=3"]
            run, ended, last = self.record_ending(*how)
            self.assertEqual((ended, last), ("exhausted", 5))
            self.assertEqual([name for name in run.checkpoints() if name.startswith("train")],
                             [f"train/epoch={epoch}" for epoch in (0, 1, 2, 4, 5)])
            self.assert_replays(run, *how, traced=["train 3"])

    def test_rule_14_nested_loops_left_early_execute_the_blocks_of_their_last_iteration(self):
        for mode in ([], ["--guard"]):
            how = [*mode, "--end=nested"]
            run, ended, _ = self.record_ending(*how)
            self.assertEqual(ended, "exhausted")
            self.assert_replays(run, *how, traced=[f"batch {epoch}.{epoch % 3}" for epoch in range(6)])

    def test_rule_14_a_loop_that_ends_elsewhere_differs(self):
        for mode in ([], ["--guard"]):
            run, _, _ = self.record_ending(*mode, "--end=break", "--at=3")
            for edit in (["--end=break", "--at=1"], ["--end=break", "--at=4"], [], ["--end=throw", "--at=3"]):
                for workers in (1, 3):
                    answer = run.replay("endings", *mode, *edit, probe="all", workers=workers, code=3)
                    self.assertEqual(answer.verdict["verdict"], "differs")
                    self.assertIn("end of loop epoch", [d["name"] for d in answer.verdict["differences"]], edit)

    def test_rule_14_an_exhausted_loop_that_is_left_early_differs(self):
        for mode in ([], ["--guard"]):
            run, _, _ = self.record_ending(*mode)
            for workers in (1, 3):
                answer = run.replay("endings", *mode, "--end=break", "--at=1", workers=workers, code=3)
                self.assertIn("end of loop epoch", [d["name"] for d in answer.verdict["differences"]])

    def test_rule_14_a_passing_fault_is_no_end(self):
        for mode in ([], ["--guard"]):
            run, _, _ = self.record_ending(*mode)
            expected = self.plain("endings", *mode, "--inner", "--outer")
            for end, at in (("throw", 1), ("throw", 5), ("exit", 3), ("break", 2), ("late", 5)):
                for workers in (1, 3):
                    once = self.path(f"once-{len(mode)}-{end}-{at}-{workers}")
                    answer = run.replay("endings", *mode, "--inner", "--outer", f"--end={end}", f"--at={at}", "--once=" + once,
                                        probe="all", workers=workers)
                    self.assertTrue(os.path.exists(once), "the fault came")
                    self.assertEqual((answer.verdict["verdict"], answer.rows), ("identical", expected), answer.output)
                    self.assertNotIn("ending", str(answer.verdict["workers"]))

    @staticmethod
    def endings_seen(run):
        """How often the loop of the only unit ended as the record does not know."""
        for path in glob.glob(run.file("replays", "*", "workers", "ending-*")):
            with open(path) as file:
                return len(json.load(file)["executions"])
        return 0

    def test_rule_14_a_fault_that_lasts_is_no_end(self):
        self.environment["FLOR_ENDING_SECONDS"] = "12"  # executed at 0, 2 and 6 s
        for mode in ([], ["--guard"]):
            run, _, _ = self.record_ending(*mode)
            fault = self.path("fault")
            open(fault, "w").close()
            program = ["endings", *mode, "--inner", "--end=throw", "--at=2", "--while=" + fault]
            replay = self.start("replay", run.id, "--launcher", "local", "--workers", "1", "--probe", "all", "--", harness.PROGRAM, *program)
            self.wait_for(lambda: self.endings_seen(run) == 2, "a second end of the loop")
            os.remove(fault)
            said, _ = replay.communicate(timeout=60)
            self.assertEqual(replay.returncode, 0, said)
            self.assertEqual(run.joined(), self.plain("endings", *mode, "--inner"))

    def test_rule_14_nothing_is_executed_behind_a_recorded_end_that_does_not_repeat(self):
        trace = "--trace=" + self.path("trace")
        for mode in ([], ["--guard"]):
            for how, code, last in (("break", 0, ["train 3"]), ("throw", 5, ["train 3"]), ("exit", 5, ["train 3"]),
                                    ("inside", 0, ["batch 3.1", "train 3"])):
                end = [*mode, f"--end={how}", "--at=3", "--recorded"]
                # The program as it was recorded had the other exit code.
                run, _, _ = self.record_ending(*end, f"--code={code}", code=code)
                for workers in (1, 3):
                    answer = run.replay("endings", *end, "--inner", "--outer", trace, probe="all", workers=workers, code=3)
                    self.assertIn("end of loop epoch", [d["name"] for d in answer.verdict["differences"]])
                    self.assertIn("running after 3", json.dumps(answer.verdict["differences"]))
                    executed = [line.split(" replaying")[0] for line in self.traced()]
                    self.assertEqual([line for line in executed if line.split()[-1] >= "4"], [], how)
                    self.assertTrue(set(last) <= set(executed), executed)
                    if how == "inside":
                        self.assertNotIn("batch 3.2", executed)
                    self.assertNotIn("behind", executed)
                    expected = named(self.plain("endings", *mode, "--inner"), "inner")
                    self.assertEqual(named(answer.rows, "inner"), [row for row in expected if int(row[0][0][1]) <= 3])

    def test_rule_14_another_exit_code_behind_another_end_differs(self):
        for mode in ([], ["--guard"]):
            run, _, _ = self.record_ending(*mode)
            for workers in (1, 3):
                answer = run.replay("endings", *mode, "--end=throw", "--at=5", "--code=7", probe="all", workers=workers, code=3)
                self.assertIn("unwound after 5", json.dumps(answer.verdict["differences"]))

    def test_rule_14_where_the_loop_cannot_be_begun_nothing_is_answered(self):
        for mode in ([], ["--guard"]):
            run = self.record("container", *mode)
            items = self.path("items")
            for workers in (1, 3):
                open(items, "w").close()
                program = ["container", *mode, "--inner", "--unreadable=" + items]
                said = run.ask(*program, probe="all", workers=workers, code=1)
                self.assertIn("the program left loop epoch before its first iteration", said.stdout + said.stderr)
                self.assertFalse(os.path.exists(os.path.join(run.newest_replay(), "verdict.json")))
                os.remove(items)
                answer = run.replay(*program, probe="all", workers=workers)
                self.assertEqual((answer.verdict["verdict"], answer.rows), ("identical", self.plain("container", *mode, "--inner")))

    def killed_in(self, epoch, *mode):
        until = self.path("recording" + "".join(mode))
        recording = self.start("record", "--every", "1", "--", harness.PROGRAM, "endings", *mode, f"--hold={epoch}", "--in=recording",
                               "--until=" + until)
        pid = self.held(until, "the epoch in which it is killed")
        run = self.newest_run()
        # Its rows are on record once a checkpoint behind them is.
        self.wait_for(lambda: f"train/epoch={epoch - 1}" in run.checkpoints(), "the checkpoint of the epoch before")
        os.kill(pid, signal.SIGKILL)
        recording.communicate(timeout=60)
        return run

    def test_rule_14_an_end_that_a_killed_recording_did_not_have_is_told(self):
        for mode in ([], ["--guard"]):
            run = self.killed_in(4, *mode)
            late = ["--outer", "--end=late", "--at=1"]
            answer = run.replay("endings", *mode, *late, probe="all", flags=("--epochs", "0:3"), code=3)
            self.assertIn("unwound after 1", json.dumps(answer.verdict["differences"]))
            # Without a guard, epoch 2 is reached through epoch 1.
            self.assertEqual([row[0][0][1] for row in named(answer.rows, "outer")], ["0", "2"] if mode else ["0"])
            once = "--once=" + self.path("once" + str(len(mode)))
            answer = run.replay("endings", *mode, *late, once, probe="all", flags=("--epochs", "0:3"))
            self.assertEqual([row[0][0][1] for row in named(answer.rows, "outer")], ["0", "1", "2"])

    def test_rule_14_to_be_told_to_end_is_no_end(self):
        for mode in ([], ["--guard"], ["--handler=inner"], ["--handler=inner", "--guard"]):
            if "--handler=inner" not in mode:
                mode.append("--handler")
            run, _, _ = self.record_ending(*mode)
            until = self.path("replaying" + "".join(mode))
            program = ["endings", *mode, "--inner", "--hold=3", "--in=replaying", "--until=" + until]
            replay = self.start("replay", run.id, "--launcher", "local", "--workers", "1", "--probe", "all", "--", harness.PROGRAM, *program)
            os.kill(self.held(until, "epoch 3 of the replay"), signal.SIGTERM)
            open(until, "w").close()
            said = replay.communicate(timeout=60)
            self.assertEqual(replay.returncode, 0, said)
            self.assertEqual(run.joined(), self.plain("endings", *mode, "--inner"))

    def test_rule_14_an_end_repeats_though_volatile_rows_do_not(self):
        run, _, _ = self.record_ending("--clock")
        answer = run.replay("endings", "--clock", "--end=break", "--at=2", probe="all", code=3)
        self.assertIn("end of loop epoch", [d["name"] for d in answer.verdict["differences"]])

    def test_rule_14_a_shorter_container_differs(self):
        for mode in ([], ["--guard"]):
            run = self.record("container", *mode)
            for workers in (1, 3):
                answer = run.replay("container", *mode, "--items=4", probe="all", workers=workers, code=3)
                self.assertIn("end of loop epoch", [d["name"] for d in answer.verdict["differences"]])
                self.assertEqual(named(answer.rows, "loss"), named(self.plain("container", "--items=4"), "loss"))
