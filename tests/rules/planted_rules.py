"""Runs of another user in a shared store, as they should not be: `flor runs` and `flor show` come to their end, and what
they print is text."""
import json
import os
import subprocess

from harness import Case
import harness


class Planted(Case):
    def plant(self, run_id):
        path = os.path.join(self.environment["FLOR_STORE"], run_id)
        os.makedirs(path)
        return os.path.join(path, "run.json")

    def test_what_is_no_file_is_an_unreadable_run(self):
        os.mkfifo(self.plant("fifo"))
        os.symlink("/dev/zero", self.plant("endless"))
        with open(self.plant("huge"), "wb") as file:
            file.truncate(1 << 40)
        runs = {run["id"]: run for run in json.loads(self.flor("runs", "--json").stdout)}
        self.assertEqual({run["status"] for run in runs.values()}, {"unreadable"})
        self.assertIn("no regular file", runs["fifo"]["problem"])
        self.assertIn("is a symbolic link", runs["endless"]["problem"])
        self.assertIn("is not read", runs["huge"]["problem"])
        for run_id in runs:
            self.assertIn(run_id, self.flor("show", run_id, code=1).stderr)

    def test_names_do_not_steer_the_terminal(self):
        text = "a\x1b]0;owned\x07\nforged  line\x9b31m"
        with open(self.plant("r1"), "w") as file:
            json.dump({"format": 1, "id": "r1", "name": text, "status": "completed", "command": ["./train", text],
                       "user": text, "warnings": [text], "environment": {text: text}}, file, ensure_ascii=False)
        for words in (("runs",), ("runs", "--json"), ("show", "r1"), ("show", "r1", "--json")):
            shown = self.flor(*words).stdout
            self.assertIn("owned", shown)
            self.assertEqual([c for c in shown if not (c.isprintable() or c == "\n")], [], words)
        self.assertEqual(len(self.flor("runs").stdout.splitlines()), 2)

    def test_a_record_sets_no_variable_that_loads_code(self):
        run = self.record("train")
        manifest = run.manifest()
        manifest["preset"] = {"LD_PRELOAD": "/nowhere/planted.so", "FLOR_PLANTED": "1", "OMP_NUM_THREADS": "3"}
        with open(run.file("run.json"), "w") as file:
            json.dump(manifest, file)
        answer = run.replay("/bin/sh", "-c", f"env; exec {harness.PROGRAM} train")
        with open(os.path.join(answer.path, "workers", "worker-0.out")) as file:
            variables = file.read().splitlines()
        self.assertIn("OMP_NUM_THREADS=3", variables)
        self.assertEqual([line for line in variables if line.startswith(("LD_PRELOAD=", "FLOR_PLANTED="))], [])

    def test_an_export_is_written_where_it_is_asked_for(self):
        run = self.record("train")
        manifest = run.manifest()
        os.mkdir(self.path("elsewhere"))
        manifest["name"] = self.path("elsewhere/evil")
        with open(run.file("run.json"), "w") as file:
            json.dump(manifest, file)
        here = self.path("here")
        os.mkdir(here)
        words = [os.path.join(harness.BIN, "flor"), "export", run.id, "--epoch", "1"]
        exported = subprocess.run(words, cwd=here, env=self.environment, capture_output=True, text=True)
        self.assertEqual(exported.returncode, 0, exported.stderr)
        self.assertEqual(os.listdir(self.path("elsewhere")), [])
        self.assertEqual(len(os.listdir(here)), 1)

    def test_a_name_that_means_something_names_no_file(self):
        """A shell reads .profile, and tar takes a file for a flag. The kernel reads a name up to a NUL."""
        run = self.record("train")
        manifest = run.manifest()
        here = self.path("here")
        os.mkdir(here)
        for name in (".profile", "--checkpoint-action=exec=sh x.sh", ".zshenv\0x"):
            with open(run.file("run.json"), "w") as file:
                json.dump({**manifest, "name": name}, file)
            for words in (("export", run.id, "--epoch", "1"), ("report", run.id)):
                done = subprocess.run([os.path.join(harness.BIN, "flor"), *words], cwd=here, env=self.environment,
                                      capture_output=True, text=True)
                written = os.listdir(here)
                if "\0" in name:
                    self.assertEqual((done.returncode, written), (1, []))
                    self.assertIn("run.json holds a NUL", done.stderr)
                else:
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertTrue(len(written) == 1 and written[0].startswith(run.id), written)
                    os.remove(os.path.join(here, written[0]))
