"""Recordings that were killed, and programs that do not fit their record or the library."""
import fcntl
import json
import os
import signal

from harness import Case, json_lines, named
import harness


class Killed(Case):
    def record_and_kill(self, *mode, epoch=3, every=1):
        """SIGKILL inside the block of that epoch, once the checkpoints in front of it are on disk."""
        until = self.path("killed" + "".join(mode))
        process = self.start("record", "--every", str(every), "--", harness.PROGRAM, "train", *mode, f"--hold={epoch}",
                             "--in=recording", "--until=" + until)
        self.wait_for(lambda: os.path.exists(until + ".reached"), f"epoch {epoch}")
        run = self.newest_run()
        expected = {f"epoch={epoch - 1}"}
        if every == 1:
            expected.add(f"epoch={epoch - 1}/" + ("@iteration" if "--guard" in mode else "train#0"))
        self.wait_for(lambda: expected <= self.noted(run), f"the timeline to name {expected}")
        running = self.flor("replay", run.id, "--launcher", "local", "--probe", "none", "--", harness.PROGRAM, "train",
                            *mode, code=2)
        self.assertIn("is still being recorded", running.stderr)
        os.kill(run.manifest()["pid"], signal.SIGKILL)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGKILL)
        return run

    def noted(self, run):
        """Where the iterations and checkpoints are that the timeline knows of."""
        with open(run.file("timeline.jsonl")) as file:
            rows = [json.loads(line) for line in file if line.endswith("}\n")]
        return {row["at"] for row in rows if row["kind"] in ("iteration", "checkpoint")}

    def test_replay_of_a_killed_recording_offers_what_exists(self):
        for mode in ([], ["--guard"]):
            run = self.record_and_kill(*mode)
            self.assertIn("killed", self.flor("show", run.id).stdout)
            refused = run.ask("train", *mode, code=2).stderr
            self.assertIn("is incomplete: its recording stopped after epoch 3 of 6", refused)
            self.assertIn("--epochs 0:3", refused)
            self.assertIn("are outside of the record's 0:3", run.ask("train", *mode, flags=("--epochs", "0:4"),
                                                                    code=2).stderr)
            expected = [row for row in self.plain("train", "--inner", "--outer")
                        if not row[0] or int(row[0][0][1]) < 3]
            for workers in (1, 3):
                answer = run.replay("train", *mode, "--inner", "--outer", probe="all", workers=workers,
                                    flags=("--epochs", "0:3"))
                self.assertEqual(answer.verdict["verdict"], "identical", answer.output)
                self.assertEqual(answer.rows, [row for row in expected if row[1] != "end"])
            self.assertEqual(run.joined(), [row for row in expected if row[1] != "end"])

    def test_a_recording_says_at_its_ends_what_its_user_may_want_next(self):
        run = self.record("train", "--guard", flags=("--name", "mine"))
        said = [line for line in run.done.stderr.split("\n") if line.startswith("flor: record")]
        self.assertEqual(said[0], f"flor: recording run {run.id} (mine) in {os.path.dirname(run.path)}; "
                                  "to watch it: flor log mine --follow")
        self.assertRegex(said[1], fr"^flor: recorded run {run.id}: 6 iterations of epoch, \d+\.\d % overhead, "
                                  fr"13 checkpoints, \d.*B; to ask about it: flor replay mine -- {harness.PROGRAM} train --guard$")

    def test_a_log_is_filtered_taken_together_and_says_what_it_covers(self):
        run = self.record("train")
        run.replay("train", "--inner", probe="all", flags=("--epochs", "0:3"))

        def log(*words):
            done = self.flor("log", run.id, *words, "--json")
            return [json.loads(line) for line in done.stdout.splitlines()], done.stderr
        rows, said = log()
        self.assertEqual(said, "")
        added = sorted({row["name"] for row in rows if row.get("epoch") == 0} - {row["name"] for row in rows if row.get("epoch") == 4})
        self.assertTrue(added, rows)
        of_some, said = log(added[0])
        self.assertEqual(said, f"flor: {added[0]}: in 3 of 6 iterations of epoch; to fill the others: flor replay {run.id} -- "
                               f"{harness.PROGRAM} train\n")
        late, _ = log("--where", "epoch >= 1 and epoch < 3")
        self.assertEqual(late, [row for row in rows if row.get("epoch") in (1, 2)])
        counted, _ = log(added[0], "--by", "epoch", "--agg", "count")
        self.assertEqual([row["epoch"] for row in counted], [0, 1, 2])
        self.assertEqual(sum(row["value"] for row in counted), len(of_some))

    def test_logs_of_several_runs_have_their_arguments_as_columns(self):
        program = [os.path.join(harness.BIN, "char_lm"), "--epochs=2", "--steps=2", "--log-every=1", "--hidden=8"]
        for name, rate in ("slow", "0.001"), ("fast", "0.1"):
            self.flor("record", "--name", name, "--flor-arg", "lr=" + rate, "--", *program)
        other = self.record("train")

        def lines(*words, code=0):
            done = self.flor("log", "--runs", *words, "--format", "csv", code=code)
            return done.stdout.splitlines(), done.stderr
        both, _ = lines("lr < 1", "lr", "loss", "--epochs", "1:2")
        self.assertEqual(both[0], "run,lr,epoch,step,loss")
        self.assertEqual([line.split(",")[:4] for line in both[1:]],
                         [["slow", "0.001", "1", str(step)] for step in range(2)] + [["fast", "0.1", "1", str(step)] for step in range(2)])
        self.assertEqual(lines("lr < 0.01", "lr")[0], ["run,lr", "slow,0.001"])
        losses = {line.split(",")[0]: float(line.split(",")[2]) for line in
                  lines("slow,fast", "loss", "--by", "epoch", "--agg", "last", "--where", "epoch == 1")[0][1:]}
        better = min(losses, key=losses.get)
        self.assertEqual(lines(f"loss == {losses[better]!r}", "lr")[0][1:], [better + "," + {"slow": "0.001", "fast": "0.1"}[better]])
        self.assertIn(other.id, "".join(lines("all")[0]))
        self.assertEqual(len(lines("status == completed and lr >= 0.001", "lr")[0]), 3)
        self.assertIn("no run has an argument 'rate' or logged a value of that name; the arguments are: lr", lines("rate < 1", code=2)[1])
        self.assertIn("matches 'lr > 5'", lines("lr > 5", code=2)[1])
        self.assertIn("no run logged 'los'", lines("all", "los", code=2)[1])

    def test_runs_are_asked_with_sql(self):
        program = [os.path.join(harness.BIN, "char_lm"), "--epochs=2", "--steps=2", "--log-every=1", "--hidden=8"]
        for name, rate in ("slow", "0.001"), ("fast", "0.1"):
            self.flor("record", "--name", name, "--flor-arg", "lr=" + rate, "--", *program)
        index = self.path("index")

        def ask(*words, code=0):
            return self.flor("sql", "--index", index, *words, code=code)

        def logged(name):
            rows = [json.loads(line) for line in self.flor("log", name, "loss", "--format", "jsonl").stdout.splitlines()]
            return [(row["epoch"], row["step"], row["value"]) for row in rows]
        query = ("SELECT r.name, log.epoch, log.step, log.value FROM log JOIN runs r ON r.run = log.run JOIN args a ON a.run = r.run "
                 "WHERE log.name = 'loss' AND a.name = 'lr' AND a.value < 0.01 ORDER BY log.position")
        lines = ask("--format", "jsonl", query).stdout.splitlines()
        self.assertEqual([json.loads(line) for line in lines],
                         [{"name": "slow", "epoch": epoch, "step": step, "value": value} for epoch, step, value in logged("slow")])
        csv = ask("--format", "csv", query).stdout.splitlines()
        self.assertEqual(csv[0], "name,epoch,step,value")
        self.assertEqual([float(line.split(",")[3]) for line in csv[1:]], [value for _, _, value in logged("slow")])
        self.assertRegex(ask("SELECT name, status FROM runs ORDER BY name").stdout, r"^ *name +status\n *fast +completed\n *slow +completed\n$")
        self.assertRegex(ask().stdout, r"(?m)^log\(run, name, epoch, step, position, value, exact\)$")
        self.assertEqual(os.stat(index).st_mode & 0o777, 0o700)
        for words, said in ((["SELECT epok FROM log"], "no such column: epok"), (["CREATE TABLE mine(a)"], "only SELECT"),
                            (["--format", "jsonl", "SELECT 1 AS a, 2 AS a"], "two columns are called 'a'")):
            self.assertIn(said, ask(*words, code=2).stderr)
        os.chmod(index, 0o777)
        self.assertIn("choose another place (flor sql --index DIR)", ask("SELECT 1", code=1).stderr)

    def test_what_a_killed_recording_has_not_seen_does_not_run(self):
        trace = "--trace=" + self.path("trace")
        run = self.record_and_kill("--guard")
        run.replay("train", "--guard", trace, probe="all", flags=("--epochs", "0:3"), workers=2)
        lines = self.traced()
        self.assertNotIn("behind replaying", lines)
        self.assertNotIn("train 3 replaying", lines)

    def test_rule_25_rows_in_front_of_a_checkpoint_outlive_the_process(self):
        run = self.record_and_kill("--guard")
        rows = harness.logged_rows(run.log())
        self.assertEqual(named(rows, "loss", "accuracy"),
                         [row for row in named(self.plain("train"), "loss", "accuracy") if int(row[0][0][1]) < 3])

    def test_a_killed_recording_with_checkpoints_left_out(self):
        for mode in ([], ["--guard"]):
            run = self.record_and_kill(*mode, epoch=5, every=2)
            answer = run.replay("train", *mode, "--inner", probe="all", workers=3, flags=("--epochs", "0:5"))
            self.assertEqual(answer.verdict["verdict"], "identical", answer.output)
            self.assertEqual(answer.rows, [row for row in self.plain("train", "--inner")
                                           if row[1] == "begin" or row[0] and int(row[0][0][1]) < 5])


    def test_a_recording_on_another_node_that_is_silent_is_left_alone_until_it_is_unlocked(self):
        run = self.record_and_kill("--guard")
        path = run.file("owner.0.json")
        with open(path) as file:
            owner = json.load(file)
        owner.update(host="another", boot="another")
        with open(path, "w") as file:
            json.dump(owner, file)
        later = os.stat(path).st_mtime + 3600  # else a slow machine makes it silent
        os.utime(path, (later, later))
        recorded = self.flor("unlock", run.id, code=2).stderr
        self.assertIn("is being recorded (its last sign of life from node another is", recorded)
        os.utime(path, (0, 0))
        status = lambda: [one["status"] for one in json.loads(self.flor("runs", "--json").stdout)]
        remove = lambda: self.flor("gc", "--status", "killed", "--yes", run.id).stdout
        self.assertEqual(status(), ["unknown"])
        for said in (self.flor("show", run.id).stdout, remove(),
                     self.flor("record", "--resume", run.id, "--", harness.PROGRAM, "train", "--guard", code=2).stderr):
            self.assertIn(f"`flor unlock {run.id}`", said)
        self.assertTrue(os.path.exists(run.file("run.json")))
        self.assertIn("counts as ended", self.flor("unlock", run.id).stdout)
        self.assertIn("nothing to do", self.flor("unlock", run.id).stdout)
        self.assertEqual(status(), ["killed"])
        remove()
        self.assertFalse(os.path.exists(run.path))

    def test_a_lock_that_a_hung_process_of_another_node_keeps_holds_up_nobody(self):
        run = self.record_and_kill("--guard")
        path = run.file("owner.0.json")
        with open(path) as file:
            owner = json.load(file)
        owner.update(host="another", boot="another", slurm={"cluster": "alpha", "job": "41", "step": "0", "restart": 0})
        with open(path, "w") as file:
            json.dump(owner, file)
        squeue = os.path.join(self.directory, "squeue")
        env = {"PATH": self.directory + ":" + os.environ["PATH"], "SLURM_CLUSTER_NAME": "alpha"}

        def slurm_says(state):
            with open(squeue, "w") as file:
                file.write(f"#!/bin/sh\necho 41 {state}\n")
            os.chmod(squeue, 0o755)

        with open(run.file("run.lock")) as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            slurm_says("RUNNING")
            self.assertIn("a process holds its lock", self.flor("unlock", run.id, code=2, env=env).stderr)
            slurm_says("CANCELLED")
            said = self.flor("unlock", run.id, env=env)
            self.assertIn("its Slurm job is over", said.stdout)
            self.assertIn("a process still holds the lock", said.stderr)
            open(self.path("killed--guard"), "w").close()  # it holds no more
            resumed = self.flor("record", "--resume", run.id, "--", *run.manifest()["command"], env=env).stderr
            self.assertIn("going on without waiting for it", resumed)
            self.assertIn("resuming the recording of run", resumed)


class Threads(Case):
    def test_before_the_first_loop_any_thread_may_log(self):
        """No thread is the training's yet."""
        for _ in range(5):
            run = self.record("watchers")
            configured = [row["value"] for row in json_lines(run.file("log.jsonl")) if row.get("name") == "configured"]
            self.assertEqual(configured, list(range(1000)))


class Mismatch(Case):
    def test_another_number_of_iterations_is_refused(self):
        for mode in ([], ["--guard"]):
            run = self.record("train", *mode)
            done = run.ask("train", *mode, "--epochs=7", workers=2, code=1)
            self.assertIn("loop epoch runs over 0:7 here, and over 0:6 in the record", done.stderr)
            self.assertEqual(os.listdir(os.path.join(run.newest_replay(), "units")), [])

    def test_a_container_instead_of_a_range_is_refused(self):
        run = self.record("train")
        self.assertIn("a container", run.ask("container", code=1).stderr)

    def test_a_guard_that_was_taken_away_is_refused(self):
        run = self.record("train", "--guard")
        self.assertIn("had flor::checkpointing in front of loop epoch", run.ask("train", code=1).stderr)

    def test_a_program_that_never_reaches_the_loop_is_refused(self):
        run = self.record("train")
        self.assertIn("before it reached loop epoch", run.ask("unlooped", code=1).stderr)
        self.assertIn("before it reached loop epoch", run.ask("unlooped", "--code=3", code=1).stderr)

    def test_a_program_that_never_calls_the_library_ends_the_replay(self):
        run = self.record("train")
        self.assertIn("every worker has gone", run.ask("silent", code=1).stderr)

    def test_another_exit_code_is_refused(self):
        run = self.record("endings")
        self.assertIn("ended with exit code 4", run.ask("endings", "--code=4", code=1).stderr)


class Unrecorded(Case):
    def warnings(self, done):
        return [line for line in done.stderr.splitlines() if "warning" in line]

    def test_program_that_never_calls_the_library_keeps_its_exit_code_and_gets_one_warning(self):
        for command in (["/bin/sh", "-c", "exit 7"], [self.program(), "silent", "--code=7"]):
            done = self.flor("record", "--", *command, code=7)
            self.assertEqual(len(self.warnings(done)), 1, done.stderr)

    def test_where_no_recording_can_begin_rows_are_printed_as_ever(self):
        store = self.path("file")
        open(store, "w").close()
        done = self.execute([self.program(), "train"], env={"FLOR_RECORD": "1", "FLOR_STORE": store})
        self.assertEqual(harness.printed_rows(done.stdout), self.plain("train"))
        self.assertEqual(len(self.warnings(done)), 1, done.stderr)
        self.assertIn("training goes on without", done.stderr)

    def assert_kept(self, rows, *program, code=0, env):
        """The rows are in FLOR_LOG, each as often as a plain run prints it, and so are the files that they name."""
        done = self.execute([self.program(), *program], code, env={"FLOR_RECORD": "1", "FLOR_LOG": rows, **env})
        plain = self.plain(*program, code=code)
        with open(os.path.join(rows, "log.jsonl")) as file:
            kept = harness.logged_rows(file.read())
        self.assertEqual([(tuple((name, value) for name, value in row[0]), row[1]) for row in kept],
                         [row[:2] for row in plain])
        for row in kept:
            if row[1].endswith(("_whole", "_image")):
                self.assertTrue(os.path.isfile(os.path.join(rows, row[2]["file"])), row)
        return done

    def test_rows_of_a_recording_that_cannot_begin_go_where_FLOR_LOG_says(self):
        store = self.path("file")
        open(store, "w").close()
        self.assert_kept(self.path("refused"), "observed", env={"FLOR_STORE": store})

    def test_rows_of_a_recording_that_never_begins_go_where_FLOR_LOG_says(self):
        self.assert_kept(self.path("unlooped"), "unlooped", "--code=7", code=7, env={})

    def test_rows_of_a_process_whose_launch_another_has_recorded_go_where_FLOR_LOG_says(self):
        recorded = self.execute([self.program(), "train"], env={"FLOR_RECORD": "1", "FLOR_LAUNCH": "local-one"})
        run = self.newest_run(recorded)
        done = self.assert_kept(self.path("second"), "observed", env={"FLOR_LAUNCH": "local-one"})
        self.assertIn("has recorded run " + run.id, done.stderr)

    def test_rows_that_are_recorded_do_not_go_where_FLOR_LOG_says_as_well(self):
        rows = self.path("rows")
        self.record("train", env={"FLOR_LOG": rows})
        self.assertFalse(os.path.exists(rows))

    def test_what_asks_for_no_recording_clearly_is_told(self):
        for value in ("yes", "true", "01"):
            done = self.execute([self.program(), "train"], env={"FLOR_RECORD": value})
            self.assertEqual(self.warnings(done), [f"flor: warning: FLOR_RECORD is 1 or 0; '{value}' is neither, "
                                                   "and nothing is recorded"])
        self.assertEqual(self.warnings(self.execute([self.program(), "train"], env={"FLOR_RECORD": "0"})), [])

    def test_a_flag_overrules_the_environment(self):
        run = self.record("train", every=0, env={"FLOR_EVERY": "1", "FLOR_ARGS": "lr"})
        self.assertEqual(run.manifest()["policy"]["every"], 0)
        self.assertEqual(self.warnings(run.done), ["flor: warning: FLOR_ARGS has one NAME=VALUE a line, such as lr=0.1; "
                                                   "'lr' is not and is passed over"])

    def test_program_without_a_loop_keeps_its_exit_code_and_gets_one_warning(self):
        done = self.flor("record", "--", self.program(), "unlooped", "--code=7", code=7)
        self.assertEqual(done.stdout, "loss=1.5\n")
        self.assertEqual(len(self.warnings(done)), 1, done.stderr)
