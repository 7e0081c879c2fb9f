"""Rules 19, 20 and 21: what is compared, what is left out, what hardware allows."""
import os

from harness import Case
import harness


class Verdicts(Case):
    def counts(self, answer):
        return [(unit["values"], unit["digests"], unit["executed"], unit["skipped"])
                for unit in answer.verdict["units"]]

    def test_rule_19_values_and_digests_are_counted_per_unit(self):
        run = self.record("train", "--guard")
        executed = run.replay("train", "--guard", "--inner", probe="all", workers=2)
        # 3 losses and the accuracy; the block's and the iteration's state. `begin` and `end` at the ends.
        self.assertEqual(self.counts(executed), [(5, 2, 1, 0)] + 4 * [(4, 2, 1, 0)] + [(5, 2, 1, 0)])
        self.assertEqual((executed.verdict["values"], executed.verdict["digests"]), (26, 12))
        skipped = run.replay("train", "--guard", "--outer", workers=2)
        self.assertEqual(self.counts(skipped), [(2, 1, 0, 1)] + 4 * [(1, 1, 0, 1)] + [(2, 1, 0, 1)])
        self.assertIn("26 values and 12 states compared",
                      self.flor("show", f"{run.id}/{os.path.basename(executed.path)}").stdout)

    def test_rule_19_only_what_was_executed_is_compared(self):
        run = self.record("train")
        self.assertEqual(self.counts(run.replay("train")), [(2, 0, 0, 1)] + 4 * [(1, 0, 0, 1)] + [(2, 0, 0, 1)])
        self.assertEqual(self.counts(run.replay("train", probe="all")),
                         [(5, 1, 1, 0)] + 4 * [(4, 1, 1, 0)] + [(5, 1, 1, 0)])

    def test_rule_19_nothing_compared_is_unproved(self):
        run = self.record("train", "--quiet")
        answer = run.replay("train", "--quiet", "--outer", code=4)
        self.assertEqual(answer.verdict["verdict"], "unproved")
        self.assertIn("nothing was compared", answer.reasons)

    def test_rule_19_a_changed_a_missing_and_a_surplus_value_differ(self):
        run = self.record("train")
        answer = run.replay("train", "--change=2", code=3)
        self.assertEqual(answer.verdict["differences"],
                         [{"at": "epoch=2", "name": "accuracy", "recorded": None, "replayed": 0.0}])
        answer = run.replay("train", "--quiet", probe="all", code=3)
        self.assertEqual(len(answer.verdict["differences"]), 26)
        self.assertEqual({difference["replayed"] for difference in answer.verdict["differences"]}, {None})
        run = self.record("train", "--clock=1")
        answer = run.replay("train", "--clock=2", code=3)
        self.assertEqual(answer.verdict["differences"][0],
                         {"at": "epoch=0", "name": "seconds", "recorded": 1.0, "replayed": 2.5})

    def test_rule_20_volatile_rows_are_outside_of_the_verdict(self):
        run = self.record("train", "--clock=1", "--volatile")
        self.assertIn('"@volatile":true', run.log())
        answer = run.replay("train", "--clock=1", "--volatile", workers=2)
        self.assertEqual((answer.verdict["verdict"], answer.verdict["values"]), ("identical", 8))
        self.assertEqual(len([row for row in answer.rows if row[1] == "seconds"]), 6)

    def test_rule_20_volatile_is_suggested_for_names_of_measured_times(self):
        run = self.record("train", "--clock=1")
        answer = run.replay("train", "--clock=1", code=3)
        self.assertIn("'seconds' looks like a measured time", answer.reasons)
        self.assertIn("flor::is_volatile", answer.reasons)


class Environment(Case):
    def test_rule_21_a_worker_that_differs_refuses_with_a_line(self):
        run = self.record("train", "--guard")
        done = run.ask("train", "--guard", env={"RULES_CPU": "vector"}, code=1)
        self.assertIn("cpu is 'vector', recorded 'scalar'", done.stderr)
        self.assertIn("--any-device", done.stderr)
        self.assertEqual(os.listdir(os.path.join(run.newest_replay(), "units")), [])

    def test_rule_21_any_device_is_unproved_at_best(self):
        run = self.record("train", "--guard")
        answer = run.replay("train", "--guard", probe="all", env={"RULES_CPU": "vector"}, flags=("--any-device",),
                            code=4)
        self.assertEqual(answer.verdict["verdict"], "unproved")
        self.assertEqual(answer.verdict["environment"], [{"key": "cpu", "recorded": "scalar", "replayed": "vector"}])
        self.assertEqual(answer.rows, self.plain("train"))
        answer = run.replay("train", "--guard", "--change=1", flags=("--any-device",), code=3)
        self.assertEqual(answer.verdict["verdict"], "differs")

    def test_rule_21_what_can_be_set_is_set(self):
        run = self.record("train", env={"RULES_THREADS": "4"})
        self.assertEqual(run.manifest()["environment"]["threads"], "4")
        self.assertEqual(run.replay("train").verdict["verdict"], "identical")

    def test_rule_21_what_must_be_set_before_the_process_starts_is(self):
        run = self.record("train", env={"CUBLAS_WORKSPACE_CONFIG": ":4096:8"})
        answer = run.replay("/bin/sh", "-c", f"echo preset is $CUBLAS_WORKSPACE_CONFIG; exec {harness.PROGRAM} train")
        with open(os.path.join(answer.path, "workers", "worker-0.out")) as file:
            self.assertIn("preset is :4096:8", file.read())
