"""Rules 1 and 5: state by reference, random numbers."""
import json

from harness import Case, json_lines, named, without


class State(Case):
    def test_rule_01_a_variable_that_was_assigned_anew_is_read_anew(self):
        for mode in ([], ["--guard"]):
            run = self.record("growing", *mode)
            expected = self.plain("growing", *mode, "--outer")
            answer = self.assert_same_for_all_cuts(run, "growing", *mode, "--outer", workers=(1, 3, 6))
            self.assertEqual(answer.total("executed"), 0)
            self.assertEqual(answer.rows, named(expected, "history", "outer"))
            self.assertEqual(run.joined(), expected)

    def test_rule_05_probe_that_draws_shifts_nothing(self):
        plain = self.plain("train")
        drawn = self.plain("train", "--outer", "--draw")
        self.assertNotEqual(without(drawn, "outer"), plain, "the probe does not disturb a plain run: no test")
        for mode in ([], ["--guard"]):
            run = self.record("train", *mode)
            for probe, names in (("none", ["loss"]), ("all", [])):
                answer = self.assert_same_for_all_cuts(run, "train", *mode, "--outer", "--draw", probe=probe)
                self.assertEqual(without(answer.rows, "outer"), without(plain, *names))
                self.assertEqual(len(named(answer.rows, "outer")), 6)

    def test_rule_05_probe_in_a_block_that_draws_disturbs_that_block_only_and_is_detected(self):
        plain = self.plain("train")
        for mode in ([], ["--guard"]):
            run = self.record("train", *mode)
            answer = self.assert_same_for_all_cuts(run, "train", *mode, "--inner", "--draw", probe="train",
                                                   verdict="differs")
            self.assertEqual(answer.differing_units(), [0, 1, 2, 3, 4, 5])
            # The first loss of each block stands before the first draw; what follows a block is as recorded.
            self.assertEqual(named(answer.rows, "accuracy", "begin", "end"), named(plain, "accuracy", "begin", "end"))
            first = [row for row in answer.rows if row[1] == "loss" and row[0][1] == ("step", "0")]
            self.assertEqual(first, [row for row in plain if row[1] == "loss" and row[0][1] == ("step", "0")])

    def test_rule_05_skipped_block_leaves_the_generator_as_the_executed_one_did(self):
        # `accuracy` draws behind the block, `end` behind the loop.
        plain = self.plain("train")
        for mode in ([], ["--guard"]):
            run = self.record("train", *mode)
            answer = self.assert_same_for_all_cuts(run, "train", *mode)
            self.assertEqual((answer.total("executed"), answer.total("skipped")), (0, 6))
            self.assertEqual(answer.rows, without(plain, "loss"))

    def test_rule_05_every_execution_and_iteration_has_its_states_checkpointed_or_not(self):
        run = self.record("train", every=4)
        self.assertEqual(run.checkpoints(), ["train/epoch=3"])
        noted = [(row["at"], row["edge"]) for row in json_lines(run.file("generators.jsonl")) if "at" in row]
        for epoch in range(6):
            self.assertIn((f"epoch={epoch}", "entry"), noted)
            self.assertIn((f"epoch={epoch}/train#0", "entry"), noted)
            self.assertIn((f"epoch={epoch}/train#0", "exit"), noted)
        # And they are used: a draw in front of each block that has no checkpoint.
        answer = self.assert_same_for_all_cuts(run, "train", "--outer", "--draw", probe="all")
        self.assertEqual(without(answer.rows, "outer"), self.plain("train"))

    def leave_states_out(self, run, *needed):
        """As in a record that grew large: of all places but these it has digests only."""
        rows = json_lines(run.file("generators.jsonl"))
        kept = {value for row in rows if row.get("at") in needed for value in row.values()}
        with open(run.file("generators.jsonl"), "w") as file:
            for row in rows:
                if "bytes" not in row or row["digest"] in kept:
                    file.write(json.dumps(row, separators=(",", ":")) + "\n")

    def test_rule_05_where_a_record_has_digests_only_a_replay_is_right_without_states(self):
        run = self.record("train", "--guard", every=2)
        self.leave_states_out(run, "epoch=entry", "epoch=0", "epoch=2", "epoch=4", "epoch=exit")
        answer = self.assert_same_for_all_cuts(run, "train", "--guard", "--outer", probe="all")
        self.assertEqual(without(answer.rows, "outer"), self.plain("train"))
        run = self.record("train", every=2)
        self.leave_states_out(run)
        answer = self.assert_same_for_all_cuts(run, "train", "--outer")
        self.assertEqual(len(named(answer.rows, "outer")), 6)

    def test_rule_05_where_a_record_has_digests_only_a_probe_that_draws_is_detected(self):
        for mode in ([], ["--guard"]):
            run = self.record("train", *mode, every=2)
            self.leave_states_out(run, "epoch=entry", "epoch=0", "epoch=2", "epoch=4", "epoch=exit")
            answer = run.replay("train", *mode, "--outer", "--draw", probe="all", code=3)
            self.assertEqual(answer.verdict["verdict"], "differs", answer.output)
            self.assertIn("@generators", json.dumps(answer.verdict) + answer.output)

    def test_rule_05_a_probe_that_draws_in_front_of_a_unit_is_detected_at_digests_too(self):
        run = self.record("walk", every=4)
        # Each unit begins with states, so it looks as recorded by itself.
        self.leave_states_out(run, "epoch=entry", "epoch=exit", *(f"epoch={epoch}" for epoch in range(0, 24, 4)))
        part = {"flags": ("--epochs", "20:24")}
        right = [row for row in self.plain("walk", "--outer") if row[1] == "outer"][20:]
        self.assertEqual(named(run.replay("walk", "--outer", **part).rows, "outer"), right)
        answer = run.replay("walk", "--outer", "--draw", **part, code=3)
        self.assertEqual(answer.verdict["verdict"], "differs", answer.output)
        self.assertIn("@generators", json.dumps(answer.verdict) + answer.output)
