"""Rules 22, 24 and 25: files that others read."""
import json
import os
import re
import struct
import subprocess
import shutil
import unittest

from harness import Case, json_lines, named
import harness


def read_header(path):
    with open(path, "rb") as file:
        content = file.read()
    length = struct.unpack("<Q", content[:8])[0]
    return content, length


class Publication(Case):
    def first_attempt(self, *, different):
        """Replays with a worker that is held in unit 3 while another's attempt of that unit appears."""
        until = self.path("until")
        run = self.record("train", "--guard")
        earlier = run.replay("train", "--guard", probe="all")
        content = earlier.unit_files()["000003.jsonl"].decode()
        if different:
            lines = content.splitlines(keepends=True)
            row = next(i for i, line in enumerate(lines) if '"accuracy"' in line)
            lines[row] = lines[row].replace('"value":', '"value":1')
            content = "".join(lines)
        process = self.start("replay", run.id, "--launcher", "local", "--workers", "1", "--probe", "all", "--",
                             harness.PROGRAM, "train", "--guard", "--hold=3", "--in=replaying", "--until=" + until)
        self.wait_for(lambda: os.path.exists(until + ".reached"), "the worker to reach epoch 3")
        unit = os.path.join(run.newest_replay(), "units", "000003.jsonl")
        with open(unit + ".new", "w") as file:
            file.write(content)
        os.rename(unit + ".new", unit)
        inode = os.stat(unit).st_ino
        open(until, "w").close()
        output = process.communicate(timeout=60)[0]
        with open(unit) as file:
            self.assertEqual(file.read(), content, "the second attempt replaced the first")
        self.assertEqual(os.stat(unit).st_ino, inode)
        with open(os.path.join(run.newest_replay(), "verdict.json")) as file:
            return process.returncode, json.load(file), output

    def test_rule_22_a_second_attempt_with_other_rows_is_a_warning_and_the_first_stays(self):
        code, verdict, output = self.first_attempt(different=True)
        self.assertEqual((code, verdict["verdict"]), (3, "differs"))
        self.assertIn("unit 3 was replayed twice with different rows", "\n".join(verdict["reasons"]), output)

    def test_rule_22_a_second_attempt_with_the_same_rows_is_success(self):
        code, verdict, output = self.first_attempt(different=False)
        self.assertEqual((code, verdict["verdict"]), (0, "identical"), output)
        self.assertNotIn("twice", "\n".join(verdict["reasons"]))


class Headers(Case):
    def change(self, run, name, old, new):
        """Replaces text of a checkpoint's header by text of the same length."""
        self.assertEqual(len(old), len(new))
        path = run.checkpoint(name)
        content, length = read_header(path)
        header = content[8:8 + length]
        self.assertIn(old, header)
        with open(path, "wb") as file:
            file.write(content[:8] + header.replace(old, new, 1) + content[8 + length:])

    def test_rule_24_flipped_names_shapes_and_references_are_found(self):
        changes = (("train/epoch=1", b'"0.value"', b'"9.value"'), ("train/epoch=1", b'"shape":[6]', b'"shape":[5]'),
                   ("@iteration/epoch=2", b"epoch=entry", b"epoch=entrx"),
                   ("@iteration/epoch=2", b'"flor.at":"epoch=2', b'"flor.at":"epoch=1'),
                   ("train/epoch=1", b'"flor.state":"', b'"flor.statf":"'), ("train/epoch=1", b"F64", b"I64"))
        run = self.record("train", "--guard")
        expected = self.plain("train", "--guard", "--outer")
        for name, old, new in changes:
            with self.subTest(old=old):
                saved = self.path("saved")
                shutil.copyfile(run.checkpoint(name), saved)
                self.change(run, name, old, new)
                report = self.flor("check", run.id, code=1).stdout
                self.assertIn(f"checkpoints/{name}.safetensors: header: its digest does not match", report)
                answer = run.replay("train", "--guard", "--outer", workers=6)
                self.assertEqual(answer.verdict["verdict"], "identical")
                self.assertEqual(run.joined(), expected)
                self.assertEqual(answer.total("executed"), 1 if name.startswith("train") else 0)
                shutil.copyfile(saved, run.checkpoint(name))
        self.flor("check", run.id)

    def test_rule_24_a_whole_checkpoint_of_another_place_is_not_taken(self):
        run = self.record("train", "--guard")
        shutil.copyfile(run.checkpoint("train/epoch=3"), run.checkpoint("train/epoch=1"))
        shutil.copyfile(run.checkpoint("@iteration/epoch=4"), run.checkpoint("@iteration/epoch=2"))
        answer = self.assert_same_for_all_cuts(run, "train", "--guard", "--outer", workers=(1, 6))
        self.assertEqual(answer.total("executed"), 1)
        self.assertEqual(run.joined(), self.plain("train", "--guard", "--outer"))


class Rows(Case):
    def test_rule_25_numbers_that_json_has_not(self):
        run = self.record("rows")
        for name, value in (("nan", '"NaN"'), ("infinity", '"Infinity"'), ("negative_infinity", '"-Infinity"'),
                            ("negative_zero", "-0.0"), ("tenth", "0.10000000149011612"),
                            ("third", "0.3333333333333333"), ("smallest", "5e-324"), ("whole", "3.0"),
                            ("integer", "9223372036854775807"), ("negative", "-9223372036854775808"),
                            ("text", '"two\\nlines, \\"quoted\\", \u00e9"')):
            self.assertIn(f'{{"name":"{name}","value":{value},"epoch":1,"@at":"epoch=1/train#0"}}\n', run.log())
        answer = self.assert_same_for_all_cuts(run, "rows", probe="all", workers=(1, 2))
        self.assertEqual(answer.log, run.log())
        self.assertEqual(answer.verdict["values"], 22)
        self.assertEqual(run.joined(), harness.logged_rows(run.log()))

    def test_rule_25_a_torn_last_line_is_dropped_and_said(self):
        run = self.record("train", "--guard")
        whole = run.log()
        with open(run.file("log.jsonl"), "w") as file:
            file.write(whole[:-9])
        done = self.flor("log", run.id, "--format", "jsonl")
        self.assertIn("its last line was cut off", done.stderr)
        self.assertEqual(harness.logged_rows(done.stdout), harness.logged_rows(whole)[:-1])
        answer = run.replay("train", "--guard", "--outer", workers=2, code=None)
        self.assertIn("its last line was cut off", answer.reasons)

    def test_rule_25_of_a_resumed_recording_the_last_attempt_counts(self):
        run = self.record("train", "--guard")
        rows = json_lines(run.file("log.jsonl"))
        behind = [row for row in rows if row.get("epoch", 3) >= 3 and row["name"] != "begin"]
        with open(run.file("log.jsonl"), "w") as file:
            first = rows[:-len(behind)]
            of_the_dead = [{**row, "value": 99.5} for row in behind] + [{"name": "failed", "value": 1, "@at": ""}]
            kept = {"@event": "kept", "loop": "epoch", "before": 3}
            for row in first + of_the_dead + [{"@event": "resumed"}] + first[:1] + [kept] + behind + [{"@event": "ended"}]:
                file.write(json.dumps(row) + "\n")
        answer = self.assert_same_for_all_cuts(run, "train", "--guard", probe="all", workers=(1, 3))
        self.assertEqual(answer.verdict["values"], 26)
        self.assertEqual(run.joined(), self.plain("train"))

    def test_rule_25_rows_that_are_computed_in_the_background_stand_in_program_order(self):
        for memory in ("256", "0", "1"):  # MiB of copies; 0: computed where they are logged; 1: less than one tensor
            run = self.record("observed", "--guard", env={"FLOR_LOG_MEMORY": memory})
            self.assertEqual(run.manifest()["status"], "completed")
            rows = harness.logged_rows(run.log())
            step = ["velocity", "velocity_whole", "velocity_image", "loss", "large"]
            names = ["first", "first_whole", "first_image"] + (step * 3 + ["accuracy"]) * 4
            self.assertEqual([row[1] for row in rows], names + ["last", "last_whole", "last_image"])
            first = first if memory != "256" else run.log()
            self.assertEqual(run.log(), first)
            for row in rows:
                if row[1].endswith(("_whole", "_image")):
                    self.assertTrue(os.path.isfile(run.file(row[2]["file"])), row)
                elif row[1] == "large":
                    self.assertEqual(row[2]["min"], row[2]["max"])  # none of what the memory held later
                elif row[1] != "loss" and row[1] != "accuracy":
                    self.assertEqual(sum(map(int, row[2]["histogram"])), 6)
                    self.assertNotEqual(row[2]["min"], "-1.0")
        self.assertEqual(harness.printed_rows(run.done.stdout.split("flor: ")[0])[-1][1], "last_image")

    def test_rule_25_replays_compute_the_same_in_the_background(self):
        run = self.record("observed", "--guard")
        kept = sorted(os.listdir(run.file("tensors", "velocity_whole")))
        answer = self.assert_same_for_all_cuts(run, "observed", "--guard", probe="all", workers=(1, 3))
        self.assertEqual(answer.log, run.log())
        self.assertEqual(answer.verdict["values"], 70)
        self.assertEqual(sorted(os.listdir(run.file("tensors", "velocity_whole"))), kept)
        answer = run.replay("observed", "--guard", "--outer", workers=2)
        self.assertEqual(answer.total("executed"), 0)
        self.assertEqual([row[1] for row in run.joined() if row[1] == "outer"], ["outer"] * 4)

    def test_rule_25_a_replay_whose_files_cannot_be_written_fails(self):
        run = self.record("observed")
        shutil.rmtree(run.file("tensors"))
        with open(run.file("tensors"), "w"):
            pass
        done = run.ask("observed", probe="all", code=1)
        self.assertIn(run.file("tensors"), done.stdout + done.stderr)
        self.assertFalse(os.path.exists(os.path.join(run.newest_replay(), "failure.json")),
                         "another worker, or this one later, may manage")
        os.remove(run.file("tensors"))
        self.assertEqual(run.replay("observed", probe="all", flags=("--known",)).verdict["verdict"], "identical")

    def test_rule_25_a_recording_whose_files_cannot_be_written_goes_on(self):
        done = self.flor("record", "--", harness.PROGRAM, "observed", "--spoil")
        run = self.newest_run(done)
        self.assertEqual(run.manifest()["status"], "damaged")
        self.assertEqual((done.stdout + done.stderr).count("training goes on"), 1)
        rows = harness.logged_rows(run.log())
        self.assertEqual(len(rows), 70)
        self.assertEqual([row[2]["file"] for row in rows if row[1] == "last_whole"], [None])

    def test_rule_25_rows_of_a_program_outside_of_flor_go_where_it_is_asked_to(self):
        plain = self.plain("observed")
        self.assertEqual(len(plain), 70)
        done = self.execute([harness.PROGRAM, "observed"], env={"FLOR_LOG": "logs/mine"})
        self.assertEqual([row[:2] for row in harness.printed_rows(done.stdout)], [row[:2] for row in plain])
        with open(self.path("logs/mine/log.jsonl")) as file:
            rows = harness.logged_rows(file.read())
        self.assertEqual([(row[0], row[1]) for row in rows],
                         [(tuple((name, value) for name, value in row[0]), row[1]) for row in plain])
        for row in rows:
            if row[1].endswith(("_whole", "_image")):
                self.assertTrue(os.path.isfile(self.path("logs/mine/" + row[2]["file"])), row)
        # The same values; a plain run knows no blocks, which are part of a file's name.
        run = self.record("observed")
        without_file = [(path, name, {k: v for k, v in value.items() if k != "file"} if isinstance(value, dict) else value)
                        for path, name, value in rows + harness.logged_rows(run.log())]
        self.assertEqual(without_file[:len(rows)], without_file[len(rows):])

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_rule_25_the_log_is_synced_before_the_checkpoint_that_covers_it(self):
        self.assert_synced("train", named_row="loss", times=18)

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_rule_25_so_are_rows_that_are_computed_in_the_background(self):
        self.assert_synced("observed", named_row="large", times=12)

    def assert_synced(self, scenario, named_row, times):
        output = self.path("strace")
        run = self.record(shutil.which("strace"), "-f", "-y", "-s", "1000000", "-o", output, "-e",
                          "trace=fdatasync,fsync,write,rename,renameat,renameat2,link,linkat",
                          harness.PROGRAM, scenario, "--guard")
        # How far rows and checkpoints are: N within the block of epoch N, N + 0.5 behind it, -1 before the loop. Training goes
        # on while a checkpoint is written, so that there may be rows which it does not cover, those behind the loop included.
        def place(text):
            epoch = re.search(r'epoch(?:\\": ?|=)(\d+)', text)
            inside = "step" in text or "checkpoints/" in text and "@iteration" not in text
            return int(epoch[1]) + (0 if inside else 0.5) if epoch else -1
        def behind_loop(row):
            return r'\"name\":\"end\"' in row
        unsynced, published = set(), 0
        with open(output) as file:
            for line in file:
                if "/log.jsonl>" in line and "write(" in line:
                    unsynced.update(place(row) for row in line.split(r"\n") if "name" in row and not behind_loop(row))
                elif "/log.jsonl>" in line and "sync(" in line:
                    unsynced.clear()
                elif "checkpoints/" in line and ("rename" in line or "link" in line):
                    published += 1
                    self.assertEqual([row for row in unsynced if row <= place(line)], [], line)
        self.assertEqual(published, len(run.checkpoints()))
        self.assertEqual(len(named(harness.logged_rows(run.log()), named_row)), times)
