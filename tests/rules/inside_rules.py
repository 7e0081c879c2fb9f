"""Units that begin and end inside of an iteration of the main loop, between the steps of a loop in it."""
import os

from harness import Case, WITHOUT_PROOF, named, without

STEPS = {"FLOR_STEP_SECONDS": "0"}


class Inside(Case):
    training = ("train", "--guard", "--inside", "--steps=4")

    def recorded(self, *more, every=1):
        return self.record(*self.training, *more, every=every, env=STEPS)

    def test_units_are_cut_between_steps_and_every_cut_yields_the_same(self):
        run = self.recorded()
        answer = self.assert_same_for_all_cuts(run, *self.training, "--inner", "--outer", probe="all")
        self.assertEqual(answer.plan["inner"], "train#0/step")
        self.assertEqual([(unit["first"], unit.get("from", -1), unit.get("to", -1)) for unit in answer.plan["units"]],
                         [(epoch, *part) for epoch in range(6) for part in ((-1, 1), (1, 2), (2, 3), (3, -1))])
        self.assertEqual(answer.rows, self.plain(*self.training, "--inner", "--outer"))
        self.assertEqual(run.joined(), answer.rows)

    def test_a_unit_inside_starts_from_recorded_state_whatever_ran_before(self):
        run = self.recorded()
        expected = self.plain(*self.training, "--inner")
        for epochs in ("3", "1,4", "5:6"):
            answer = run.replay(*self.training, "--inner", probe="all", flags=("--epochs", epochs), workers=3)
            wanted = {row[0][0][1] for row in answer.rows if row[0]}
            self.assertEqual([row for row in answer.rows if row[0]],
                             [row for row in expected if row[0] and row[0][0][1] in wanted])
            self.assertEqual(answer.verdict["verdict"], "identical")

    def test_steps_that_are_asked_for(self):
        run = self.recorded()
        answer = run.replay(*self.training, "--inner", probe="all", flags=("--epochs", "1:3", "--steps", "1:2"))
        self.assertEqual({row[0] for row in named(answer.rows, "inner")},
                         {(("epoch", epoch), ("step", "1")) for epoch in ("1", "2")})
        refused = run.ask(*self.training, probe="none", flags=("--steps", "1:2"), code=2)
        self.assertIn("this question runs whole epochs", refused.stderr)
        self.assertIn("is no range of steps", run.ask(*self.training, probe="all", flags=("--steps", "x"), code=2).stderr)

    def test_whole_epochs_on_request(self):
        run = self.recorded()
        answer = run.replay(*self.training, "--inner", probe="all", flags=("--whole-epochs",))
        self.assertEqual(len(answer.plan["units"]), 6)
        self.assertEqual(answer.rows, self.plain(*self.training, "--inner"))

    def test_a_probe_that_draws_numbers_in_one_unit_does_not_shift_the_next(self):
        run = self.recorded()
        answer = run.replay(*self.training, "--outer", "--draw", probe="all", workers=2)
        self.assertEqual(without(answer.rows, "outer"), named_rows(run))

    def test_outer_probes_leave_iterations_whole(self):
        run = self.recorded()
        answer = run.replay(*self.training, "--outer", probe="none", workers=2)
        self.assertEqual(answer.plan["inner"], "")
        self.assertEqual(len(answer.plan["units"]), 6)
        self.assertEqual(answer.total("executed"), 0)

    def test_without_a_guard_of_its_own_the_loop_is_not_cut(self):
        run = self.record("train", "--guard", env=STEPS)
        self.assertEqual(run.replay("train", "--guard", probe="all").plan["inner"], "")
        run = self.record("train", "--inside", env=STEPS)
        self.assertEqual(run.replay("train", "--inside", probe="all").plan["inner"], "")

    def test_parts_shorter_than_wanted_get_no_checkpoint(self):
        run = self.record(*self.training)
        self.assertEqual([name for name in run.checkpoints() if "@step" in name], [])

    def test_a_worker_goes_from_one_iteration_into_another_without_a_new_process(self):
        run = self.recorded()
        expected = self.plain(*self.training, "--inner")
        for epochs in ("1:5", "4,1,3"):
            answer = run.replay(*self.training, "--inner", "--trace=" + self.path("trace"), probe="all",
                                flags=("--epochs", epochs, "--steps", "1:3"), workers=1)
            self.assertEqual([line for line in self.traced() if line.startswith("before")], ["before replaying"])
            self.assertEqual(answer.verdict["verdict"], "identical")
            wanted = {str(epoch) for epoch in (range(1, 5) if epochs == "1:5" else (1, 3, 4))}
            rows = named(answer.rows, "inner")
            self.assertEqual(rows, [row for row in named(expected, "inner")
                                    if row[0][0][1] in wanted and row[0][1][1] in "12"])

    def test_a_program_that_fails_on_part_of_an_epoch_starts_anew(self):
        run = self.recorded("--strict")
        answer = run.replay(*self.training, "--strict", "--inner", "--trace=" + self.path("trace"), probe="all",
                            flags=("--epochs", "1:5", "--steps", "1:3", *WITHOUT_PROOF), workers=1)
        self.assertEqual([line for line in self.traced() if line.startswith("before")], ["before replaying"] * 4)
        self.assertIn("the program failed behind a loop that was left between two steps", answer.output)
        self.assertEqual(answer.verdict["verdict"], "identical")
        self.assertEqual(named(answer.rows, "inner"),
                         [row for row in named(self.plain(*self.training, "--inner"), "inner")
                          if row[0][0][1] in "1234" and row[0][1][1] in "12"])

    def test_workers_go_back_and_forth_between_iterations(self):
        program = [*self.training, "--sleep=3"]
        run = self.recorded("--sleep=3")
        self.assert_same_for_all_cuts(run, *program, "--inner", probe="all", workers=(3, 4, 6, 7, 8))

    def test_a_damaged_checkpoint_inside_is_led_in_to(self):
        run = self.recorded()
        expected = self.plain(*self.training, "--inner")
        for name in run.checkpoints():
            if name.startswith("@step") and ("epoch=2" in name or "epoch=4" in name):
                with open(run.checkpoint(name), "r+b") as file:
                    file.seek(-3, os.SEEK_END)
                    file.write(b"\xff\xff\xff")
        for workers in (1, 3):
            answer = run.replay(*self.training, "--inner", probe="all", workers=workers)
            self.assertEqual(answer.rows, expected)

    def test_a_variable_that_is_forgotten_between_steps_is_found(self):
        run = self.recorded()
        self.assertIn("epoch 3 from step 1 is the same resumed and run through",
                      self.flor("check", "--complete", run.id, "--", self.program(), *self.training).stdout)
        run = self.recorded("--forget-total")
        found = self.flor("check", "--complete", run.id, "--", self.program(), *self.training, "--forget-total", code=3)
        self.assertIn("epoch 2 to 3 is the same resumed and pseudoresumed", found.stdout)
        self.assertIn("is not given to the flor::checkpointing in front of loop step", found.stdout)
        self.assertIn('"total"', found.stdout)

    def test_a_unit_inside_that_differs_is_mended_for_the_next(self):
        run = self.recorded()
        answer = run.replay(*self.training, "--perturb-step=2", probe="all", code=3)
        self.assertEqual({unit // 4 for unit in answer.differing_units()}, {2})

    def test_the_question_goes_on_and_what_is_known_is_not_run_again(self):
        run = self.recorded()
        first = run.replay(*self.training, "--inner", probe="all", flags=("--epochs", "2:4"))
        second = run.replay(*self.training, "--inner", probe="all", flags=("--known",), workers=2)
        self.assertIn("8 of 24 units are known", second.output)
        self.assertEqual(second.rows, self.plain(*self.training, "--inner"))
        self.assertEqual(len(first.rows), 2 * (4 * 2 + 3))


def named_rows(run):
    return [row for row in run.joined() if row[1] != "outer"]
