"""Rules 19a and 19b: the rows of probes are proved by execution."""
import json
import os
import signal
import subprocess

from harness import Case, named
import harness


class Proof(Case):
    def probe(self, answer, name):
        found = [probe for probe in answer.verdict["probes"] if probe["name"] == name]
        self.assertEqual(len(found), 1, answer.verdict["probes"])
        return found[0]

    def proved(self, answer):
        """Ranges of units that were executed as one, and not."""
        return [tuple(proof["units"]) for proof in answer.verdict["proofs"]]

    def right(self, *program):
        return self.plain("meters", *program)

    def test_rule_19a_a_probe_that_reads_what_is_held_is_proved(self):
        for mode in ([], ["--guard"]):
            run = self.record("meters", *mode)
            for workers in (1, 2):
                answer = run.replay("meters", *mode, "--outer", workers=workers)
                probe = self.probe(answer, "outer")
                samples = len(self.proved(answer))
                # With a guard the second worker begins by restoring, unless the first one had executed all units by then.
                self.assertIn(samples, (1, 2) if mode and workers == 2 else (1,))
                self.assertEqual((probe["founding"], probe["samples"], probe["taken_back"]), ("held", samples, False))
                self.assertEqual(self.proved(answer)[0], (0, 2))
                self.assertEqual(named(answer.rows, "outer"), named(self.right("--outer"), "outer"))
                self.assertIn(f"probe outer: held, proved on {samples} sample", answer.output)

    def test_rule_19a_a_probe_that_reads_what_a_skipped_block_changed_is_taken_back(self):
        for mode in ([], ["--guard"]):
            run = self.record("meters", *mode)
            for workers in (1, 2):
                answer = run.replay("meters", *mode, "--outer", "--meter", workers=workers, code=4)
                probe = self.probe(answer, "meter")
                self.assertTrue(probe["taken_back"])
                self.assertEqual(probe["difference"]["replayed"], 0.0)
                self.assertNotIn(probe["difference"]["proved"], (0.0, None))
                self.assertFalse(self.probe(answer, "outer")["taken_back"])
                self.assertEqual(named(answer.rows, "meter"), [])
                self.assertEqual(named(run.joined(), "meter"), [])
                self.assertEqual(len(named(run.joined(), "outer")), 6)
                self.assertIn("probe meter: taken back: meter at epoch=", answer.output)
                self.assertIn("for right rows: flor replay", answer.output)

    def test_rule_19a_right_rows_come_from_the_same_command(self):
        for mode in ([], ["--guard"]):
            run = self.record("meters", *mode)
            answer = run.replay("meters", *mode, "--outer", "--meter", probe="auto", workers=2)
            self.assertEqual(answer.verdict["verdict"], "identical", answer.output)
            self.assertIn("a proof contradicts meter at epoch=", answer.output)
            self.assertEqual(self.probe(answer, "meter")["founding"], "executed")
            right = self.right("--outer", "--meter")
            self.assertEqual(named(answer.rows, "meter", "outer"), named(right, "meter", "outer"))
            self.assertEqual(run.joined(), right)

    def test_rule_19a_what_was_contradicted_is_not_tried_again(self):
        run = self.record("meters", "--guard")
        run.ask("meters", "--guard", "--meter", probe="auto")
        done = run.ask("meters", "--guard", "--meter", probe="auto", flags=("--known",))
        self.assertIn("this was asked before", done.stdout + done.stderr)
        self.assertEqual(run.joined(), self.right("--meter"))

    def test_rule_19a_a_brief_proof_executes_the_first_steps_and_restores_the_end(self):
        for mode in ([], ["--guard"]):
            run = self.record("meters", *mode)
            brief = {"workers": 2, "flags": ("--prove", "brief")}
            answer = run.replay("meters", *mode, "--outer", **brief)
            self.assertIn("probe outer: held, proved on 1 brief sample", answer.output)
            self.assertEqual(answer.verdict["verdict"], "identical")
            answer = run.replay("meters", *mode, "--outer", "--meter", code=4, **brief)
            probe = self.probe(answer, "meter")
            self.assertTrue(probe["taken_back"])
            # Two of three steps: neither what the skipped block left nor what the whole block leaves.
            whole = run.replay("meters", *mode, "--outer", "--meter", code=4, workers=2)
            self.assertNotEqual(probe["difference"]["proved"], self.probe(whole, "meter")["difference"]["proved"])
            self.assertIn("when the skipped blocks execute their first steps", answer.output)
            self.assertFalse(self.probe(answer, "outer")["taken_back"])
            answer = run.replay("meters", *mode, "--outer", "--meter", probe="auto", **brief)
            self.assertEqual(run.joined(), self.right("--outer", "--meter"))

    def test_rule_19a_a_brief_proof_executes_a_block_whose_checkpoint_was_removed(self):
        run = self.record("meters")
        self.flor("gc", "--keep", "1", run.id, "--yes")
        answer = run.replay("meters", "--outer", workers=2, flags=("--prove", "brief"))
        self.assertEqual(answer.verdict["verdict"], "identical", answer.output)

    def test_rule_19a_workers_are_compared_at_their_cuts(self):
        # `running` is carried from epoch to epoch, and the guard does not name it.
        run = self.record("meters", "--guard")
        meet = self.path("meet")
        os.mkdir(meet)
        answer = run.replay("meters", "--guard", "--running", "--meet=" + meet, probe="train", workers=2, code=4)
        self.assertTrue(self.probe(answer, "running")["taken_back"])
        self.assertEqual(answer.verdict["values"], 24)
        self.assertEqual(named(answer.rows, "running"), [])
        answer = run.replay("meters", "--guard", "--inner", probe="train", workers=2)
        self.assertEqual(self.probe(answer, "inner")["samples"], 1)
        self.assertEqual(named(answer.rows, "inner"), named(self.right("--inner"), "inner"))
        cut = max(first for first, _ in answer.plan["segments"])
        self.assertEqual(self.proved(answer), [(cut - 1, cut + 1)])

    def test_rule_19a_where_no_block_executes_the_start_and_a_cut_are_proved(self):
        run = self.record("meters", "--guard")
        answer = run.replay("meters", "--guard", "--outer", workers=2)
        cut = max(first for first, _ in answer.plan["segments"])
        wanted = sorted({(0, 2), (cut - 1, cut + 1)})  # one where the cut is behind the first epoch, as on a busy machine
        self.assertEqual(self.proved(answer), wanted)
        self.assertEqual(self.probe(answer, "outer")["samples"], len(wanted))

    def test_rule_19a_a_probe_under_a_condition_is_covered(self):
        run = self.record("meters", "--guard", "--epochs=30")
        answer = run.replay("meters", "--guard", "--epochs=30", "--outer", "--tenth", workers=2)
        self.assertGreaterEqual(self.probe(answer, "tenth")["samples"], 1)  # the second one may lie at a tenth epoch, too
        answer = run.replay("meters", "--guard", "--epochs=30", "--outer", "--wrong-tenth", workers=2, code=4)
        self.assertTrue(self.probe(answer, "wrong")["taken_back"])

    def test_rule_19a_rows_behind_the_loop_are_proved(self):
        for mode in ([], ["--guard"]):
            run = self.record("meters", *mode)
            answer = run.replay("meters", *mode, "--best", workers=2, code=4)
            self.assertTrue(self.probe(answer, "best")["taken_back"])
            answer = run.replay("meters", *mode, "--best", workers=2, probe="auto")
            self.assertEqual(named(answer.rows, "best"), named(self.right("--best"), "best"))

    def test_rule_19a_without_a_probe_nothing_is_executed(self):
        trace = "--trace=" + self.path("trace")
        run = self.record("meters", "--guard", trace)
        self.traced()
        answer = run.replay("meters", "--guard", trace)
        self.assertEqual(self.traced(), ["behind replaying"])
        self.assertEqual((answer.verdict["proofs"], answer.verdict["verdict"]), ([], "identical"))

    def test_rule_19b_without_a_proof_a_held_probe_is_unproved(self):
        run = self.record("meters", "--guard")
        answer = run.replay("meters", "--guard", "--outer", flags=("--prove", "none"), code=4)
        self.assertEqual(self.probe(answer, "outer")["founding"], "unproved")
        self.assertIn("--prove none", answer.output)
        self.assertEqual(len(named(answer.rows, "outer")), 6)
        # What is there is not run again for a proof.
        answer = run.replay("meters", "--guard", "--outer", flags=("--known",))
        self.assertIn("6 of 6 units are known", answer.output)
        self.assertEqual(self.probe(answer, "outer")["samples"], 1)

    def test_rule_19a_prove_all_proves_every_unit_also_later(self):
        run = self.record("meters", "--guard")
        run.replay("meters", "--guard", "--outer")
        self.assertIn("asked before", run.ask("meters", "--guard", "--outer", flags=("--known",)).stdout)
        answer = run.replay("meters", "--guard", "--outer", flags=("--known", "--prove", "all"), workers=2)
        self.assertEqual(self.probe(answer, "outer")["samples"], 6)
        self.assertEqual({end - 1 for _, end in self.proved(answer)}, set(range(6)))
        self.assertNotIn("asked before", answer.output)

    def test_rule_19a_proof_units_are_compared_with_the_record(self):
        run = self.record("train", "--guard")
        answer = run.replay("train", "--guard", "--outer", "--perturb=1", code=3)
        self.assertEqual({difference["name"] for difference in answer.verdict["differences"]}, {"state digest"})

    def test_rule_19a_units_inside_of_iterations_are_proved(self):
        training = ("train", "--guard", "--inside", "--steps=4")
        run = self.record(*training, env={"FLOR_STEP_SECONDS": "0"})
        answer = run.replay(*training, "--inner", "--outer", probe="train", workers=2)
        self.assertEqual(len(answer.plan["units"]), 24)
        self.assertEqual([self.probe(answer, name)["samples"] for name in ("inner", "outer")], [1, 1])
        self.assertEqual(answer.rows, self.plain(*training, "--inner", "--outer"))
        answer = run.replay(*training, "--inner", "--outer", probe="train", workers=2, flags=("--prove", "all"))
        self.assertEqual([self.probe(answer, name)["samples"] for name in ("inner", "outer")], [24, 11], answer.output)

    def test_rule_19a_a_proof_that_cannot_be_executed_does_not_lose_the_answer(self):
        run = self.record("meters", "--guard")
        answer = run.replay("meters", "--guard", "--outer", "--crash=1", "--unless=" + self.path("never"), code=4)
        probe = self.probe(answer, "outer")
        self.assertEqual((probe["founding"], probe["taken_back"]), ("unproved", False))
        self.assertIn("was not executed", probe["why"])
        self.assertEqual(named(answer.rows, "outer"), named(self.right("--outer"), "outer"))

    def test_rule_19a_a_worker_that_is_killed_in_the_proof_is_replaced(self):
        for mode in ([], ["--guard"]):
            until = self.path("until" + "".join(mode))
            run = self.record("meters", *mode)
            process = self.start("replay", run.id, "--launcher", "local", "--workers", "1", "--probe", "none", "--",
                                 harness.PROGRAM, "meters", *mode, "--outer", "--hold=1", "--in=replaying",
                                 "--until=" + until)
            os.kill(self.held(until, "the proof of epoch 1"), signal.SIGKILL)
            open(until, "w").close()
            output = process.communicate(timeout=60)[0]
            self.assertEqual(process.returncode, 0, output)
            self.assertIn("provisional until iterations 0 to 1", output)
            self.assertIn("probe outer: held, proved on 1 sample", output)

    def test_rule_19a_answers_stand_while_the_proof_is_running(self):
        until = self.path("until")
        run = self.record("meters", "--guard")
        process = self.start("replay", run.id, "--launcher", "local", "--workers", "2", "--probe", "none", "--json", "--",
                             harness.PROGRAM, "meters", "--guard", "--outer", "--hold=1", "--in=replaying",
                             "--until=" + until)
        events = []
        while not events or events[-1]["event"] != "proving":
            line = process.stdout.readline()
            self.assertNotEqual(line, "", events)
            if line.startswith("{"):
                events.append(json.loads(line))
        # Where the machine is busy, epochs seem to cost more, and another cut is proved, too.
        self.assertEqual((events[-1]["iterations"].split(", ")[0], events[-1]["answers"]), ("0 to 1", "provisional"))
        self.assertEqual(named(run.joined(), "outer"), named(self.right("--outer"), "outer"))
        open(until, "w").close()
        last = [json.loads(line) for line in process.communicate(timeout=60)[0].splitlines() if line.startswith("{")][-1]
        self.assertEqual(last["verdict"], "identical")
        # Where one worker was first and executed all units, it restored nothing, and one proof is enough.
        self.assertIn([probe["samples"] for probe in last["probes"]], ([1], [2]))


class ByHand(Case):
    """Workers that the user starts, as the tasks of `sbatch --flor-replay --array`."""

    def setUp(self):
        super().setUp()
        self.start_redis()

    def work(self, run, *program, tasks=2, probe="none", env=None):
        workers = []
        for task in range(tasks):
            environment = {**self.environment, **(env or {}), "FLOR_REPLAY": run.id, "FLOR_PROBE": probe,
                           "SLURM_ARRAY_JOB_ID": "7", "SLURM_JOB_ID": str(7 + task), "SLURM_ARRAY_TASK_ID": str(task),
                           "SLURM_ARRAY_TASK_COUNT": str(tasks)}
            workers.append(subprocess.Popen([harness.PROGRAM, *program], env=environment, text=True,
                                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.directory))
        outputs = [worker.communicate(timeout=90)[0] for worker in workers]
        with open(run.file("replays", "job-7", "verdict.json")) as file:
            return json.load(file), "\n".join(outputs), [worker.returncode for worker in workers]

    def test_rule_16_steps_of_a_job_that_run_side_by_side_are_workers_of_their_own(self):
        program = ("train", "--guard", "--sleep=20", "--trace=" + self.path("trace"))
        run = self.record(*program)
        steps = [subprocess.Popen([harness.PROGRAM, *program], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  cwd=self.directory, start_new_session=True,
                                  env={**self.environment, "FLOR_REPLAY": run.id, "FLOR_PROBE": "all", "SLURM_JOB_ID": "7",
                                       "SLURM_STEP_ID": str(step), "SLURM_PROCID": "0"})
                 for step in range(3)]
        outputs = [step.communicate(timeout=90)[0] for step in steps]
        self.assertEqual([step.returncode for step in steps], [0] * 3, outputs)
        # A process that is no worker trains to its end, and what stands behind the loop happens in it, too.
        self.assertEqual(self.traced().count("behind replaying"), 1, outputs)

    def test_rule_19a_the_last_worker_gives_the_verdict_behind_the_proof(self):
        for mode in ([], ["--guard"]):
            run = self.record("meters", *mode)
            verdict, output, codes = self.work(run, "meters", *mode, "--outer")
            self.assertEqual((verdict["verdict"], codes), ("identical", [0, 0]), output)
            self.assertIn([probe["samples"] for probe in verdict["probes"]], ([1], [2]) if mode else ([1],))

    def test_rule_19a_wrong_rows_are_taken_back_and_the_way_to_right_ones_is_told(self):
        run = self.record("meters", "--guard")
        verdict, output, codes = self.work(run, "meters", "--guard", "--meter")
        self.assertEqual(verdict["verdict"], "unproved", output)
        self.assertTrue(verdict["probes"][0]["taken_back"])
        self.assertIn(4, codes)
        self.assertIn("for right rows: flor replay " + run.id, output)
        self.assertEqual(named(run.joined(), "meter"), [])

    def test_rule_19a_a_difference_that_only_the_proof_sees_is_told(self):
        run = self.record("train", "--guard")
        verdict, output, _ = self.work(run, "train", "--guard", "--outer", "--throw=1", "--unless=" + self.path("never"))
        self.assertEqual(verdict["verdict"], "differs", output)
        self.assertIn("loss at epoch=1/train#0/step=0", output)
