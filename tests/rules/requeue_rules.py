"""A job that Slurm requeued finds something changed. Nobody asked for the resumption, so it may not end training."""
import json
import os
import subprocess
import time

import harness
from resuming_rules import Interrupted


class Requeued(Interrupted):
    def start_task(self, program, at, **changed):
        """A task of job 7, started as Slurm's step does. It waits inside of epoch `at`."""
        self.environment.update(FLOR_RECORD="1", FLOR_EVERY="1", FLOR_BIN=harness.BIN, FLOR_LAUNCH="c.7.0.0")
        task = subprocess.Popen([self.program(), *self.holding(program, at)], env={**self.environment, **changed},
                                cwd=self.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(harness.end_session, task)
        return task

    def killed(self, *program, at, checkpoint, **changed):
        """A recording of job 7 that was killed with its node."""
        process = self.start_task(program, at, **changed)
        self.wait_for(lambda: os.path.exists(self.path("until.reached")), f"epoch {at}")
        run = self.newest_run()
        self.wait_for(lambda: checkpoint in run.checkpoints(), checkpoint)
        process.kill()
        process.wait(60)
        self.go_on()
        return run

    def requeued(self, *program, at, **changed):
        """The second start of the job; its training comes to its end."""
        return self.execute([self.program(), *self.holding(program, at)],
                            env={"FLOR_LAUNCH": "c.7.0.1", **changed})

    def plain_rows(self, *program, at, **changed):
        return self.execute([self.program(), *self.holding(program, at)], env={"FLOR_RECORD": "", **changed}).stdout

    def warnings(self, done):
        return [line for line in done.stderr.splitlines() if line.startswith("flor: ") and "this job" in line]


class Requeue(Requeued):
    def test_another_range_of_the_loop_is_a_new_run(self):
        run = self.killed("train", "--guard", at=3, checkpoint="@iteration/epoch=2")
        done = self.requeued("train", "--guard", at=3, RULES_EPOCHS="8")
        self.assertEqual(len(self.warnings(done)), 1, done.stderr)
        self.assertIn(f"flor: run {run.id} of this job is not resumed, a new one is recorded: loop epoch runs over 0:8 here, "
                      "and over 0:6 in the record", done.stderr)
        self.assertEqual(done.stdout, self.plain_rows("train", "--guard", at=3, RULES_EPOCHS="8"))
        again = self.newest_run()
        self.assertNotEqual(again.id, run.id)
        self.assertEqual([again.manifest()[key] for key in ("status", "attempt")], ["completed", 0])
        self.assertEqual((run.manifest()["status"], run.manifest()["attempt"]), ("recording", 0))
        self.assertIn("nothing is damaged", self.flor("check", again.id).stdout)

    def test_of_two_programs_in_one_step_each_stays_what_it_was(self):
        program, second = ["train", "--guard"], {"SEED": "2"}
        process = self.start_task(program, 3)
        self.wait_for(lambda: os.path.exists(self.path("until.reached")), "epoch 3")
        run = self.newest_run()
        other = self.execute([self.program(), *program], env=second)
        self.assertIn(f"flor: not recorded: run {run.id} of this launch (c.7.0.0) is that of another program", other.stderr)
        process.kill()
        process.wait(60)
        self.go_on()
        with open(self.path("waiting"), "w") as file:
            waiting = subprocess.Popen([self.program(), *program], cwd=self.directory, stdout=subprocess.DEVNULL, stderr=file,
                                       env={**self.environment, "FLOR_LAUNCH": "c.7.0.1", **second}, start_new_session=True)
        self.addCleanup(harness.end_session, waiting)
        time.sleep(1)
        again = self.requeued(*program, at=3)
        self.assertEqual(again.stderr.count("not resumed"), 0, again.stderr)
        self.assertEqual((run.manifest()["status"], run.manifest()["attempt"]), ("completed", 1))
        self.assertEqual(waiting.wait(60), 0)
        with open(self.path("waiting")) as file:
            self.assertIn("flor: not recorded: ", file.read())
        self.assertEqual(self.newest_run().id, run.id)

    def test_of_processes_that_trained_together_none_is_resumed_alone(self):
        """The others begin at the first epoch: gradients of two epochs would be mixed, or all wait for ever."""
        program = ["train", "--guard"]
        run = self.killed(*program, at=3, checkpoint="@iteration/epoch=2", WORLD_SIZE="2")
        again = self.requeued(*program, at=3, WORLD_SIZE="2")
        self.assertIn(f"flor: run {run.id} of this job is not resumed, a new one is recorded: it is that of one process of "
                      "several that trained together", again.stderr)
        self.assertEqual(self.newest_run().manifest()["attempt"], 0)
        refused = self.flor("record", "--resume", run.id, "--", self.program(), *self.holding(program, 3), code=2)
        self.assertIn("one process of several", refused.stderr)

    def test_a_second_process_of_the_same_program_tells_that_several_train_together(self):
        program = ["train", "--guard"]
        process = self.start_task(program, 3)
        self.wait_for(lambda: os.path.exists(self.path("until.reached")), "epoch 3")
        run = self.newest_run()
        second = self.start_task(program, 3)
        self.wait_for(lambda: os.path.exists(os.path.join(run.path, "several")), "the mark")
        for one in (process, second):
            one.kill()
            one.wait(60)
        self.go_on()
        self.assertIn("is not resumed, a new one is recorded", self.requeued(*program, at=3).stderr)

    def test_a_second_process_that_waits_in_vain_for_the_record_of_the_first_tells_so_too(self):
        """The first one copies large sources, say, and has written no manifest yet."""
        store = self.environment["FLOR_STORE"]
        launches = os.path.join(store, ".launches", str(os.geteuid()))
        run = os.path.join(store, "20260101-000000-0123456789abcdef")
        os.makedirs(launches)
        os.mkdir(run)
        with open(os.path.join(launches, "c.7.0.0"), "w") as file:
            file.write(os.path.basename(run))
        self.execute([self.program(), "train"], env={"FLOR_RECORD": "1", "FLOR_LAUNCH": "c.7.0.0"})
        self.assertEqual(os.listdir(run), ["several"])

    def test_a_task_of_a_step_with_several_tasks_is_not_resumed_alone(self):
        run = self.killed("train", "--guard", at=3, checkpoint="@iteration/epoch=2", SLURM_STEP_NUM_TASKS="8")
        self.assertTrue(os.path.exists(os.path.join(run.path, "several")))

    def test_a_program_whose_twin_does_not_come_back_is_recorded(self):
        run = self.killed("train", "--guard", at=3, checkpoint="@iteration/epoch=2")
        open(os.path.join(self.environment["FLOR_STORE"], ".launches", str(os.geteuid()), ".c.7.0.0.shared"), "w").close()
        done = self.execute([self.program(), "train", "--guard"], env={"FLOR_LAUNCH": "c.7.0.1", "SEED": "2"})
        self.assertIn(f"flor: run {run.id} of this job is not resumed, a new one is recorded: it is that of another program",
                      done.stderr)
        self.assertEqual([self.newest_run().manifest()[key] for key in ("status", "attempt")], ["completed", 0])
        self.assertNotEqual(self.newest_run().id, run.id)

    def test_another_program_whose_sources_are_not_in_the_record_is_a_new_run(self):
        run = self.killed("train", "--guard", at=3, checkpoint="@iteration/epoch=2")
        path = os.path.join(run.path, "run.json")
        with open(path) as file:
            manifest = json.load(file)
        self.assertEqual(manifest["binary_digest"], "")
        manifest["binary_digest"] = "0" * 32
        with open(path, "w") as file:
            json.dump(manifest, file)
        done = self.requeued("train", "--guard", at=3)
        self.assertIn(f"flor: run {run.id} of this job is not resumed, a new one is recorded: the program is not the one that "
                      "was recorded", done.stderr)
        self.assertNotEqual(self.newest_run().id, run.id)

    def test_another_range_of_a_later_loop_ends_the_recording_alone(self):
        run = self.killed("train", "--guard", "--tune", at=102, checkpoint="tune/round=1")
        done = self.requeued("train", "--guard", "--tune", at=102, RULES_ROUNDS="5")
        self.assertIn("cannot record, training goes on without: loop round runs over 0:5 here, and over 0:4 in the record", done.stderr)
        self.assertEqual(run.manifest()["status"], "recording", "what it has stays whole")
        plain = self.plain_rows("train", "--guard", "--tune", at=102, RULES_ROUNDS="5").splitlines()
        printed = done.stdout.splitlines()
        self.assertEqual(printed[-6:], plain[-6:], "the first loop was restored, the second trains from there")

    def test_a_checkpoint_that_does_not_fit_is_not_used(self):
        run = self.killed("train", "--guard", at=3, checkpoint="@iteration/epoch=2")
        done = self.requeued("train", "--guard", at=3, RULES_TIED="1")
        self.assertEqual(len(self.warnings(done)), 1, done.stderr)
        self.assertIn("warning: the recording of this job cannot be resumed, so the program starts again, unrecorded: ",
                      done.stderr)
        self.assertIn("do two share memory here that did not when it was recorded?", done.stderr)
        plain = self.plain_rows("train", "--guard", at=3, RULES_TIED="1")
        self.assertTrue(done.stdout.endswith(plain), done.stdout)
        self.assertEqual(self.newest_run().id, run.id)

    def test_a_checkpoint_that_does_not_fit_ends_no_training_whose_directory_is_gone(self):
        self.killed("train", "--guard", at=3, checkpoint="@iteration/epoch=2")
        program = [self.program(), *self.holding(["train", "--guard"], 3)]
        done = self.execute(["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh", *program],
                            env={"FLOR_LAUNCH": "c.7.0.1", "RULES_TIED": "1"})
        self.assertIn("the directory that the program was started in is gone; it starts again in another one", done.stderr)
        self.assertTrue(done.stdout.endswith(self.plain_rows("train", "--guard", at=3, RULES_TIED="1")), done.stdout)

    def test_who_asked_is_told_that_it_cannot_be(self):
        run = self.killed("train", "--guard", at=3, checkpoint="@iteration/epoch=2")
        self.environment.update(FLOR_RESUME=run.id)
        done = self.execute([self.program(), *self.holding(["train", "--guard"], 3)], code=1,
                            env={"FLOR_LAUNCH": "c.8.0.0", "RULES_EPOCHS": "8"})
        self.assertIn("the recording cannot be resumed: loop epoch runs over 0:8 here", done.stderr)

    def test_flor_record_starts_again_though_its_first_start_has_the_name(self):
        self.record("train", flags=("--name", "baseline"), env={"SLURM_JOB_ID": "77"})
        again = {"SLURM_JOB_ID": "77", "SLURM_RESTART_COUNT": "1"}
        run = self.record("train", flags=("--name", "baseline"), env=again)
        self.assertIn(f"the name 'baseline' is taken by another run; this one goes by its id {run.id}", run.done.stderr)
        self.assertEqual(harness.printed_rows(run.done.stdout), self.plain("train"))
        self.flor("record", "--name", "baseline", "--", self.program(), "train", code=2, env={"SLURM_JOB_ID": "78"})
