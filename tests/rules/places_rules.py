"""Rules 7, 8, 10 and 17: identity, units, sources, the two kinds of checkpoint."""
import json
import os
import signal
import struct

import harness
from harness import Case, WITHOUT_PROOF, named, without

BLOCKS_OF_AN_EPOCH = [  # of the scenario `places`, below checkpoints/; {0}: the epoch
    "train/epoch={0}", "part/epoch={0},train#0,batch=0", "part/epoch={0},train#0,batch=1",
    "eval/epoch={0},pass=0", "eval/epoch={0},pass=2", "eval/epoch={0},pass#1=0", "eval/epoch={0},pass#1=1",
    "eval/epoch={0}", "eval/epoch={0}#1"]


class Identity(Case):
    def test_rule_07_conditional_nested_and_repeated_blocks_have_names_of_their_own(self):
        run = self.record("places")
        expected = []
        for epoch in range(5):
            expected += [name.format(epoch) for name in BLOCKS_OF_AN_EPOCH]
            expected += [f"odd/epoch={epoch}"] if epoch % 2 else [f"eval/epoch={epoch},pass=1"]
        self.assertEqual(run.checkpoints(), sorted(expected))

    def test_rule_07_jumps_keep_the_identity_of_blocks_and_rows(self):
        for mode in ([], ["--guard"]):
            run = self.record("places", *mode)
            answer = self.assert_same_for_all_cuts(run, "places", *mode, probe="all")
            self.assertEqual(answer.log, run.log())  # paths and all
            answer = self.assert_same_for_all_cuts(run, "places", *mode, "--outer")
            self.assertEqual(answer.total("executed"), 0)
            self.assertEqual(run.joined(), self.plain("places", *mode, "--outer"))

    def test_rule_07_inner_probes_in_every_kind_of_block(self):
        for mode in ([], ["--guard"]):
            run = self.record("places", *mode)
            self.assert_same_for_all_cuts(run, "places", *mode, "--inner", "--outer", probe="all", workers=(1, 4))
            self.assertEqual(run.joined(), self.plain("places", *mode, "--inner", "--outer"))

    def test_rule_07_only_the_named_block_executes(self):
        run = self.record("places", "--guard")
        for block, executions in (("odd", 2), ("eval", 5 * 6 + 3)):
            answer = self.assert_same_for_all_cuts(run, "places", "--guard", "--inner", probe=block, workers=(1, 4))
            self.assertEqual(answer.total("executed"), executions)
            self.assertEqual(len(named(answer.rows, "inner")), executions)

    def test_rule_07_naming_a_nested_block_executes_those_around_it(self):
        run = self.record("places", "--guard")
        answer = run.replay("places", "--guard", "--inner", probe="part", workers=2)
        self.assertEqual(answer.verdict["verdict"], "identical")
        self.assertEqual(len(named(answer.rows, "inner")), 10, "the block around it was skipped, and the probe with it")

    def test_rule_07_loops_of_one_name_are_told_apart(self):
        run = self.record("places", "--guard")
        answer = run.replay("places", "--guard", probe="all", workers=5)
        first = [row for row in answer.rows if ("pass", "0") in row[0]]
        second = [row for row in answer.rows if ("pass#1", "0") in row[0]]
        self.assertEqual({row[1] for row in first}, {"score"})
        self.assertEqual({row[1] for row in second}, {"second_score"})
        self.assertEqual((len(first), len(second)), (5, 5))


class Units(Case):
    def test_rule_08_unit_ids_are_the_same_in_every_replay(self):
        run = self.record("train", "--guard", every=2)
        spans = None
        for how in ({"workers": 1}, {"workers": 3, "probe": "all"}, {"flags": ("--epochs", "2:4")}):
            answer = run.replay("train", "--guard", **how)
            found = [(u["id"], u["first"], u["last"], u["entry"]) for u in answer.plan["units"]]
            spans = spans or found
            self.assertEqual(found, spans)
        self.assertEqual([(u[0], u[1], u[2]) for u in spans], [(0, 0, 1), (1, 2, 3), (2, 4, 5)])
        self.assertEqual(answer.plan["selected"], [[1, 2]])
        self.assertEqual(list(answer.unit_files()), ["000001.jsonl"])

    def test_rule_08_a_question_may_leave_out_units_in_the_middle(self):
        for mode in ([], ["--guard"]):
            run = self.record("train", *mode)
            expected = [row for row in self.plain("train", "--inner") if dict(row[0]).get("epoch") in ("0", "2", "3", "5")]
            answer = run.replay("train", *mode, "--inner", probe="all", workers=2, flags=("--epochs", "5,0:4", "--every", "1"))
            self.assertEqual(answer.plan["selected"], [[0, 4], [5, 6]])
            answer = run.replay("train", *mode, "--inner", probe="all", workers=2, flags=("--epochs", "0,2:4,5"))
            self.assertEqual(answer.plan["selected"], [[0, 1], [2, 4], [5, 6]])
            self.assertEqual(answer.verdict["verdict"], "identical")
            self.assertEqual([row for row in answer.rows if ("epoch", "1") in row[0] or ("epoch", "4") in row[0]], [])
            self.assertEqual([row for row in answer.rows if "epoch" in dict(row[0])], expected)

    def test_rule_08_what_was_answered_is_not_run_again(self):
        for mode in ([], ["--guard"]):
            run = self.record("train", *mode)
            question = ["train", *mode, "--inner"]
            part = run.replay(*question, probe="all", flags=("--epochs", "0:3"))
            again = run.ask(*question, probe="all", flags=("--epochs", "0:3", "--known"))
            self.assertIn("this was asked before, and nothing is run", again.stdout)
            self.assertIn("identical", again.stdout)
            self.assertEqual(run.newest_replay(), part.path)
            whole = run.replay(*question, probe="all", workers=2, flags=("--known",))
            self.assertIn("3 of 6 units are known from earlier replays", whole.output)
            self.assertEqual(whole.plan["selected"], [[0, 6]])
            self.assertEqual(sorted(unit for segment in whole.plan["segments"] for unit in range(*segment)), [3, 4, 5])
            known = [os.path.samefile(os.path.join(whole.path, "units", name), os.path.join(part.path, "units", name))
                     for name in part.unit_files()]
            self.assertEqual(known, [True] * 3)
            self.assertEqual(whole.verdict["verdict"], "identical")
            self.assertEqual(whole.rows, self.plain("train", "--inner"))
            other = run.ask("train", *mode, "--outer", probe="all", flags=("--known",))
            self.assertNotIn("known from earlier", other.stdout)

    def test_rule_08_the_same_question_is_one_digest(self):
        run = self.record("train", "--guard")
        questions = [run.replay("train", "--guard", *edit, workers=workers, probe=probe, flags=flags).plan["question"]
                     for workers, probe, edit, flags in (
                         (1, "none", [], ()), (3, "none", [], ()), (1, "all", [], ()), (1, "none", ["--outer"], ()),
                         (1, "none", [], ("--epochs", "0:3")))]
        self.assertEqual(questions[0], questions[1])
        self.assertEqual(len(set(questions)), 4)

    def test_rule_08_units_of_one_number_may_be_other_epochs(self):
        run = self.record("train", "--guard")
        asked = ["train", "--guard", "--inner"]
        first = run.replay(*asked, probe="all", flags=("--epochs", "1:2"))
        self.flor("gc", "--yes", "--keep", "2", run.id)  # the epochs before the last are one unit now
        later = run.replay(*asked, probe="all", flags=("--epochs", "5:6", "--known"))
        self.assertEqual(first.plan["selected"], later.plan["selected"])
        self.assertEqual({dict(at)["epoch"] for at, *_ in later.rows if "epoch" in dict(at)}, {"5"})
        self.assertNotIn("this was asked before", later.output)

    def test_rule_08_the_same_question_goes_on_where_it_was_stopped(self):
        for mode in ([], ["--guard"]):
            until = self.path("until" + "".join(mode))
            run = self.record("train", *mode)
            program = ["train", *mode, "--inner", "--hold=3", "--in=replaying", "--until=" + until]
            words = ["replay", run.id, "--launcher", "local", "--workers", "1", "--probe", "all", "--",
                     harness.PROGRAM, *program]
            process = self.start(*words)
            self.wait_for(lambda: os.path.exists(until + ".reached"), "the worker to reach epoch 3")
            stopped = run.newest_replay()
            kept = {name: os.stat(os.path.join(stopped, "units", name)).st_ino
                    for name in os.listdir(os.path.join(stopped, "units"))}
            self.assertEqual(sorted(kept), ["000000.jsonl", "000001.jsonl", "000002.jsonl"])
            process.send_signal(signal.SIGINT)
            self.assertIn("3 of 6 units", process.communicate(timeout=60)[0])
            open(until, "w").close()
            answer = run.replay(*program, probe="all")
            self.assertIn("going on with replay " + os.path.basename(stopped), answer.output)
            self.assertEqual(answer.path, stopped)
            for name, inode in kept.items():
                self.assertEqual(os.stat(os.path.join(stopped, "units", name)).st_ino, inode)
            self.assertEqual(run.joined(), self.plain("train", "--inner"))


class Sources(Case):
    def test_rule_17_a_program_names_its_sources_and_the_same_ones_execute_nothing(self):
        run = self.record("train", "--guard")
        manifest = run.manifest()
        names = sorted(os.path.basename(source["path"]) for source in manifest["sources"])
        self.assertEqual(names, ["endings.cpp", "frontend.h", "observed.cpp", "places.cpp", "program.cpp", "proofs.cpp", "scenarios.h",
                                 "training.cpp"])
        self.assertEqual(manifest["unresolved"], [])
        for source in manifest["sources"]:
            with open(source["path"]) as present, open(run.file(source["file"])) as copy:
                self.assertEqual(copy.read(), present.read())
        if any(source["newer"] for source in manifest["sources"]):
            self.skipTest("a source was saved after the program was built")
        answer = run.replay("train", "--guard", "--outer", probe="auto", workers=2)
        self.assertEqual((answer.total("executed"), answer.total("skipped")), (0, 6), answer.plan["reasons"])


class Checkpoints(Case):
    def test_rule_10_unit_0_is_entered_by_the_checkpoint_of_the_loops_entry(self):
        run = self.record("train", "--guard")
        self.assertEqual(run.checkpoints(), sorted(
            [f"{kind}/epoch={epoch}" for kind in ("@iteration", "train") for epoch in range(6)]
            + ["@iteration/epoch=entry"]))
        answer = run.replay("train", "--guard")
        self.assertEqual([unit["entry"] for unit in answer.plan["units"]],
                         [f"checkpoints/@iteration/epoch={at}.safetensors" for at in ["entry", 0, 1, 2, 3, 4]])

    def test_rule_10_without_a_guard_there_are_block_checkpoints_only(self):
        run = self.record("train")
        self.assertEqual(run.checkpoints(), [f"train/epoch={epoch}" for epoch in range(6)])
        self.assertEqual({unit["entry"] for unit in run.replay("train").plan["units"]}, {""})

    def test_rule_10_an_iteration_checkpoint_does_not_stand_in_for_a_block_nor_a_block_for_an_iteration(self):
        trace = "--trace=" + self.path("trace")
        run = self.record("train", "--guard")
        os.remove(run.checkpoint("train/epoch=2"))
        answer = self.assert_same_for_all_cuts(run, "train", "--guard", "--outer", trace, flags=WITHOUT_PROOF,
                                               verdict="unproved")
        self.assertEqual(answer.total("executed"), 1)
        self.assertEqual({line for line in self.traced() if line.startswith("train")}, {"train 2 replaying"})
        self.assertEqual(run.joined(), self.plain("train", "--guard", "--outer"))
        os.remove(run.checkpoint("@iteration/epoch=3"))  # entry into epoch 4, which block checkpoints cannot give
        answer = run.replay("train", "--guard", "--outer", flags=("--epochs", "4:6"))
        self.assertEqual(answer.rows, [row for row in without(self.plain("train", "--guard", "--outer"), "loss")
                                       if row[1] == "end" or row[0] and row[0][0][1] in "45"])

    def test_rule_10_unchanged_tensors_are_written_once(self):
        run = self.record("train", "--guard")
        holders = set()
        for name in run.checkpoints():
            with open(run.checkpoint(name), "rb") as file:
                length = struct.unpack("<Q", file.read(8))[0]
                metadata = json.loads(file.read(length))["__metadata__"]
            elsewhere = json.loads(metadata["flor.elsewhere"])
            if "2.value" in elsewhere:  # Model::frozen
                holders.add(elsewhere["2.value"]["file"])
            else:
                holders.add(f"checkpoints/{name}.safetensors")
        self.assertEqual(len(holders), 1, "blocks and iterations share what did not change")
        sizes = [os.path.getsize(run.checkpoint(name)) for name in run.checkpoints()]
        self.assertEqual(len([size for size in sizes if size > 512 * 8]), 1)
