"""Rule 9, and the main loop over a container (rule 6): which loop is the main one, and what becomes of the others."""
import os

from harness import Case, WITHOUT_PROOF, named, without


def outermost(row):
    return row[0][0][0] if row[0] else ""


class Loops(Case):
    def replayed_rows(self, rows):
        """Those that replay yields: the earlier loop's are left out."""
        return [row for row in rows if outermost(row) != "warmup"]

    def test_rule_09_the_loop_that_ran_longest_is_the_main_one(self):
        manifest = self.record("several").manifest()
        self.assertEqual([loop["name"] for loop in manifest["loops"]], ["warmup", "epoch", "warmup#1", "epoch#1"])
        self.assertEqual(manifest["main_loop"], 1)

    def test_rule_09_earlier_loop_yields_nothing_and_later_loops_run_behind_the_last_unit(self):
        for mode in ([], ["--guard"]):
            plain = self.plain("several", *mode, "--outer", "--inner")
            run = self.record("several", *mode)
            answer = self.assert_same_for_all_cuts(run, "several", *mode, "--outer", "--inner", probe="all")
            self.assertEqual(answer.rows, self.replayed_rows(plain))
            last = len(answer.plan["units"]) - 1
            for unit in range(last + 1):
                loops = {outermost(row) for row in answer.unit_rows(unit)} - {""}
                self.assertEqual(loops, {"epoch", "warmup#1", "epoch#1"} if unit == last else {"epoch"})
                names = [row[1] for row in answer.unit_rows(unit) if not row[0]]
                self.assertEqual(names, {0: ["begin", "between"], last: ["behind", "end"]}.get(unit, []))
            self.assertEqual(without(run.joined(), "outer", "inner"), without(plain, "outer", "inner"))

    def test_rule_09_skipped_everywhere(self):
        trace = "--trace=" + self.path("trace")
        for mode in ([], ["--guard"]):
            run = self.record("several", *mode)
            answer = self.assert_same_for_all_cuts(run, "several", *mode, "--outer")
            self.assertEqual(answer.rows, without(self.replayed_rows(self.plain("several", *mode, "--outer")), "loss"))
            self.assert_same_for_all_cuts(run, "several", *mode, "--outer", trace, flags=WITHOUT_PROOF, verdict="unproved")
            self.assertEqual(self.traced(), [])

    def test_rule_09_an_inner_probe_does_not_execute_the_earlier_loop(self):
        trace = "--trace=" + self.path("trace")
        for mode in ([], ["--guard"]):
            run = self.record("several", *mode)
            run.replay("several", *mode, "--inner", trace, probe="train", flags=("--epochs", "0:4"), workers=2)
            self.assertEqual({line.split()[0] for line in self.traced()}, {"epoch"})

    def test_rule_09_damaged_checkpoint_of_the_earlier_loop_is_made_up_for_by_pseudoresume(self):
        trace = "--trace=" + self.path("trace")
        run = self.record("several", "--guard")
        os.remove(run.checkpoint("@iteration/warmup=2"))
        os.remove(run.checkpoint("train/warmup=1"))
        answer = self.assert_same_for_all_cuts(run, "several", "--guard", trace, workers=(1, 3))
        self.assertEqual(answer.rows, without(self.replayed_rows(self.plain("several")), "loss"))
        self.assertEqual(set(self.traced()), {"warmup 1 replaying"})

    def test_blocks_outside_of_loops(self):
        trace = "--trace=" + self.path("trace")
        for mode in ([], ["--guard"]):
            run = self.record("outside", *mode)
            self.assertIn("setup/program#1", run.checkpoints())
            plain = self.plain("outside", *mode, "--inner", "--outer")
            answer = self.assert_same_for_all_cuts(run, "outside", *mode, "--inner", "--outer", probe="all")
            self.assertEqual(answer.rows, plain)
            answer = self.assert_same_for_all_cuts(run, "outside", *mode, "--inner", "--outer", probe="setup",
                                                   workers=(1, 3))
            self.assertEqual(answer.total("executed"), 2)
            self.assertEqual(len(named(answer.rows, "inner")), 2)
            answer = self.assert_same_for_all_cuts(run, "outside", *mode, trace, workers=(1, 3))
            self.assertEqual(self.traced(), [])
            self.assertEqual(answer.rows, without(self.plain("outside"), "loss", "setup_loss", "final_loss"))


class Containers(Case):
    def test_rule_06_a_main_loop_over_a_container_is_replayed_forward(self):
        for mode in ([], ["--guard"]):
            run = self.record("container", *mode)
            loop = run.manifest()["loops"][0]
            self.assertEqual((loop["range"], loop["end"]), (False, 6))
            for probe, probes in (("all", ["--inner", "--outer"]), ("none", ["--outer"])):
                answer = self.assert_same_for_all_cuts(run, "container", *mode, *probes, probe=probe)
                expected = self.plain("container", *mode, *probes)
                self.assertEqual(answer.rows, expected if probe == "all" else without(expected, "loss"))

    def test_rule_06_a_range_of_a_container_is_reached(self):
        for mode in ([], ["--guard"]):
            run = self.record("container", *mode)
            answer = run.replay("container", *mode, probe="all", flags=("--epochs", "3:5"))
            self.assertEqual(answer.rows, [row for row in self.plain("container") if row[0][0][1] in ("3", "4")])
