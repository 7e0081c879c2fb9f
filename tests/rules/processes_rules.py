"""Rules 15 and 16: around the loop, and several processes."""
import os
import resource
import signal
import subprocess
import time

from harness import Case, named, without
import harness


class Failing(Case):
    def test_a_unit_that_fails_three_times_is_set_aside_and_the_others_finish(self):
        mended = self.path("mended")
        for mode in ([], ["--guard"]):
            program = ["train", *mode, "--inner", "--crash=2", "--unless=" + mended]
            run = self.record(*program)
            done = run.ask(*program, workers=2, probe="all", code=1)
            self.assertEqual(done.stdout.count("is set aside"), 1)
            self.assertIn("unit 2 failed 3 times and is set aside: worker ", done.stdout)
            self.assertIn("the data of this epoch cannot be read", done.stdout)
            self.assertIn("unit 2 was set aside", done.stderr)
            self.assertIn("5 of 6 units are done and kept; the same command goes on from there", done.stderr)
            failures = [line for line in harness.json_lines(os.path.join(run.newest_replay(), "messages.jsonl")) if line["failure"]]
            self.assertIn("the data of this epoch cannot be read", failures[0]["text"])
            self.assertIn("5 of 6 units are done and kept", failures[1]["text"])
            shown = self.flor("show", f"{run.id}/{os.path.basename(run.newest_replay())}").stdout
            self.assertIn("unit 2 failed 3 times and is set aside: worker ", shown)
            units = sorted(os.listdir(os.path.join(run.newest_replay(), "units")))
            self.assertEqual(units, [f"{unit:06}.jsonl" for unit in (0, 1, 3, 4, 5)])
            with open(mended, "w"):
                pass
            answer = run.replay(*program, workers=2, probe="all")
            self.assertEqual(answer.rows, self.plain("train", *mode, "--inner"))
            os.remove(mended)

    def test_a_worker_that_cannot_write_its_files_ends_alone(self):
        run = self.record("train", "--guard")
        train, ended = f"exec {harness.PROGRAM} train --guard --inner", self.path("ended")
        # Worker 0 can write 512 bytes into a file, as if its node had a bad mount. The other one begins after it.
        line = (f"if [ $FLOR_WORKER = 0 ]; then (ulimit -f 1; {train}); : >{ended}; exit 1; fi; "
                f"until [ -e {ended} ]; do sleep 0.1; done; {train}")
        answer = run.replay("/bin/sh", "-c", line, probe="all", workers=2)
        self.assertEqual(answer.rows, self.plain("train", "--guard", "--inner"))
        self.assertFalse(os.path.exists(os.path.join(answer.path, "failure.json")))
        units = {worker["worker"][-2:]: worker["units"] for worker in answer.verdict["workers"]}
        self.assertEqual(units, {".0": [], ".1": list(range(6))})

    def test_a_worker_that_is_terminated_hands_its_unit_back_and_that_is_no_failed_try(self):
        run = self.record("train", "--guard")
        until = self.path("until")
        replay = self.start("replay", run.id, "--launcher", "local", "--workers", "4", "--probe", "all", "--", self.program(),
                            "train", "--guard", "--inner", "--hold=5", "--in=replaying", "--until=" + until)
        for _ in range(3):
            worker = self.held(until, "a worker in the last unit")
            os.remove(until + ".reached")
            os.kill(worker, signal.SIGTERM)
            self.wait_for(lambda: not os.path.exists(f"/proc/{worker}"), "its end")
        with open(until, "w"):
            pass
        output = replay.communicate(timeout=60)[0]
        self.assertEqual(replay.returncode, 0, output)
        self.assertNotIn("set aside", output)
        self.assertEqual(run.joined(), self.plain("train", "--guard", "--inner"))


class TimeLimits(Case):
    def test_a_worker_whose_time_is_over_takes_one_unit_and_the_next_worker_goes_on(self):
        for mode in ([], ["--guard"]):
            run = self.record("train", *mode)
            # Entered from the start, with blocks skipped in front, it wants a proof, for which no time is left.
            answer = run.replay("train", *mode, "--inner", probe="all", env={"FLOR_JOB_END": "1"}, code=0 if mode else 4)
            self.assertEqual(answer.rows, self.plain("train", *mode, "--inner"))
            units = [unit for worker in answer.verdict["workers"] for unit in worker["units"]]
            self.assertEqual(sorted(units), list(range(6)))
            self.assertEqual({len(worker["units"]) for worker in answer.verdict["workers"]}, {1})

    def test_a_worker_with_time_enough_does_all(self):
        run = self.record("train", "--guard")
        answer = run.replay("train", "--guard", probe="all", env={"FLOR_JOB_END": str(int(time.time()) + 86400)})
        self.assertEqual([worker["units"] for worker in answer.verdict["workers"]], [list(range(6))])

    def test_a_time_limit_that_cannot_be_read_is_none(self):
        run = self.record("train", "--guard")
        answer = run.replay("train", "--guard", probe="all", env={"FLOR_JOB_END": "UNLIMITED"})
        self.assertEqual([worker["units"] for worker in answer.verdict["workers"]], [list(range(6))])


class Around(Case):
    def test_rule_15_rows_before_the_loop_are_unit_0s_and_rows_behind_it_the_last_ones(self):
        for mode in ([], ["--guard"]):
            run = self.record("train", *mode)
            for workers in (1, 3):
                answer = run.replay("train", *mode, workers=workers)
                outside = [[row[1] for row in answer.unit_rows(unit) if not row[0]] for unit in range(6)]
                self.assertEqual(outside, [["begin"], [], [], [], [], ["end"]])

    def test_rule_15_rows_of_pseudoresumed_iterations_are_dropped(self):
        run = self.record("train")
        answer = run.replay("train", "--outer", flags=("--epochs", "4:6"))
        self.assertEqual({row[0][0][1] for row in answer.rows if row[0]}, {"4", "5"})
        self.assertEqual(len(named(answer.rows, "begin")), 0)

    def test_rule_15_what_stands_behind_the_loop_happens_once(self):
        trace = "--trace=" + self.path("trace")
        for mode in ([], ["--guard"]):
            run = self.record("train", *mode, trace)
            self.assertEqual(self.traced()[-1], "behind recording")
            for workers in (1, 3):
                run.replay("train", *mode, trace, workers=workers)
                self.assertEqual([line for line in self.traced() if line.startswith("behind")], ["behind replaying"])

    def test_rule_15_a_worker_without_the_last_unit_leaves_by_itself(self):
        trace = "--trace=" + self.path("trace")
        for mode in ([], ["--guard"]):
            run = self.record("train", *mode)
            answer = run.replay("train", *mode, trace, workers=2, flags=("--epochs", "1:4"))
            self.assertEqual([line for line in self.traced() if line.startswith("behind")], [])
            self.assertEqual(answer.verdict["verdict"], "identical")

    def test_rule_15_a_program_can_tell_recording_from_replaying(self):
        trace = "--trace=" + self.path("trace")
        self.plain("train", trace)
        self.assertEqual({line.split()[-1] for line in self.traced()}, {"plain"})
        run = self.record("train", trace)
        self.assertEqual({line.split()[-1] for line in self.traced()}, {"recording"})
        run.replay("train", trace, probe="all")
        self.assertEqual({line.split()[-1] for line in self.traced()}, {"replaying"})


class OneProcess(Case):
    def runs(self):
        return [name for name in os.listdir(self.environment["FLOR_STORE"]) if not name.startswith(".")]

    def test_rule_16_a_forked_child_goes_on_plain(self):
        trace = "--trace=" + self.path("trace")
        plain = self.plain("train", "--epochs=0")  # warms nothing: only that the program runs
        self.assertEqual(len(plain), 2)
        run = self.record("forks", trace)
        self.assertEqual(sorted(self.traced()), ["child plain", "parent recording"])
        rows = harness.logged_rows(run.log())
        self.assertEqual([row[1] for row in rows], ["loss", "accuracy"] * 4)
        self.assertTrue(all(float(row[2]) < 1000 for row in rows))
        self.assertEqual(run.manifest()["status"], "completed")
        self.assertEqual(len([line for line in run.done.stdout.splitlines() if "loss=10" in line]), 3)
        answer = self.assert_same_for_all_cuts(run, "forks", "--inner", trace, probe="all", workers=(1, 3))
        self.assertEqual(without(answer.rows, "inner"), rows)

    def test_rule_16_a_child_that_is_terminated_ends_alone(self):
        for mode in ([], ["--guard"]):
            plain = self.plain("helpers", *mode)
            self.assertEqual({row[2] for row in named(plain, "helper")}, {f"{int(signal.SIGTERM)}.0"})
            run = self.record("helpers", *mode)
            self.assertEqual(harness.logged_rows(run.log()), plain)
            self.assertEqual(run.manifest()["status"], "completed")
            answer = self.assert_same_for_all_cuts(run, "helpers", *mode, "--inner", probe="all", workers=(1, 3))
            self.assertEqual(without(answer.rows, "inner"), plain)

    def test_rule_16_a_forked_child_prints_rows_with_their_loop_path(self):
        run = self.record("forks")
        for epoch in (1, 2, 3):
            self.assertEqual(len([line for line in run.done.stdout.splitlines()
                                  if line.startswith(f"epoch={epoch} loss=")]), 2)

    def test_rule_16_a_child_that_lives_on_does_not_keep_a_restarted_worker_from_its_work(self):
        # A loop that is left elsewhere than on record makes the worker start anew for each unit behind that.
        trace, until = "--trace=" + self.path("trace"), self.path("until")
        run = self.record("endings", "--guard")
        answer = run.replay("endings", "--guard", "--end=break", "--at=1", "--child", "--until=" + until, trace,
                            probe="all", code=3)
        open(until, "w").close()
        # Else it would be taken for another process of the task, and train to its end.
        self.assertEqual(self.traced().count("behind replaying"), 1, answer.output)
        self.assertNotIn("starting others", answer.output)

    def test_rule_16_a_child_that_lives_on_does_not_keep_a_killed_recording_open(self):
        until = self.path("until")
        process = self.start("record", "--every", "1", "--", harness.PROGRAM, "train", "--guard", "--hold=3",
                             "--in=recording", "--child", "--until=" + until)
        self.wait_for(lambda: os.path.exists(until + ".reached"), "epoch 3")
        run = self.newest_run()
        os.kill(run.manifest()["pid"], signal.SIGKILL)
        process.communicate(timeout=60)
        shown = self.flor("show", run.id).stdout
        open(until, "w").close()
        self.assertRegex(shown, "status +killed")

    def test_rule_16_of_several_processes_one_records(self):
        line = f"{harness.PROGRAM} train --sleep=20 & {harness.PROGRAM} train --sleep=20 & wait"
        run = self.record("/bin/sh", "-c", line)
        self.assertEqual(len(self.runs()), 1)
        plain = self.plain("train")
        self.assertEqual(harness.logged_rows(run.log()), plain)
        self.assertEqual(len(run.done.stdout.splitlines()), 2 * len(plain))
        self.assertEqual(run.manifest()["status"], "completed")

    def test_rule_16_a_program_behind_the_recorded_one_is_told_that_it_is_not(self):
        done = self.record("/bin/sh", "-c", f"{harness.PROGRAM} train; {harness.PROGRAM} train").done
        self.assertEqual(len(self.runs()), 1)
        self.assertEqual(done.stderr.count("has recorded run " + self.runs()[0]), 1, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 2 * len(self.plain("train")))

    def test_rule_16_of_several_processes_one_replays(self):
        run = self.record("train", "--guard")
        line = f"{harness.PROGRAM} train --guard --sleep=20 & {harness.PROGRAM} train --guard --sleep=20 & wait"
        answer = run.replay("/bin/sh", "-c", line, probe="all", workers=2)
        self.assertEqual(answer.rows, self.plain("train"))


class Streams(Case):
    """The standard streams belong to the program, also where it has none."""

    def assert_nothing_printed_in(self, run):
        for directory, _, names in os.walk(run.path):
            for name in names:
                with open(os.path.join(directory, name), "rb") as file:
                    self.assertNotRegex(file.read(), rb"epoch=\d+ |flor: ", os.path.join(directory, name))

    def test_what_a_program_without_streams_prints_gets_into_no_file_of_its_record(self):
        program = ("train", "--guard", "--epochs=4", "--steps=40")
        plain = self.plain(*program)
        for materializer in ("thread", "inline", "fork", "fork-batch"):
            for line in (" ".join(program) + " <&- >&- 2>&-", " ".join(program) + " --close=2"):
                with self.subTest(materializer=materializer, line=line):
                    run = self.record("/bin/sh", "-c", f"exec {harness.PROGRAM} {line}",
                                      flags=("--materializer", materializer))
                    self.assertEqual(run.manifest()["status"], "completed")
                    self.assert_nothing_printed_in(run)
                    self.assertEqual(harness.logged_rows(run.log()), plain)
                    self.assertEqual(run.replay(*program, probe="all").verdict["verdict"], "identical")

    def test_a_reader_that_is_gone_ends_no_training(self):
        program = ("train", "--guard", "--epochs=4", "--steps=200")
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([harness.PROGRAM, *program], env={**self.environment, "FLOR_RECORD": "1", "FLOR_EVERY": "1"},
                              stdout=writer, stderr=writer, timeout=120)
        os.close(writer)
        self.assertEqual(done.returncode, 0)
        run = self.newest_run()
        self.assertEqual(run.manifest()["status"], "completed")
        self.assertEqual(harness.logged_rows(run.log()), self.plain(*program))

    def test_a_limit_for_the_size_of_files_ends_no_training(self):
        program = ("train", "--guard", "--epochs=4")
        plain = self.execute([harness.PROGRAM, *program]).stdout
        # Too little for a record to begin, and too little for its checkpoints.
        for size, words in ((1 << 10, program), (300 << 10, (*program, "--frozen=50000"))):
            for materializer in ("thread", "inline", "fork"):
                with self.subTest(size=size, materializer=materializer):
                    done = subprocess.run(
                        [harness.PROGRAM, *words], text=True, timeout=120, capture_output=True,
                        env={**self.environment, "FLOR_RECORD": "1", "FLOR_EVERY": "1", "FLOR_MATERIALIZER": materializer},
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(done.stdout, plain)
                    self.assertIn("File too large", done.stderr)
