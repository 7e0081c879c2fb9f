"""A recording that was ended goes on: the same run, one log without a doubled or missing row, the same bits."""
import fcntl
import json
import os
import re
import shutil
import signal

from harness import Case, json_lines

PROGRAMS = (["train"], ["train", "--guard"], ["container"], ["container", "--guard"])


class Interrupted(Case):
    def holding(self, program, at):
        """The command line that waits inside of epoch `at` until told."""
        return [*program, f"--hold={at}", "--in=recording", "--until=" + self.path("until")]

    def go_on(self):
        open(self.path("until"), "w").close()

    def hold(self, *program, at, flags=(), env=None):
        """A recording that is held in epoch `at`: its run, flor's process, and the program's pid."""
        for path in (self.path("until"), self.path("until.reached")):
            if os.path.exists(path):
                os.remove(path)
        self.environment.update(env or {})
        process = self.start("record", *flags, "--", self.program(), *self.holding(program, at))
        pid = self.held(self.path("until"), f"epoch {at}")
        return self.newest_run(), process, pid

    def killed(self, *program, at, flags=("--every", "1")):
        run, process, pid = self.hold(*program, at=at, flags=flags)
        if flags[:2] == ("--every", "1"):
            wanted = {f"train/epoch={at - 1}"} | ({f"@iteration/epoch={at - 1}"} if "--guard" in program else set())
            self.wait_for(lambda: wanted <= set(run.checkpoints()), "the checkpoints of the epoch before")
        os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=60)
        self.go_on()
        return run

    def resume(self, run, *program, at, code=0, flags=("--every", "1")):
        return self.flor("record", "--resume", run.id, *flags, "--", self.program(), *self.holding(program, at), code=code)

    def trained(self):
        return [int(line.split()[1]) for line in self.traced() if line.startswith("train")]

    def assert_whole(self, run, *program, attempts, at):
        """Its log is that of a run that was never ended, and so are the answers to it."""
        manifest = run.manifest()
        self.assertEqual((manifest["status"], manifest["attempt"]), ("completed", attempts))
        self.assertEqual([loop["iterations"] for loop in manifest["loops"]], [6])
        self.assertEqual(run.joined(), self.plain(*program))
        self.assert_same_for_all_cuts(run, *self.holding(program, at), "--inner", probe="all", workers=(1, 3))
        self.assertEqual(run.joined(), self.plain(*program, "--inner"))


class Killed(Interrupted):
    def test_a_killed_recording_goes_on_to_the_same_log(self):
        for program in PROGRAMS:
            self.environment["FLOR_STORE"] = self.path("-".join(program))
            program = [*program, "--trace=" + self.path("trace")]
            run = self.killed(*program, at=3)
            self.assertRegex(self.flor("show", run.id).stdout, "status +killed")
            self.traced()
            done = self.resume(run, *program, at=3)
            self.assertIn("resuming the recording of run " + run.id, done.stderr)
            self.assertEqual(self.trained(), [3, 4, 5])
            self.assertEqual(self.newest_run().id, run.id)
            first = 0 if "--guard" not in program else 3
            self.assertRegex(self.flor("show", run.id).stdout, f"resumed +once, last with epoch={first} at ")
            self.assert_whole(run, *program, attempts=1, at=3)

    def test_a_later_attempt_says_of_each_inner_loop_how_it_ended(self):
        # An earlier attempt may have left the same one, for a signal for example.
        run = self.killed("endings", "--guard", at=3)
        self.resume(run, "endings", "--guard", at=3)
        ends = [(row["at"], row["ended"], row["last"]) for row in json_lines(run.file("timeline.jsonl")) if row["kind"] == "loop_end" and "at" in row]
        self.assertEqual(ends, [(f"epoch={epoch}", "exhausted", 3) for epoch in (3, 4, 5)])

    def test_units_are_entered_by_the_checkpoints_of_the_later_attempt(self):
        program = ["train", "--guard"]
        run = self.killed(*program, at=3)
        self.resume(run, *program, at=3)
        for epoch in (4, 5):
            answer = run.replay(*self.holding(program, 3), "--outer", probe="all",
                                flags=("--epochs", f"{epoch}:{epoch + 1}", "--prove", "none"))
            self.assertEqual(answer.restored("@iteration"), [f"epoch={epoch - 1}/@iteration"])

    def test_another_name_for_a_resumed_run_is_warned_about(self):
        for first, other, said in (("", "late", "the resumed run goes by its id "),
                                   ("early", "late", "the resumed run keeps its name 'early'"), ("early", "early", None)):
            with self.subTest(first=first, other=other):
                self.environment["FLOR_STORE"] = self.path("-".join((first, other)))
                flags = ("--every", "1", *(("--name", first) if first else ()))
                run = self.killed("train", at=3, flags=flags)
                done = self.resume(run, "train", at=3, flags=("--name", other))
                warnings = [line for line in done.stderr.splitlines() if "warning" in line]
                self.assertEqual(len(warnings), 0 if said is None else 1, done.stderr)
                self.assertIn(said or "", "".join(warnings))
                self.assertEqual(run.manifest()["name"], first)

    def inside(self, *flags, at, step, how, seconds="0", record=("--every", "1")):
        """Ended in a step of an epoch: the run, its program, and the steps that the next attempt executed first."""
        program = ["train", "--guard", "--inside", "--steps=5", "--trace=" + self.path("trace"), f"--hold-step={step}", *flags]
        env = {"FLOR_STEP_SECONDS": seconds}
        run, process, pid = self.hold(*program, at=at, flags=record, env=env)
        place = f"@step/epoch={at},train#0,step={step - 1}" if seconds == "0" else f"@iteration/epoch={at - 1}"
        self.wait_for(lambda: place in run.checkpoints(), place)
        os.kill(pid, how)
        if how == signal.SIGTERM:
            self.go_on()
        process.communicate(timeout=60)
        self.go_on()
        return run, program

    def steps(self):
        return [tuple(map(int, line.split()[1:3])) for line in self.traced() if line.startswith("step")]

    def test_it_goes_on_inside_of_an_epoch(self):
        for at in (0, 3):
            self.environment["FLOR_STORE"] = self.path(f"store-{at}")
            run, program = self.inside(at=at, step=3, how=signal.SIGKILL)
            self.traced()
            done = self.resume(run, *program, at=at)
            self.assertIn(f"resumed in front of epoch={at}/train#0/step=3", done.stderr)
            self.assertEqual(self.steps()[:3], [(at, 3), (at, 4), (at + 1, 0)])
            self.assert_whole(run, *program, attempts=1, at=at)

    def test_a_damaged_checkpoint_inside_of_an_epoch_is_passed_over(self):
        run, program = self.inside(at=3, step=3, how=signal.SIGKILL)
        with open(run.checkpoint("@step/epoch=3,train#0,step=2"), "r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"?")
        self.traced()
        done = self.resume(run, *program, at=3)
        self.assertIn("resumed in front of epoch=3/train#0/step=2", done.stderr)
        self.assertEqual(self.steps()[:3], [(3, 2), (3, 3), (3, 4)])
        self.assert_whole(run, *program, attempts=1, at=3)

    def test_a_checkpoint_that_was_passed_over_takes_no_place_of_those_that_are_kept(self):
        run, program = self.inside(  # so slow that the writer is free for each step
            "--sleep=100", at=3, step=4, how=signal.SIGKILL, record=("--every", "1", "--keep", "1"))
        with open(run.checkpoint("@step/epoch=3,train#0,step=3"), "r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"?")
        self.environment["RULES_HOLD_STEP"] = "4"  # as an argument it would be another program's
        _, process, pid = self.hold_resumed(run, *program, at=3)
        replaced = '"kind":"removed","at":"epoch=3/train#0/step=1/@step","file":"checkpoints/@step/epoch=3,train#0,step=1@1'
        self.wait_for(lambda: replaced in run.timeline(), "the removal of what the checkpoint of step 2 replaces")
        os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=60)
        self.go_on()
        done = self.resume(run, *program, at=3)
        # The checkpoint of step 3 may have come in time, too.
        self.assertRegex(done.stderr, "resumed in front of epoch=3/train#0/step=[34]")
        self.assert_whole(run, *program, attempts=2, at=3)

    def test_a_last_checkpoint_may_be_taken_inside_of_an_epoch(self):
        run, program = self.inside("--sleep=100", at=3, step=2, how=signal.SIGTERM, seconds="3600")
        self.traced()
        done = self.resume(run, *program, at=3)
        # Training goes on while the signal is taken note of: to the end of this step or of one behind it.
        place = re.search(r"resumed in front of epoch=(\d)/train#0/step=(\d)", done.stderr)
        self.assertIsNotNone(place, done.stderr)
        self.assertEqual(self.steps()[0], tuple(map(int, place.groups())))
        self.assertEqual(run.joined(), self.plain(*program))

    def test_it_may_be_killed_again_and_again(self):
        for program in PROGRAMS:
            self.environment["FLOR_STORE"] = self.path("-".join(program))
            run = self.killed(*program, at=4)
            for attempt in range(1, 4):
                again, process, pid = self.hold_resumed(run, *program, at=4)
                os.kill(pid, signal.SIGKILL)
                process.communicate(timeout=60)
                self.assertEqual(run.manifest()["attempt"], attempt)
            self.go_on()
            self.resume(run, *program, at=4)
            self.assert_whole(run, *program, attempts=4, at=4)

    def hold_resumed(self, run, *program, at):
        return self.hold(*program, at=at, flags=("--resume", run.id, "--every", "1"))

    def test_without_a_checkpoint_it_is_recorded_from_its_start(self):
        for program in PROGRAMS:
            self.environment["FLOR_STORE"] = self.path("-".join(program))
            program = [*program, "--trace=" + self.path("trace")]
            run = self.killed(*program, at=3, flags=("--every", "100"))
            self.traced()
            self.resume(run, *program, at=3, flags=("--every", "2"))
            self.assertEqual(self.trained(), list(range(6)))
            self.assert_whole(run, *program, attempts=1, at=3)

    def test_a_damaged_checkpoint_is_passed_over(self):
        run = self.killed("train", "--guard", "--trace=" + self.path("trace"), at=4)
        with open(run.checkpoint("@iteration/epoch=3"), "r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"?")
        self.traced()
        done = self.resume(run, "train", "--guard", "--trace=" + self.path("trace"), at=4)
        self.assertIn("epoch=3.safetensors", done.stderr)
        self.assertIn("resumed behind epoch=2", done.stderr)
        self.assertEqual(self.trained(), [4, 5], "the block of epoch 3 has a checkpoint of its own")
        self.assert_whole(run, "train", "--guard", "--trace=" + self.path("trace"), attempts=1, at=4)

    def test_what_was_passed_over_is_not_restored_when_it_can_be_read_again(self):
        """Its iterations belong to a history that ended where the second attempt went on."""
        def rows(kind, at):
            return [row for row in json_lines(run.file("timeline.jsonl")) if (row["kind"], row.get("at")) == (kind, at)]

        run, process, pid = self.hold("train", "--guard", at=4, flags=("--every", "1"))
        self.wait_for(lambda: rows("checkpoint", "epoch=3/@iteration"), "the row of the checkpoint")
        os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=60)
        newest = run.checkpoint("@iteration/epoch=3")
        os.rename(newest, self.path("away"))
        again, process, pid = self.hold("train", "--guard", at=4, flags=("--resume", run.id, "--every", "100"))
        self.wait_for(lambda: len(rows("iteration", "epoch=3")) == 2, "the rows of the second attempt")
        os.kill(pid, signal.SIGKILL)
        self.assertIn("resumed behind epoch=2", process.communicate(timeout=60)[0])
        os.rename(self.path("away"), newest)
        self.go_on()
        done = self.resume(run, "train", "--guard", at=4)
        self.assertIn("resumed behind epoch=2", done.stderr)
        self.assert_whole(run, "train", "--guard", attempts=2, at=4)

    def test_a_log_whose_end_was_lost_in_part_is_gone_on_with(self):
        """A block in the middle of what was not synced did not reach the disk before the node died."""
        run = self.killed("train", "--guard", at=3)
        for name in ("log.jsonl", "timeline.jsonl", "generators.jsonl"):
            with open(run.file(name), "ab") as file:
                file.write(b'{"name":"lo' + bytes(4096) + b'ss","value":1}\n{"name":"loss","value":2}\n')
        self.assertIn("the file is damaged here", self.flor("log", run.id, code=1).stderr)
        self.resume(run, "train", "--guard", at=3)
        self.assert_whole(run, "train", "--guard", attempts=1, at=3)

    def test_a_log_with_a_hole_in_front_of_a_checkpoint_is_not_gone_on_with(self):
        """Of a file server that lost what it had called durable: the rows would be missing for ever."""
        run = self.killed("train", "--guard", at=3)
        with open(run.file("log.jsonl"), "r+b") as file:
            file.seek(150)
            file.write(bytes(16))
        log = run.log()
        refused = self.resume(run, "train", "--guard", at=3, code=1)
        self.assertIn("log.jsonl has a hole: rows in front of a checkpoint are lost", refused.stderr)
        self.assertEqual(run.log(), log)

    def test_a_torn_log_is_ended_and_gone_on_with(self):
        run = self.killed("train", "--guard", at=3)
        for name in ("log.jsonl", "timeline.jsonl", "generators.jsonl"):
            with open(run.file(name), "a") as file:
                file.write('{"name":"lo')
        self.resume(run, "train", "--guard", at=3)
        self.assert_whole(run, "train", "--guard", attempts=1, at=3)

    def test_a_crash_is_gone_on_with_where_its_cause_is_mended(self):
        program = ["train", "--guard", "--throw=3", "--unless=" + self.path("mended")]
        run = self.record(*program, code=None)
        self.assertEqual(run.manifest()["status"], "failed")
        self.assertIn("failed", run.log())
        open(self.path("mended"), "w").close()
        self.flor("record", "--resume", run.id, "--every", "1", "--", self.program(), *program)
        self.assertEqual(run.joined(), self.plain("train"))
        self.assert_same_for_all_cuts(run, *program, probe="all", workers=(1, 3))

    def test_of_a_damaged_record_nothing_is_gone_on_with(self):
        run = self.killed("train", "--guard", "--trace=" + self.path("trace"), at=3)
        self.traced()
        with open(run.file("generators.jsonl"), "r+b") as file:
            file.write(b"??")
        done = self.resume(run, "train", "--guard", "--trace=" + self.path("trace"), at=3, code=1)
        self.assertIn(f"run {run.id} cannot be resumed: ", done.stderr)
        self.assertIn("generators.jsonl:1", done.stderr)
        self.assertEqual(self.traced(), [])
        self.assertEqual(run.manifest()["attempt"], 0)

    def test_where_an_asked_resumption_cannot_begin_nothing_is_trained(self):
        program = ["train", "--guard", "--trace=" + self.path("trace")]
        run = self.killed(*program, at=3)
        self.traced()
        launches = os.path.join(self.environment["FLOR_STORE"], ".launches")
        shutil.rmtree(launches)
        open(launches, "w").close()
        done = self.execute([self.program(), *self.holding(program, 3)], code=1,
                            env={"FLOR_RECORD": "1", "FLOR_RESUME": run.id, "FLOR_LAUNCH": "c.1.0.0"})
        self.assertRegex(done.stderr, r"flor: error: .*\.launches is no directory")
        self.assertEqual(self.traced(), [])
        self.assertEqual(run.manifest()["attempt"], 0)

    def test_a_copied_run_touches_no_file_of_another_one(self):
        """Its record names files of the other one, or has a link to them."""
        other = self.killed("train", "--guard", at=3)
        kept = sorted(other.checkpoints())
        run = self.killed("train", "--guard", at=4, flags=("--every", "1", "--keep", "1"))
        with open(run.file("timeline.jsonl"), "a") as timeline:
            for name in kept:
                timeline.write(json.dumps({"kind": "checkpoint", "at": "epoch=0/train#0", "block": "train", "state": "0" * 32,
                                           "file": f"../{other.id}/checkpoints/{name}.safetensors"}) + "\n")
        self.resume(run, "train", "--guard", at=4, flags=("--every", "1", "--keep", "1"))
        self.assertEqual(sorted(other.checkpoints()), kept)
        run = self.killed("train", "--guard", at=3)
        shutil.rmtree(run.file("checkpoints/train"))
        os.symlink(other.file("checkpoints/train"), run.file("checkpoints/train"))
        refused = self.resume(run, "train", "--guard", at=3, code=2)
        self.assertIn("checkpoints/train is a link, behind which files would be written", refused.stderr)
        self.assertEqual(sorted(other.checkpoints()), kept)
        os.remove(run.file("checkpoints/train"))
        os.mkdir(run.file("checkpoints/train"))
        os.symlink(other.path, run.file("checkpoints/train/x"))
        self.assertIn("checkpoints/train/x is a link", self.resume(run, "train", "--guard", at=3, code=2).stderr)
        os.remove(run.file("checkpoints/train/x"))
        os.makedirs(run.file("replays/r1"))
        os.symlink(self.directory, run.file("replays/r1/workers"))
        refused = self.flor("replay", run.id, "--", self.program(), *self.holding(["train", "--guard"], 3), code=2)
        self.assertIn("replays/r1/workers is a link", refused.stderr)
        shutil.rmtree(run.file("replays"))
        os.chmod(run.file("checkpoints"), 0o777)
        self.assertIn("other users may write to", self.resume(run, "train", "--guard", at=3, code=2).stderr)

    def test_a_copied_run_leaves_the_originals_local_tier_alone(self):
        os.mkdir(self.path("tier"))
        run = self.killed("train", "--guard", at=4, flags=("--every", "1", "--local", self.path("tier")))
        self.environment["FLOR_STORE"] = self.path("copies")
        os.mkdir(self.path("copies"))
        shutil.copytree(run.path, os.path.join(self.path("copies"), run.id))
        # As where the original's checkpoints still wait there.
        waiting = os.path.join(self.path("tier"), f"flor-{os.geteuid()}", run.id)
        os.makedirs(waiting, mode=0o700, exist_ok=True)
        with open(os.path.join(waiting, "spool.json"), "w") as file:
            json.dump({"format": 1, "run": run.id, "store": run.path, "node": os.uname().nodename, "rate": 0}, file)
        here = sorted(run.checkpoints())
        done = self.resume(run, "train", "--guard", at=4, flags=("--every", "1", "--local", self.path("tier")))
        self.assertIn("checkpoints go straight to the store: ", done.stderr)
        self.assertIn("of which this run is a copy", done.stderr)
        self.assertEqual([name for name in run.checkpoints() if "@1" in name], [])
        self.assertTrue(set(here) <= set(run.checkpoints()))
        self.assertIn("nothing is damaged", self.flor("check", run.id).stdout)

    def test_a_run_that_was_ended_before_its_first_loop_begins_anew(self):
        run = self.killed("train", "--guard", at=3)
        for name in ("log.jsonl", "timeline.jsonl", "generators.jsonl"):
            os.truncate(run.file(name), 0)
        shutil.rmtree(run.file("checkpoints"))
        self.resume(run, "train", "--guard", at=3)
        self.assert_whole(run, "train", "--guard", attempts=1, at=3)

    def test_the_newest_checkpoints_are_kept_of_all_attempts_together(self):
        run = self.killed("train", "--guard", at=4, flags=("--every", "1", "--keep", "2"))
        self.resume(run, "train", "--guard", at=4, flags=("--every", "1", "--keep", "2"))
        # What was taken back may still lie there, where the process was killed just then. That of epoch 3 stays where
        # the second attempt wrote it anew, and later ones refer to it.
        last_word = {row["file"]: row["kind"] for row in json_lines(run.file("timeline.jsonl")) if "file" in row}
        kept = [name for name in run.checkpoints()
                if last_word[f"checkpoints/{name}.safetensors"] == "checkpoint" and name != "@iteration/epoch=3"]
        self.assertEqual(kept, ["@iteration/epoch=4@1", "@iteration/epoch=5@1", "@iteration/epoch=entry", "train/epoch=4@1",
                                "train/epoch=5@1"])

    def test_the_newest_are_those_of_the_last_places_though_earlier_ones_come_again(self):
        run = self.killed("train", at=4, flags=("--every", "1", "--keep", "1"))
        self.resume(run, "train", at=4, flags=())
        last_word = {row["file"]: row["kind"] for row in json_lines(run.file("timeline.jsonl")) if "file" in row}
        kept = [file for file, kind in last_word.items() if kind == "checkpoint"]
        self.assertIn("checkpoints/train/epoch=5@1.safetensors", kept)
        self.assertIn("nothing is damaged", self.flor("check", run.id).stdout)

    def test_what_was_asked_for_holds_for_the_run(self):
        run = self.killed("train", at=3, flags=("--every", "1", "--keep", "2", "--epsilon", "0.25", "--mtbf", "1h"))
        # A configuration file only speaks for new runs.
        os.makedirs(self.path("config/flor"))
        with open(self.path("config/flor/flor.conf"), "w") as conf:
            conf.write("keep = 7\nmtbf = 2h\n")
        self.environment["XDG_CONFIG_HOME"] = self.path("config")
        self.resume(run, "train", at=3, flags=("--epsilon", "0.125"))
        policy = run.manifest()["policy"]
        self.assertEqual([policy[key] for key in ("every", "keep", "epsilon", "mtbf")], [1, 2, 0.125, 3600])

    def test_what_cannot_be_gone_on_with_is_refused_and_nothing_runs(self):
        trace = "--trace=" + self.path("trace")
        run, process, pid = self.hold("train", "--guard", at=3)
        self.assertIn(f"process {pid} on", self.resume(run, "train", "--guard", at=3, code=2).stderr)
        os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=60)
        self.go_on()
        with open(run.file("run.lock")) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            locked = self.resume(run, "train", "--guard", at=3, code=1)
        self.assertIn(f"cannot be resumed: another process records run {run.id}", locked.stderr)
        self.assertNotIn("epoch=", locked.stdout)
        other = self.resume(run, "train", "--guard", trace, at=3, code=1)
        self.assertIn(f"run {run.id} cannot be resumed: it was recorded with other arguments: ", other.stderr)
        self.assertEqual(self.traced(), [])
        self.resume(run, "train", "--guard", at=3)
        self.assertIn(f"run {run.id} cannot be resumed: it is complete", self.resume(run, "train", "--guard", at=3, code=2).stderr)
        self.assertIn("there is no run 'nobody'", self.flor("record", "--resume", "nobody", "--", self.program(), code=2).stderr)
