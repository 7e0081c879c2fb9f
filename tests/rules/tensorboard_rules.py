"""What `flor export --tensorboard` writes, read back."""
import json
import os
import shutil
import struct
import unittest

from resuming_rules import Interrupted
import event_files
import harness


class TensorBoard(Interrupted):
    def events(self, run, *flags):
        self.flor("export", run.id, "--tensorboard", self.path("events"), *flags)
        return {name: event_files.read_events(os.path.join(self.path("events"), name)) for name in os.listdir(self.path("events"))}

    def test_numbers_histograms_and_images_are_read_back(self):
        run = self.record("observed", "--guard", flags=("--name", "one"))
        run.replay("observed", "--guard", "--outer", probe="all")
        found = self.events(run)
        self.assertEqual(sorted(found), ["one", "one.replayed"])
        rows = [json.loads(line) for line in self.flor("log", run.id, "--json").stdout.splitlines()]

        def single(value):
            return struct.unpack("<f", struct.pack("<f", value))[0]
        losses = [(step, value) for step, tag, value in found["one"] if tag == "loss"]
        self.assertEqual(losses, [(3 * row["epoch"] + row["step"], single(row["value"])) for row in rows if row["name"] == "loss"])
        self.assertEqual(len(losses), 12)
        self.assertEqual([step for step, tag, _ in found["one"] if tag == "accuracy"], [0, 1, 2, 3])
        (image,) = [value for _, tag, value in found["one"] if tag == "last_image"]
        (row,) = [row["value"] for row in rows if row["name"] == "last_image"]
        with open(run.file(row["file"]), "rb") as file:
            self.assertEqual(image, {"height": row["height"], "width": row["width"], "channels": row["channels"], "png": file.read()})
        outer = [value for _, tag, value in found["one.replayed"] if tag == "outer"]
        wanted = [row["value"] for row in rows if row["name"] == "outer"]
        self.assertEqual(len(outer), 4)
        for one, row in zip(outer, wanted):
            self.assertEqual((one["min"], one["max"], one["counts"]), (row["min"], row["max"], row["histogram"]))
            self.assertEqual((one["num"], one["limits"][-1], len(one["limits"])), (sum(row["histogram"]), row["max"], len(row["histogram"])))
        self.assertEqual({tag for _, tag, _ in found["one.replayed"]}, {"outer"} | {"outer/" + part for part in ("min", "max", "mean", "norm")})

    def test_a_recording_is_followed_while_it_runs(self):
        until = self.path("recording")
        recording = self.start("record", "--name", "held", "--", harness.PROGRAM, "train", "--hold=3", "--in=recording", "--until=" + until)
        self.wait_for(lambda: os.path.exists(until + ".reached"), "epoch 3 of the recording")
        export = self.start("export", "held", "--tensorboard", self.path("events"), "--follow")

        held = os.path.join(self.path("events"), "held")

        def steps():
            try:
                events = event_files.read_events(held)
            except (OSError, ValueError, struct.error):
                return []  # not yet made, or read between two writes
            return sorted({step for step, tag, _ in events if tag == "accuracy"})
        self.wait_for(lambda: steps() == [0, 1, 2], "the rows so far")
        open(until, "w").close()
        recording.communicate(timeout=60)
        said = export.communicate(timeout=60)[0]
        self.assertEqual((export.returncode, steps()), (0, [0, 1, 2, 3, 4, 5]), said)
        followed = event_files.read_events(held)
        self.assertEqual(self.events(self.newest_run())["held"], followed, "as it would be written now")

    def test_whoever_wants_event_files_always_has_them(self):
        """Of what is recorded while it is, and of what a replay added behind its verdict: as they would be exported."""
        wanted = {"FLOR_TENSORBOARD": "1"}
        run = self.record("observed", "--guard", env=wanted)
        self.assertEqual(len(os.listdir(run.file("tensorboard"))), 1)
        self.assertFalse(os.path.exists(run.file("tensorboard.replayed")))
        run.replay("observed", "--guard", "--outer", probe="all", env=wanted)
        exported = self.events(run)
        self.assertEqual(event_files.read_events(run.file("tensorboard")), exported[run.id])
        self.assertEqual(event_files.read_events(run.file("tensorboard.replayed")), exported[run.id + ".replayed"])

    def test_a_recording_that_goes_on_has_a_further_event_file(self):
        self.environment["FLOR_TENSORBOARD"] = "1"
        run = self.killed("train", "--guard", at=3)
        self.resume(run, "train", "--guard", at=3)
        self.assertEqual(len(os.listdir(run.file("tensorboard"))), 2)
        steps = [step for step, tag, _ in event_files.read_events(run.file("tensorboard")) if tag == "accuracy"]
        self.assertEqual(steps, list(range(6)))

    @unittest.skipUnless(os.getuid() == 0, "makes a run of another user")
    def test_images_of_another_users_run_are_left_out(self):
        """And those behind a link, as in a copy of such a run: what it leads to may be this user's own."""
        run = self.record("observed", "--guard")

        def has_images():
            return any(isinstance(value, dict) and "png" in value for _, _, value in self.events(run)[run.id])
        self.assertTrue(has_images())
        os.chown(run.path, 65534, 65534)
        self.assertFalse(has_images())
        os.chown(run.path, 0, 0)
        secret = self.path("secret")
        os.mkdir(secret)
        os.rename(run.file("images"), run.file("moved"))
        os.symlink(secret, run.file("images"))
        for name in os.listdir(run.file("moved")):
            shutil.copytree(run.file("moved", name), os.path.join(secret, name))
        self.assertFalse(has_images())

    def test_what_does_not_fit_is_refused_in_one_line(self):
        run = self.record("train")
        done = self.flor("export", run.id, "--tensorboard", self.path("events"), "--epoch", "1", code=2)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        done = self.flor("export", run.id, "--tensorboard", "/proc/nowhere", code=None)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("/proc/nowhere", done.stderr)
