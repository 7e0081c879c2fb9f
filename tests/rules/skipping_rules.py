"""Rules 11, 12 and 13: skipping, recorded state at every unit's start, mismatches."""
import os
import signal

from harness import Case, WITHOUT_PROOF, json_lines, named, without


def of_epochs(rows, *epochs):
    return [row for row in rows if row[0] and int(row[0][0][1]) in epochs]


class Skipping(Case):
    def test_rule_11_block_without_a_checkpoint_executes_also_in_pseudoresume(self):
        trace = "--trace=" + self.path("trace")
        run = self.record("train", every=3)
        self.assertEqual(run.checkpoints(), ["train/epoch=2", "train/epoch=5"])
        answer = run.replay("train", "--outer", trace, flags=("--epochs", "3:6", *WITHOUT_PROOF), code=4)
        self.assertEqual([(u["first"], u["last"]) for u in answer.plan["units"]], [(0, 2), (3, 5)])
        self.assertEqual([line for line in self.traced() if line.startswith("train")],
                         [f"train {epoch} replaying" for epoch in (0, 1, 3, 4)])
        expected = self.plain("train", "--outer")
        self.assertEqual(answer.rows, [row for row in of_epochs(expected, 3, 4, 5)
                                       if row[1] != "loss" or row[0][0][1] != "5"] + named(expected, "end"))
        self.assertEqual((answer.total("executed"), answer.total("skipped")), (2, 1))

    def test_rule_11_the_plan_prices_it_and_flor_show_says_it(self):
        run = self.record("train", "--sleep=20", every=3)
        plan = run.replay("train", "--sleep=20").plan
        for unit in plan["units"]:  # two of its three blocks execute, at 60 ms each
            self.assertGreater(unit["skip_cost"], 0.12)
        whole = self.record("train", "--sleep=20", every=1)
        timeline = json_lines(whole.file("timeline.jsonl"))
        for unit in whole.replay("train", "--sleep=20").plan["units"]:  # what lies outside the block, and its restore
            rows = {row["kind"]: row for row in timeline if row.get("at", "").split("/")[0] == f"epoch={unit['first']}"}
            outer = max(rows["iteration"]["seconds"] - rows["block"]["seconds"], 0)
            restore = 1.38 * rows["checkpoint"]["write"]  # until one is measured
            self.assertAlmostEqual(unit["skip_cost"], outer + restore)
        text = self.flor("show", run.id).stdout
        self.assertRegex(text, "train: 2 of 6 executions have a checkpoint; the others execute again in every replay")
        self.assertIn("flor::checkpointing", text)

    def test_rule_11_the_blocks_in_between_execute_with_complete_checkpoints_too(self):
        run = self.record("train", "--guard", every=3)
        answer = self.assert_same_for_all_cuts(run, "train", "--guard", "--outer", workers=(1, 2))
        self.assertEqual((answer.total("executed"), answer.total("skipped")), (4, 2))
        self.assertEqual(run.joined(), self.plain("train", "--guard", "--outer"))

    def test_rule_12_no_row_depends_on_how_the_work_was_cut(self):
        for mode in ([], ["--guard"]):
            expected = self.plain("train", *mode, "--inner", "--outer")
            for every in (1, 2):
                run = self.record("train", *mode, every=every)
                answer = self.assert_same_for_all_cuts(run, "train", *mode, "--inner", "--outer", probe="all",
                                                       workers=(1, 2, 3, 5, 7))
                self.assertEqual(answer.rows, expected)
                self.assertEqual(run.joined(), expected)

    def test_rule_12_a_part_of_the_units_gives_the_same_files(self):
        for mode in ([], ["--guard"]):
            run = self.record("train", *mode)
            whole = run.replay("train", *mode, "--inner", probe="all").unit_files()
            for epochs in ("0:1", "2:5", "5:6"):
                part = run.replay("train", *mode, "--inner", probe="all", workers=2, flags=("--epochs", epochs))
                begin, end = (int(word) for word in epochs.split(":"))
                self.assertEqual(part.unit_files(), {f"{unit:06}.jsonl": whole[f"{unit:06}.jsonl"]
                                                     for unit in range(begin, end)})

    def test_rule_12_units_behind_are_brought_by_a_warm_worker_that_jumps_back(self):
        # The worker of the first segment is held in unit 0 and killed: the other one, which has been further on,
        # takes over. With complete checkpoints it jumps; with partial ones it starts anew.
        for mode, starts in (([], 3), (["--guard"], 2)):
            trace, until = self.path("trace"), self.path("until" + "".join(mode))
            run = self.record("train", *mode)
            process = self.start("replay", run.id, "--launcher", "local", "--workers", "2", "--probe", "all",
                                 "--epochs", "0:5", *WITHOUT_PROOF, "--", self.program(), "train", *mode, "--inner", "--hold=0",
                                 "--in=replaying", "--until=" + until, "--trace=" + trace)
            held = self.held(until, "a worker to reach epoch 0")
            self.wait_for(lambda: os.path.exists(os.path.join(run.newest_replay(), "units", "000004.jsonl")), "unit 4")
            open(until + ".new", "w").close()
            os.rename(until + ".new", until)
            os.kill(held, signal.SIGKILL)
            self.assertIn("identical" if mode else "unproved", process.communicate(timeout=60)[0])
            self.assertEqual(self.traced().count("before replaying"), starts)
            answered = run.newest_replay()
            alone = run.replay("train", *mode, "--inner", probe="all", flags=("--epochs", "0:5")).unit_files()
            for name, content in alone.items():
                with open(os.path.join(answered, "units", name), "rb") as file:
                    self.assertEqual(file.read(), content)

    def test_rule_12_a_forgotten_variable_is_found(self):
        run = self.record("forget")
        found = self.flor("check", "--complete", run.id, "--", self.program(), "forget", code=3)
        self.assertIn("is not given to the flor::checkpointing in front of loop epoch", found.stdout)
        self.assertIn('"accuracy"', found.stdout)
        # It does matter: a jump leaves it stale, and the verdict says so.
        self.assertEqual(run.replay("forget", flags=("--epochs", "4:6"), code=3).verdict["verdict"], "differs")

    def test_rule_12_a_forgotten_variable_that_a_block_changes_is_found(self):
        run = self.record("forget", "--inside")
        found = self.flor("check", "--complete", run.id, "--", self.program(), "forget", "--inside", code=3)
        self.assertIn("is not given to the flor::checkpointing in front of loop epoch", found.stdout)

    def test_rule_12_a_forgotten_variable_is_found_where_one_unit_does_not_show_it(self):
        for mode, shown in (("once", "epoch 2 to 3 differs"), ("next", "epoch 3 differs")):
            program = ["best", "--best=" + mode]
            run = self.record(*program)
            found = self.flor("check", "--complete", run.id, "--", self.program(), *program, code=3).stdout
            self.assertIn(shown, found)
            self.assertEqual(found.count(" is the same "), 1, found)
            run = self.record(*program, "--remember")
            found = self.flor("check", "--complete", run.id, "--", self.program(), *program, "--remember").stdout
            self.assertIn("epoch 2 to 3 is the same resumed and pseudoresumed", found)
            self.assertIn("epoch 3 is the same resumed alone and resumed after epoch 2", found)

    def test_rule_12_a_complete_state_is_said_to_be_complete(self):
        run = self.record("forget", "--remember")
        self.assertIn("is the same resumed and pseudoresumed",
                      self.flor("check", "--complete", run.id, "--", self.program(), "forget", "--remember").stdout)
        self.assert_same_for_all_cuts(run, "forget", "--remember", probe="all")

    def test_rule_12_several_guards_declare_the_state_together(self):
        run = self.record("guards")
        answer = self.assert_same_for_all_cuts(run, "guards", "--outer", probe="all")
        self.assertEqual(answer.rows, self.plain("guards", "--outer"))

    def test_rule_13_a_mismatch_is_marked_mended_and_left_behind(self):
        plain = self.plain("train")
        for mode in ([], ["--guard"]):
            run = self.record("train", *mode)
            answer = self.assert_same_for_all_cuts(run, "train", *mode, "--perturb=2", probe="all", verdict="differs")
            self.assertEqual(answer.differing_units(), [2])
            self.assertEqual([(d["at"], d["name"]) for d in answer.verdict["differences"]],
                             [("epoch=2/train#0", "state digest")])
            self.assertEqual(answer.rows, plain)  # behind the block, in its own unit and in the next

    def test_rule_13_without_a_checkpoint_behind_it_the_mismatch_stays_in_its_unit(self):
        # Epochs 2 and 3 are unit 1; the block of epoch 2 has no checkpoint, that of epoch 3 has.
        plain = self.plain("train")
        for mode in ([], ["--guard"]):
            run = self.record("train", *mode, every=2)
            answer = self.assert_same_for_all_cuts(run, "train", *mode, "--perturb=2", probe="all", verdict="differs",
                                                   workers=(1, 3))
            self.assertEqual(answer.differing_units(), [1])
            for epochs in ((0, 1), (4, 5)):
                self.assertEqual(of_epochs(answer.rows, *epochs), of_epochs(plain, *epochs))
            self.assertNotEqual(of_epochs(answer.rows, 2), of_epochs(plain, 2))

    def test_rule_13_digests_are_in_the_unit_file(self):
        run = self.record("train", "--guard")
        answer = run.replay("train", "--guard", "--perturb=2", probe="all", code=3)
        events = [row for row in json_lines(answer.path + "/units/000002.jsonl") if row.get("@event") == "digest"]
        self.assertEqual([event["at"] for event in events], ["epoch=2/train#0", "epoch=2/@iteration"])
        self.assertNotEqual(events[0]["live"], events[0]["recorded"])
        self.assertEqual(events[1]["live"], events[1]["recorded"])
        self.assertEqual(without(answer.unit_rows(3), "loss"), without(of_epochs(self.plain("train"), 3), "loss"))
