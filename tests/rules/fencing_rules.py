"""An attempt whose node was cut off, and that wakes up while the next one records the run: it harms nothing."""
import json
import os
import pathlib
import re
import signal
import time

from resuming_rules import Interrupted


def is_stopped(pid):
    """Are all threads of a process? A signal takes a moment to reach them."""
    tasks = [f"/proc/{pid}/task/{task}/stat" for task in os.listdir(f"/proc/{pid}/task")]
    return all(pathlib.Path(task).read_text().rpartition(")")[2].split()[0] == "T" for task in tasks)


class Fencing(Interrupted):
    def cut_off(self, run, pid):
        """Freezes the recorder, and lets everything look as if it ran on another node, an hour ago."""
        os.kill(pid, signal.SIGSTOP)
        self.wait_for(lambda: is_stopped(pid), "the recorder to stop: until then it tells that it lives")
        path = run.file("owner.0.json")
        with open(path) as file:
            owner = json.load(file)
        owner.update(host="another", boot="00000000-0000-0000-0000-000000000000", shared_locks=False)
        with open(path, "w") as file:
            json.dump(owner, file)
        hour_ago = time.time() - 3600
        os.utime(path, (hour_ago, hour_ago))
        os.remove(run.file("run.lock"))  # its lock holds on that node only

    def frozen(self, *program, flags=()):
        run, process, pid = self.hold(*program, at=3, flags=("--every", "1", *flags))
        self.wait_for(lambda: "train/epoch=2" in run.checkpoints(), "the checkpoint of the epoch before")
        self.cut_off(run, pid)
        self.assertRegex(self.flor("show", run.id).stdout, "status +unknown")
        self.flor("unlock", run.id)
        return run, process, pid

    def wake(self, run, process, pid):
        """Its exit code is that of training, and it says once that it is no longer recorded."""
        os.kill(pid, signal.SIGCONT)
        output = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 0, output)
        self.assertEqual(len(re.findall("training goes on, and is no longer recorded", output)), 1, output)
        self.assertNotIn("damaged", output)
        self.assertRegex(output, f"recorded run {run.id}: (completed|a further attempt goes on with it), ")

    def test_an_attempt_that_wakes_up_while_the_next_one_records(self):
        for program in (["train"], ["train", "--guard"]):
            for flags in ((), ("--keep", "1")):
                self.environment["FLOR_STORE"] = self.path("-".join([*program, *flags]))
                run, first, first_pid = self.frozen(*program, flags=flags)
                _, second, _ = self.hold(*program, at=3, flags=("--resume", run.id, "--every", "1", *flags))
                self.go_on()  # both, side by side
                self.wake(run, first, first_pid)
                output = second.communicate(timeout=60)[0]
                self.assertEqual(second.returncode, 0, output)
                self.assertNotIn("warning", output)
                self.assert_whole(run, *program, attempts=1, at=3)
                self.assertIn("nothing is damaged", self.flor("check", run.id).stdout)

    def test_an_attempt_that_wakes_up_behind_the_end(self):
        run, process, pid = self.frozen("train", "--guard")
        self.go_on()
        self.resume(run, "train", "--guard", at=3)
        with open(run.file("run.json"), "rb") as file:
            manifest = file.read()
        self.wake(run, process, pid)
        with open(run.file("run.json"), "rb") as file:
            self.assertEqual(file.read(), manifest)
        self.assert_whole(run, "train", "--guard", attempts=1, at=3)
