"""`flor watch` on a real pseudo terminal, while a recording runs: terminal.py RULES_PROGRAM BIN."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rules"))
import harness  # noqa: E402


class Watch(harness.Case):
    def open(self, *words, width=100, height=20):
        """Starts flor watch on a terminal of this size."""
        self.ours, theirs = pty.openpty()
        self.addCleanup(os.close, self.ours)
        self.resize(width, height)
        self.modes = termios.tcgetattr(theirs)
        self.process = subprocess.Popen([os.path.join(harness.BIN, "flor"), "watch", *words], stdin=theirs, stdout=theirs,
                                        stderr=theirs, env={**self.environment, "LANG": "C.UTF-8"}, start_new_session=True)
        self.addCleanup(lambda: self.process.poll() is None and self.process.kill())
        self.theirs = theirs
        self.addCleanup(os.close, theirs)
        self.seen = ""

    def resize(self, width, height):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def until(self, pattern):
        """Reads on until it is there; returns what came since the last call."""
        while not re.search(pattern, self.seen, re.S):
            self.assertTrue(select.select([self.ours], [], [], 30)[0], f"{pattern!r} does not come: {self.seen!r}")
            self.seen += os.read(self.ours, 65536).decode()
        out, self.seen = self.seen, ""
        return out

    def press(self, keys):
        os.write(self.ours, keys.encode())

    def ends(self):
        self.assertEqual(self.process.wait(30), 0)
        self.until(r"\x1b\[\?25h\x1b\[\?1049l")
        self.assertEqual(termios.tcgetattr(self.theirs), self.modes, "the terminal is as it was")

    def recording_held(self, name):
        until = self.path("until")
        recording = self.start("record", "--name", name, "--every", "1", "--", self.program(), "train", "--guard", "--hold=3",
                               "--in=recording", "--until=" + until)
        self.held(until, "epoch 3")

        def go_on():
            open(until, "w").close()
            recording.communicate(timeout=60)
        return go_on

    def test_runs_are_seen_while_they_are_recorded(self):
        go_on = self.recording_held("first")
        self.open()
        self.until(r"1 run, 1 recording.*first .*recording .*3/6")
        go_on()
        self.until(r"0 recording.*completed .*6/6|completed .*6/6.*0 recording|6/6")
        self.press("/")
        self.until("/▏")
        self.press("nothing\r")
        self.until("0 runs of 1")
        self.resize(60, 10)
        self.until(r"\x1b\[2J.*0 runs of 1")
        self.press("\x1b[A\x1bOB\x1b[1;5Cq")  # arrows do nothing, also where the next key comes with them
        self.ends()

    def test_one_run_has_curves(self):
        run = self.record("train", flags=("--name", "one"))
        self.open(run.id)
        self.until(r"one: completed.*loss +[▁▂▃▄▅▆▇█]")
        os.killpg(self.process.pid, signal.SIGINT)
        self.ends()

    def test_of_a_replay_each_worker_has_a_line(self):
        run = self.record("train", "--guard", flags=("--name", "one"))
        until = self.path("until")
        replay = self.start("replay", run.id, "--launcher", "local", "--workers", "2", "--probe", "all", "--", self.program(), "train",
                            "--guard", "--inner", "--hold=3", "--in=replaying", "--until=" + until)
        self.held(until, "epoch 3 of the replay")
        self.open(run.id, height=30)
        self.until(r"replay r\S+: unfinished, \d of 6 units.*\.[01] +[^\n]*░.*█ units")
        open(until, "w").close()
        replay.communicate(timeout=60)
        self.until(r"replay r\S+: identical, 6 of 6 units")
        self.press("q")
        self.ends()

    def test_elsewhere_each_change_is_a_line(self):
        go_on = self.recording_held("piped")
        watch = self.start("watch", "piped")
        go_on()
        output = watch.communicate(timeout=60)[0]
        self.assertRegex(output, r"piped: completed 6/6")
        self.assertNotIn("\x1b", output)


if __name__ == "__main__":
    harness.PROGRAM, harness.BIN = sys.argv[1], sys.argv[2]
    unittest.main(argv=sys.argv[:1])
