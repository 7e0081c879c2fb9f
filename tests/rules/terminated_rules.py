"""A recording that is told to end (SIGTERM) takes a last checkpoint, or keeps its log."""
import fcntl
import os
import re
import signal
import struct
import termios

from resuming_rules import Interrupted, PROGRAMS


def has_heard(pid):
    """Has the process taken in the SIGTERM that it was sent? Its handler tells a thread through a pipe."""
    with open(f"/proc/{pid}/status") as file:
        pending = [int(line.split()[1], 16) for line in file if line.startswith(("SigPnd:", "ShdPnd:"))]
    if any(mask & (1 << (signal.SIGTERM - 1)) for mask in pending):
        return False
    ends = {False: {}, True: {}}  # of pipes: that are read, that are written
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            with open(f"/proc/{pid}/fdinfo/{fd}") as file:
                written = int(re.search(r"flags:\s+(\d+)", file.read())[1], 8) & os.O_ACCMODE == os.O_WRONLY
            ends[written][os.readlink(f"/proc/{pid}/fd/{fd}")] = f"/proc/{pid}/fd/{fd}"
        except FileNotFoundError:
            pass  # a file that was closed meanwhile
    return not any(unread_bytes(path) for link, path in ends[False].items() if link.startswith("pipe:") and link in ends[True])


def unread_bytes(pipe):
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return struct.unpack("i", fcntl.ioctl(end, termios.FIONREAD, bytes(4)))[0]
    finally:
        os.close(end)


class Terminated(Interrupted):
    """SIGTERM: a preemption, a time limit, scancel."""

    def terminated(self, *program, at, env=None, let_go=True):
        run, process, pid = self.hold(*program, at=at, flags=("--every", "100"), env=env)
        os.kill(pid, signal.SIGTERM)
        if let_go:
            self.wait_for(lambda: has_heard(pid), "the end of its way to the library")
            self.go_on()
        output = process.communicate(timeout=60)[0]
        self.go_on()
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, output)
        return run, output

    def test_a_last_checkpoint_is_taken(self):
        for program in PROGRAMS:
            self.environment["FLOR_STORE"] = self.path("-".join(program))
            program = [*program, "--trace=" + self.path("trace")]
            run, output = self.terminated(*program, at=3)
            self.assertIn("terminated: a last checkpoint is taken", output)
            self.assertRegex(self.flor("show", run.id).stdout, "status +killed")
            self.traced()
            self.resume(run, *program, at=3, flags=("--every", "100"))
            complete = "--guard" in program
            self.assertEqual(self.trained(), [4, 5] if complete else [0, 1, 2, 4, 5])
            self.assert_whole(run, *program, attempts=1, at=3)

    def test_a_last_checkpoint_that_cannot_be_written_is_not_called_taken(self):
        run, process, pid = self.hold("train", "--guard", at=3, flags=("--every", "1"))
        checkpoints, aside = run.file("checkpoints"), run.file("aside")
        self.wait_for(lambda: "@iteration/epoch=2" in run.checkpoints(), "the checkpoint of the epoch before")
        os.rename(checkpoints, aside)
        open(checkpoints, "w").close()
        os.kill(pid, signal.SIGTERM)
        self.wait_for(lambda: has_heard(pid), "the end of its way to the library")
        self.go_on()
        output = process.communicate(timeout=60)[0]
        self.assertRegex(output, "terminated: no last checkpoint, it could not be written: .*checkpoints")
        self.assertNotIn("is taken", output)
        os.remove(checkpoints)
        os.rename(aside, checkpoints)
        self.resume(run, "train", "--guard", at=3)
        self.assert_whole(run, "train", "--guard", attempts=1, at=3)

    def test_a_grace_longer_than_a_clock_counts_is_a_long_one(self):
        output = self.terminated("train", "--guard", at=3, env={"FLOR_GRACE": "1e12"})[1]
        self.assertIn("terminated: a last checkpoint is taken", output)

    def test_where_none_comes_in_time_the_log_is_kept(self):
        run, output = self.terminated("train", "--guard", at=3, env={"FLOR_GRACE": "0.3"}, let_go=False)
        self.assertIn("terminated: no last checkpoint, none could be taken in time", output)
        self.assertIn("epoch=2", run.log().replace('"epoch":', "epoch="))
        self.resume(run, "train", "--guard", at=3)
        self.assert_whole(run, "train", "--guard", attempts=1, at=3)

    def test_a_program_that_ends_by_itself_is_not_ended(self):
        run, process, pid = self.hold("train", at=5, flags=("--every", "100"))
        self.go_on()
        self.assertEqual(process.wait(60), 0)
        self.assertEqual(run.manifest()["status"], "completed")

    def test_a_program_that_fails_by_the_signal_is_requeued(self):
        """SIGTERM also ends a data loader's workers. The trainer misses them, and ends before Slurm has been asked."""
        calls, tools = self.path("calls"), self.path("tools")
        os.mkdir(tools)
        for name, answer in {"squeue": 'case $* in *%P) echo main ;; *) echo "N/A 7 7 $(date +%s)" ;; esac',
                             "scontrol": 'case $* in *step*) echo "StepId=7.0 UserId=0" ;; esac'}.items():
            with open(os.path.join(tools, name), "w") as file:
                file.write(f'#!/bin/sh\necho {name} "$*" >> {calls}\n{answer}\n')
            os.chmod(file.name, 0o755)
        run, process, pid = self.hold("endings", "--end=exit", "--code=1", at=3, flags=("--every", "1"),
                                      env={"PATH": tools + ":" + self.environment["PATH"], "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0"})
        os.kill(pid, signal.SIGTERM)
        self.wait_for(lambda: has_heard(pid), "the end of its way to the library")
        self.go_on()
        output = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, output)
        self.assertIn("terminated: no last checkpoint, the program has failed; the job is requeued", output)
        with open(calls) as file:
            self.assertEqual(file.read().splitlines()[-1], "scontrol requeue 7")
        self.assertRegex(self.flor("show", run.id).stdout, "status +killed")
        self.assertIn("train/epoch=2", run.checkpoints())
