"""Checkpoints that were removed on purpose: while recording (--keep), and by `flor gc`; and what `flor export` writes."""
import json
import os
import signal
import struct
import subprocess
import time

from harness import Case, named
import harness


def read_safetensors(path):
    """Metadata, and name -> (dtype, shape, bytes), as the format is defined."""
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(length))
        data = file.read()
    metadata = header.pop("__metadata__")
    return metadata, {name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
                      for name, entry in header.items()}


def python_with(module):
    """A Python that has the module, or None."""
    for python in ("python3", "/usr/bin/python3"):
        if subprocess.run([python, "-c", f"import {module}"], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


class Keep(Case):
    def assert_replays(self, run, *mode, executed):
        plain = self.plain("train", *mode, "--outer")
        answer = self.assert_same_for_all_cuts(run, "train", *mode, "--outer")
        self.assertEqual(answer.total("executed"), executed)
        self.assertEqual(run.joined(), plain)
        return answer

    def test_a_recording_keeps_the_newest_and_replays_right(self):
        run = self.record("train", "--guard", flags=("--keep", "2"))
        self.assertEqual(run.checkpoints(), ["@iteration/epoch=4", "@iteration/epoch=5", "@iteration/epoch=entry",
                                             "train/epoch=4", "train/epoch=5"])
        self.assertIn("5 checkpoints", run.done.stderr)
        self.assertIn("8 removed by --flor-keep", self.flor("check", run.id).stdout)
        answer = self.assert_replays(run, "--guard", executed=4)
        self.assertEqual([(unit["first"], unit["last"]) for unit in answer.plan["units"]], [(0, 4), (5, 5)])

    def test_the_same_without_a_guard(self):
        run = self.record("train", flags=("--keep", "2"))
        # That of epoch 0 holds what never changes, and is as good as it was.
        self.assertEqual(run.checkpoints(), ["train/epoch=0", "train/epoch=4", "train/epoch=5"])
        self.assertIn("3 removed by --flor-keep", self.flor("check", run.id).stdout)
        self.assert_replays(run, executed=3)

    def test_the_state_that_a_removed_checkpoint_had_is_still_compared(self):
        run = self.record("train", "--guard", flags=("--keep", "1"))
        answer = run.replay("train", "--guard", "--perturb=2", code=3)
        self.assertEqual(answer.verdict["verdict"], "differs", answer.output)
        whole = self.record("train", "--guard").replay("train", "--guard", probe="all")
        kept = run.replay("train", "--guard", probe="all")
        digests = [sum(unit["digests"] for unit in answer.verdict["units"]) for answer in (whole, kept)]
        self.assertEqual(digests[0], digests[1])

    def test_all_are_kept_by_default_and_when_asked_for(self):
        every = self.record("train", "--guard").checkpoints()
        self.assertEqual(self.record("train", "--guard", flags=("--keep", "all")).checkpoints(), every)
        self.assertEqual(len(every), 13)

    def test_a_killed_recording_names_what_is_there(self):
        until = self.path("killed")
        process = self.start("record", "--every", "1", "--keep", "1", "--", harness.PROGRAM, "train", "--guard",
                             "--hold=4", "--in=recording", "--until=" + until)
        self.wait_for(lambda: os.path.exists(until + ".reached"), "epoch 4")
        run = self.newest_run()
        self.wait_for(lambda: "@iteration/epoch=2" not in run.checkpoints() and
                      "@iteration/epoch=3" in run.checkpoints(), "the checkpoint of epoch 2 to go")
        os.kill(run.manifest()["pid"], signal.SIGKILL)
        process.communicate(timeout=60)
        self.flor("check", run.id)
        answer = run.replay("train", "--guard", flags=("--epochs", "0:4"))
        self.assertEqual(answer.verdict["verdict"], "identical", answer.output)


class Garbage(Case):
    def gc(self, *words, code=0):
        return json.loads(self.flor("gc", "--json", *words, code=code).stdout)

    def runs(self):
        return [run["id"] for run in json.loads(self.flor("runs", "--json").stdout)]

    def store(self, *parts):
        return os.path.join(self.environment["FLOR_STORE"], *parts)

    def labels(self):
        directory = self.store(".names", str(os.getuid()))
        return sorted(os.listdir(directory)) if os.path.exists(directory) else []

    def test_thinning_keeps_what_is_referred_to(self):
        for mode, left in ((("--guard",), ["@iteration/epoch=5", "@iteration/epoch=entry", "train/epoch=5"]),
                           ((), ["train/epoch=0", "train/epoch=5"])):
            run = self.record("train", *mode)
            sizes = {name: os.path.getsize(run.checkpoint(name)) for name in run.checkpoints()}
            proposed = self.gc("--keep", "1", run.id, "--dry-run")
            self.assertEqual(len(run.checkpoints()), len(sizes), "--dry-run removes nothing")
            self.assertFalse(proposed["removed"])
            self.assertEqual(self.gc("--keep", "1", run.id, "--yes"), {**proposed, "removed": True})
            self.assertEqual(run.checkpoints(), left)
            self.assertEqual(proposed["bytes"], sum(sizes.values()) - sum(sizes[name] for name in left))
            self.flor("check", run.id)
            self.assert_same_for_all_cuts(run, "train", *mode, "--outer")
            self.assertEqual(run.joined(), self.plain("train", *mode, "--outer"))
            self.assertIn("nothing to remove", self.flor("gc", "--keep", "1", run.id).stdout)

    def test_whole_runs_by_status_and_their_labels(self):
        good = self.record("train", flags=("--name", "good"))
        broken = self.record("endings", "--code=3", flags=("--name", "bad"), code=3)
        self.assertEqual(self.labels(), ["bad", "good"])
        done = self.flor("gc", "--status", "failed,killed", code=2)
        self.assertRegex(done.stderr, "^flor: flor gc would remove .*; give --yes to let it, --dry-run to see what\n$")
        self.assertIn(f"run {broken.id}: failed", done.stdout)
        self.assertEqual(self.runs(), sorted([good.id, broken.id]))
        self.flor("gc", "--status", "failed,killed", "--yes")
        self.assertEqual((self.runs(), self.labels()), ([good.id], ["good"]))
        self.record("train", flags=("--name", "bad"))  # the name is free again
        self.assertEqual([name for name in os.listdir(self.store()) if name.startswith(".removed")], [])

    def test_the_oldest_go_until_the_store_is_small_enough(self):
        runs = [self.record("train") for _ in range(3)]
        for age, run in enumerate(reversed(runs)):
            with open(run.file("run.json")) as file:
                manifest = json.load(file)
            manifest["finished"] = time.time() - 86400 * (age + 1)
            with open(run.file("run.json"), "w") as file:
                json.dump(manifest, file)
        proposed = self.gc("--max-size", "1K", "--dry-run")
        self.assertEqual([run["id"] for run in proposed["runs"]], [run.id for run in runs])
        size = sum(run["bytes"] for run in proposed["runs"])
        self.assertEqual([run["id"] for run in self.gc("--max-size", str(size - 1), "--dry-run")["runs"]],
                         [runs[0].id])
        self.assertEqual(self.gc("--max-size", str(size), "--dry-run")["runs"], [])
        self.gc("--older-than", "60h", "--yes")
        self.assertEqual(self.runs(), sorted(run.id for run in runs[1:]))
        self.gc("--older-than", "12h", "--yes", runs[2].id)
        self.assertEqual(self.runs(), [runs[1].id])

    def test_what_is_recorded_or_replayed_now_stays(self):
        until = self.path("recording")
        process = self.start("record", "--every", "1", "--", harness.PROGRAM, "train", "--guard", "--hold=3",
                             "--in=recording", "--until=" + until)
        self.wait_for(lambda: os.path.exists(until + ".reached"), "epoch 3 of the recording")
        run = self.newest_run()
        for words in (("--max-size", "1"), ("--keep", "1", run.id)):
            answer = self.gc(*words, "--yes")
            self.assertEqual(answer["busy"], [{"id": run.id, "why": "it is being recorded"}])
        open(until, "w").close()
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        until = self.path("replaying")
        process = self.start("replay", run.id, "--launcher", "local", "--workers", "1", "--probe", "all", "--",
                             harness.PROGRAM, "train", "--guard", "--hold=3", "--in=replaying", "--until=" + until)
        self.wait_for(lambda: os.path.exists(until + ".reached"), "epoch 3 of the replay")
        answer = self.gc("--status", "completed", "--yes")
        self.assertEqual(answer["busy"], [{"id": run.id, "why": "it is being replayed"}])
        open(until, "w").close()
        process.communicate(timeout=60)
        self.assertEqual((process.returncode, self.runs()), (0, [run.id]))
        self.flor("check", run.id)

    def test_a_removal_that_was_cut_off_is_finished(self):
        run = self.record("train", flags=("--name", "mine"))
        os.rename(run.path, self.store(".removed." + run.id))
        self.assertEqual(self.runs(), [])
        self.flor("gc", "--yes")
        self.assertEqual(self.labels(), [])
        self.assertEqual([name for name in os.listdir(self.store()) if run.id in name], [])

    def test_leftovers_of_killed_processes(self):
        run = self.record("train", "--guard")
        gone = subprocess.Popen(["true"])
        gone.wait()
        old = time.time() - 7200
        names = {run.file("checkpoints", "train", f".epoch=9.safetensors.tmp.{gone.pid}.3"): True,
                 run.file("checkpoints", "train", f".epoch=9.safetensors.tmp.{os.getpid()}.3"): False,
                 self.store(f".writable.{gone.pid}"): True,
                 run.file(".reserve"): True,
                 run.checkpoint("train/epoch=99"): True,
                 run.file("notes.txt"): False}
        with open(run.checkpoint("train/epoch=5"), "rb") as file:
            content = file.read()
        for name in names:
            with open(name, "wb") as file:
                file.write(content)
            os.utime(name, (old, old))
        young = run.file("checkpoints", "train", f".epoch=8.safetensors.tmp.{gone.pid}.4")
        open(young, "w").close()
        os.makedirs(self.store("20260101-000000-dead"))
        open(self.store("20260101-000000-dead", "run.lock"), "w").close()
        os.utime(self.store("20260101-000000-dead"), (old, old))
        answer = self.gc("--yes")
        self.assertEqual(sorted(one["path"] for one in answer["leftovers"]),
                         sorted([name for name, goes in names.items() if goes] + [self.store("20260101-000000-dead")]))
        self.assertEqual({name: not os.path.exists(name) for name in names}, names)
        self.assertTrue(os.path.exists(young))
        self.flor("check", run.id)
        self.assertEqual(self.gc("--yes")["leftovers"], [])

    def test_wrong_usage(self):
        run = self.record("train")
        for words, text in ((("--older-than", "x"), "--older-than takes a time such as 30d"),
                            (("--max-size", "1X"), "--max-size takes bytes"),
                            (("--keep", "0", run.id), "--keep takes all or a number of checkpoints from 1"),
                            (("--keep", "2"), "--keep thins the runs that are named"),
                            (("--keep", "2", "--older-than", "1d", run.id), "give one or the other"),
                            (("--status", "fine"), "fine"),
                            (("nowhere",), "there is no run 'nowhere'"),
                            (("--store", self.path("none")), "there is no store")):
            done = self.flor("gc", *words, code=2)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Export(Case):
    def export(self, *words, code=0):
        return self.flor("export", *words, code=code)

    def state(self, run, name):
        """The tensors of a checkpoint with the bytes that lie elsewhere."""
        metadata, tensors = read_safetensors(run.checkpoint(name))
        for tensor, entry in json.loads(metadata["flor.elsewhere"]).items():
            _, holder = read_safetensors(run.file(entry["file"]))
            tensors[tensor] = (entry["dtype"], entry["shape"], holder[entry["tensor"]][2])
        return tensors

    def test_safetensors_hold_all_tensors(self):
        run = self.record("train", "--guard")
        self.assertIn("2.value", json.loads(read_safetensors(run.checkpoint("@iteration/epoch=3"))[0]["flor.elsewhere"]))
        out = self.path("out.safetensors")
        done = self.export(run.id, "--epoch", "3", "--output", out)
        self.assertIn(f"wrote {out}: ", done.stdout)
        metadata, tensors = read_safetensors(out)
        self.assertEqual(tensors, self.state(run, "@iteration/epoch=3"))
        self.assertEqual((metadata["run"], metadata["at"], metadata["format"]), (run.id, "epoch=3/@iteration", "pt"))
        refused = self.export(run.id, "--epoch", "3", "--output", out, code=2)
        self.assertIn("out.safetensors exists", refused.stderr)
        self.export(run.id, "--epoch", "3", "--block", "train")
        name = f"{run.id}-epoch=3-train.safetensors"
        self.assertEqual(read_safetensors(self.path(name))[1], self.state(run, "train/epoch=3"))

    def test_safetensors_are_read_by_their_own_library(self):
        python = python_with("safetensors.numpy")
        if python is None:
            self.skipTest("the safetensors library is not installed")
        run = self.record("train", "--guard")
        out = self.path("out.safetensors")
        self.export(run.id, "--epoch", "3", "--output", out)
        script = ("import json, sys; from safetensors.numpy import load_file; "
                  "print(json.dumps({k: [list(v.shape), v.tobytes().hex()] for k, v in load_file(sys.argv[1]).items()}))")
        loaded = json.loads(self.execute([python, "-c", script, out]).stdout)
        self.assertEqual(loaded, {name: [shape, data.hex()]
                                  for name, (_, shape, data) in self.state(run, "@iteration/epoch=3").items()})

    def test_pytorch_loads_the_file(self):
        python = python_with("torch")
        if python is None:
            self.skipTest("PyTorch for Python is not installed")
        run = self.record("train", "--guard")
        out = self.path("out.pt")
        self.export(run.id, "--epoch", "3", "--format", "pt", "--output", out)
        script = ("import json, sys, torch\n"
                  "state = torch.load(sys.argv[1])\n"
                  "assert type(state) is dict, type(state)\n"
                  "print(json.dumps({k: [str(v.dtype), list(v.shape), v.requires_grad,"
                  " v.reshape(-1).tolist()] for k, v in state.items()}))\n")
        loaded = json.loads(self.execute([python, "-c", script, out]).stdout)
        kinds = {"F64": ("torch.float64", "d"), "I64": ("torch.int64", "q"), "U8": ("torch.uint8", "B"),
                 "F32": ("torch.float32", "f"), "BOOL": ("torch.bool", "?")}
        expected = {name: [kinds[dtype][0], shape, False, [one[0] for one in struct.iter_unpack("<" + kinds[dtype][1], data)]]
                    for name, (dtype, shape, data) in self.state(run, "@iteration/epoch=3").items()}
        self.assertEqual(loaded, expected)

    def test_the_best_epoch(self):
        run = self.record("train", "--guard", "--outer")
        rows = [row for row in self.plain("train", "--guard") if row[1] == "loss"]
        last = {}
        for path, _, value in rows:
            last[int(path[0][1])] = float(value)
        for flag, choose in (("--min", min), ("--max", max)):
            best = choose(last, key=last.get)
            answer = json.loads(self.export(run.id, "--best", "loss", flag, "--json", "--output",
                                            self.path(flag[2:])).stdout)
            self.assertEqual((answer["epoch"], answer["at"]), (best, f"epoch={best}/@iteration"))
            self.assertEqual(answer["best"], {"name": "loss", "value": last[best]})
            said = self.export(run.id, "--best", "loss", flag, "--output", self.path(flag[2:] + "-said")).stdout
            which = "smallest" if choose is min else "largest"
            self.assertRegex(said, f"; the {which} loss, [0-9.e-]+, is that of epoch {best}\n$")
        self.assertIn("logged nothing named acuracy", self.export(run.id, "--best", "acuracy", code=2).stderr)

    def test_the_best_epoch_is_named_where_it_has_no_checkpoint(self):
        run = self.record("train", "--guard", every=4)
        best = max((row for row in self.plain("train", "--guard") if row[1] == "accuracy"), key=lambda row: float(row[2]))
        said = self.export(run.id, "--best", "accuracy", "--max", code=2).stderr
        self.assertEqual(said, f"flor: the largest accuracy, {best[2]}, is that of epoch {best[0][0][1]}, but run {run.id} has "
                               f"no checkpoint at epoch {best[0][0][1]}; the nearest with one: 3\n")

    def test_a_metric_that_a_replay_added_counts(self):
        run = self.record("train", "--guard")
        run.replay("train", "--guard", "--outer")
        values = {int(path[0][1]): float(value) for path, _, value in named(run.joined(), "outer")}
        answer = json.loads(self.export(run.id, "--best", "outer", "--json").stdout)
        self.assertEqual(answer["epoch"], min(values, key=values.get))

    def test_epochs_without_a_checkpoint(self):
        run = self.record("train", "--guard", every=2)
        said = self.export(run.id, "--epoch", "2", code=2).stderr
        self.assertEqual(said, f"flor: run {run.id} has no checkpoint at epoch 2; the nearest with one: 1 and 3\n")
        self.assertIn("the nearest with one: 5\n", self.export(run.id, "--epoch", "40", code=2).stderr)
        self.assertIn("of block eval at epoch 1, nor at any other", self.export(run.id, "--epoch", "1", "--block", "eval",
                                                                              code=2).stderr)

    def test_several_blocks_want_a_choice(self):
        run = self.record("places")
        said = self.export(run.id, "--epoch", "1", code=2).stderr
        self.assertIn("choose one with --block: ", said)
        for inside in said.strip().rsplit("--block: ", 1)[1].split(", "):
            answer = json.loads(self.export(run.id, "--epoch", "1", "--block", inside, "--json", "--output",
                                            self.path("one")).stdout)
            self.assertEqual(answer["at"], "epoch=1/" + inside)
            os.remove(self.path("one"))

    def test_damage_is_never_exported(self):
        run = self.record("train", "--guard")
        path = run.checkpoint("@iteration/epoch=3")
        with open(path, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            byte = file.read(1)[0]
            file.seek(-1, os.SEEK_END)
            file.write(bytes([byte ^ 1]))
        for form in ("pt", "safetensors"):
            said = self.export(run.id, "--epoch", "3", "--format", form, code=1).stderr
            self.assertIn("checkpoints/@iteration/epoch=3.safetensors: tensor ", said)
        self.assertEqual([name for name in os.listdir(self.directory) if run.id in name], [])

    def test_wrong_usage(self):
        run = self.record("train")
        for words, text in (((), "either --epoch E or --best NAME"),
                            (("--epoch", "1", "--best", "loss"), "either --epoch E or --best NAME"),
                            (("--epoch", "1", "--max"), "--best is missing"),
                            (("--epoch", "x"), "x"),
                            (("--epoch", "1", "--format", "onnx"), "onnx"),
                            (("--epoch", "1", "--output", self.path("no/file")), "there is no directory")):
            done = self.export(run.id, *words, code=2)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
