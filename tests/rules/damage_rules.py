"""Damage: named by `flor check`, never loaded, and the replay still ends with the right log."""
import os
import struct

from harness import Case, named
from resuming_rules import Interrupted


def flip(path):
    """The last byte: of the tensors, not of the header."""
    with open(path, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_END)
        file.write(bytes([byte ^ 0x10]))


def truncate(path):
    os.truncate(path, os.path.getsize(path) - 1)


def behead(path):
    os.truncate(path, 20)


def empty(path):
    os.truncate(path, 0)


def lengthen_header(path):
    with open(path, "r+b") as file:
        file.write(struct.pack("<Q", 1 << 62))


WAYS = (flip, truncate, behead, empty, lengthen_header, os.remove)


class Damage(Case):
    def assert_harmless(self, scenario, name, mode=("--guard",), executed=None, read=True):
        """Damages one checkpoint in every way: named, and the rows are those of the whole run."""
        plain = self.plain(scenario, *mode, "--outer")
        run = self.record(scenario, *mode)
        path = run.checkpoint(name)
        with open(path, "rb") as file:
            content = file.read()
        for damage in WAYS:
            with self.subTest(damage=damage.__name__, name=name):
                damage(path)
                report = self.flor("check", run.id, code=1).stdout
                self.assertIn(f"checkpoints/{name}.safetensors: ", report)
                answer = run.replay(scenario, *mode, "--outer", workers=6)
                self.assertEqual(answer.verdict["verdict"], "identical", answer.output)
                self.assertEqual(run.joined(), plain)
                self.assertEqual(named(answer.rows, "outer"), named(plain, "outer"))
                if executed is not None:
                    self.assertEqual(answer.total("executed"), executed)
                    if read:
                        self.assertIn(f"checkpoints/{name}.safetensors: ", answer.reasons)
                with open(path, "wb") as file:
                    file.write(content)
        self.flor("check", run.id)

    def test_damaged_block(self):
        self.assert_harmless("train", "train/epoch=2", executed=1)

    def test_damaged_block_in_pseudoresume(self):
        self.assert_harmless("train", "train/epoch=2", mode=(), executed=1)

    def test_damaged_iteration(self):
        # A worker that goes on from the unit before never reads it, and so has nothing to say of it.
        self.assert_harmless("train", "@iteration/epoch=2", executed=0, read=False)

    def test_damaged_entry_of_the_loop_which_holds_tensors_of_all_others(self):
        self.assert_harmless("train", "@iteration/epoch=entry")

    def test_damaged_first_block_which_holds_tensors_of_all_others(self):
        self.assert_harmless("train", "train/epoch=0", mode=())

    def test_damaged_nested_and_repeated_blocks(self):
        for name in ("part/epoch=2,train#0,batch=1", "eval/epoch=3,pass#1=1", "eval/epoch=1#1"):
            self.assert_harmless("places", name)

    def test_everything_is_lost(self):
        for mode in ([], ["--guard"]):
            run = self.record("train", *mode)
            for name in run.checkpoints():
                flip(run.checkpoint(name))
            answer = self.assert_same_for_all_cuts(run, "train", *mode, "--outer", workers=(1, 3))
            self.assertEqual(answer.rows, self.plain("train", *mode, "--outer"))

    def test_damaged_generator_states_are_refused(self):
        run = self.record("train", "--guard")
        path = run.file("generators.jsonl")
        with open(path) as file:
            text = file.read()
        at = text.index('"bytes":"') + 9
        with open(path, "w") as file:
            file.write(text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1:])
        self.assertIn("generators.jsonl", self.flor("check", run.id, code=1).stdout)
        done = run.ask("train", "--guard", code=1)
        self.assertRegex(done.stderr, "generators.jsonl: generator state [0-9a-f]{32} is damaged")

    def test_damaged_manifest_log_and_timeline_are_named(self):
        run = self.record("train", "--guard")
        for name in ("run.json", "log.jsonl", "timeline.jsonl"):
            with open(run.file(name), "rb") as file:
                content = file.read()
            with open(run.file(name), "wb") as file:
                file.write(content[:100] + b"\x00garbage\n" + content[100:])
            self.assertIn(name, self.flor("check", run.id, code=1).stdout)
            done = run.ask("train", "--guard", "--outer", code=None)
            self.assertIn(done.returncode, (1, 2), name)
            self.assertIn(name, done.stderr)
            with open(run.file(name), "wb") as file:
                file.write(content)
        self.assertEqual(run.replay("train", "--guard").verdict["verdict"], "identical")


class Missing(Interrupted):
    def test_a_run_goes_on_though_a_checkpoint_of_it_was_not_written(self):
        program = ["train", "--guard", "--throw=4", "--unless=" + self.path("mended")]
        run, process, _ = self.hold(*program, at=2, flags=("--every", "1"))
        self.wait_for(lambda: "@iteration/epoch=1" in run.checkpoints(), "the checkpoint of the epoch before")
        there, aside = run.file("checkpoints", "@iteration"), self.path("aside")
        os.rename(there, aside)
        with open(there, "w"):
            pass
        self.go_on()
        output = process.communicate(timeout=60)[0]
        os.remove(there)
        os.rename(aside, there)
        self.assertEqual(output.count("warning: "), 1, output)
        self.assertIn(f"warning: a checkpoint of run {run.id} is missing, training goes on: ", output)
        manifest = run.manifest()
        self.assertEqual((manifest["status"], len(manifest["warnings"])), ("failed", 2), manifest["warnings"])
        checked = self.flor("check", run.id).stdout
        self.assertIn("said while recording: checkpoints/@iteration/epoch=2.safetensors was not written", checked)
        self.assertIn("nothing is damaged", checked)
        with open(self.path("mended"), "w"):
            pass
        done = self.flor("record", "--resume", run.id, "--every", "1", "--", self.program(), *self.holding(program, 2))
        self.assertIn("resumed behind epoch=1", done.stderr)
        self.assertEqual(run.joined(), self.plain("train"))
        self.assertEqual(run.manifest()["status"], "completed")
