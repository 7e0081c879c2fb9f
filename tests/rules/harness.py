"""What the tests of this folder share: a store of their own, `flor record` and `flor replay` as a user types them,
and rows as texts, so that equal means equal to the bit.
"""
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

PROGRAM = None  # rules_program, and the directory of flor and flor-agent: set by rules_test.py
BIN = None


# For tests of what executes: no block executes as a proof, so probes across skipped blocks are unproved.
WITHOUT_PROOF = ("--prove", "none")


def printed_rows(text):
    """What a plain run printed: `epoch=0 step=2 loss=1.5` becomes ((("epoch", "0"), ("step", "2")), "loss", "1.5")."""
    rows = []
    for line in text.splitlines():
        words = line.split(" ")
        name, value = words[-1].split("=", 1)
        rows.append((tuple(tuple(word.split("=")) for word in words[:-1]), name, value))
    return rows


def logged_rows(text):
    rows = []
    for line in text.splitlines():
        row = json.loads(line, parse_float=str, parse_int=str)
        if "value" not in row:
            continue  # an event of a unit's file
        name, value = row.pop("name"), row.pop("value")
        rows.append((tuple(item for item in row.items() if not item[0].startswith("@")), name, value))
    return rows


def json_lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def work_of(replay):
    """Worker -> what it did, without times but with "seconds" where it was committed."""
    directory = os.path.join(replay, "workers")
    return {name[:-len(".work.jsonl")]: [{key: line[key] for key in ("unit", "seconds") if key in line}
                                         for line in json_lines(os.path.join(directory, name))]
            for name in sorted(os.listdir(directory)) if name.endswith(".work.jsonl")}


def named(rows, *names):
    return [row for row in rows if row[1] in names]


def without(rows, *names):
    return [row for row in rows if row[1] not in names]


class Answer:
    """A finished `flor replay`."""

    def __init__(self, path, done):
        self.path, self.output = path, done.stdout + done.stderr
        with open(os.path.join(path, "plan.json")) as file:
            self.plan = json.load(file)
        with open(os.path.join(path, "verdict.json")) as file:
            self.verdict = json.load(file)
        with open(os.path.join(path, "log.jsonl")) as file:
            self.log = file.read()
        self.rows = logged_rows(self.log)
        self.reasons = "\n".join(self.verdict["reasons"])

    def unit_files(self):
        """Name -> bytes."""
        directory = os.path.join(self.path, "units")
        out = {}
        for name in sorted(os.listdir(directory)):
            with open(os.path.join(directory, name), "rb") as file:
                out[name] = file.read()
        return out

    def unit_rows(self, unit):
        with open(os.path.join(self.path, "units", f"{unit:06}.jsonl")) as file:
            return logged_rows(file.read())

    def restored(self, kind):
        """The scope paths of the checkpoints of this kind that workers restored, in order."""
        with open(os.path.join(self.path, "timeline.jsonl")) as file:
            rows = [json.loads(line) for line in file]
        return [row["at"] for row in rows if row["kind"] == "restore" and row["at"].endswith("/" + kind)]

    def total(self, key):
        return sum(unit[key] for unit in self.verdict["units"])

    def differing_units(self):
        return [u["id"] for u in self.verdict["units"] if u["equal"] != u["values"] + u["digests"]]


class Run:
    def __init__(self, test, path, done):
        self.test, self.path, self.id, self.done = test, path, os.path.basename(path), done

    def file(self, *parts):
        return os.path.join(self.path, *parts)

    def manifest(self):
        with open(self.file("run.json")) as file:
            return json.load(file)

    def log(self):
        with open(self.file("log.jsonl")) as file:
            return file.read()

    def timeline(self):
        with open(self.file("timeline.jsonl")) as file:
            return file.read()

    def joined(self):
        """The rows of `flor log`: the record's, with what replays added."""
        return logged_rows(self.test.flor("log", self.id, "--format", "jsonl").stdout)

    def ask(self, *program, workers=1, probe="none", flags=(), code=0, env=None):
        """`flor replay` of the program; its finished process. It runs also what was answered before, but with --known
        among the flags."""
        command = [program[0]] if os.path.isabs(program[0]) else [PROGRAM, program[0]]
        again = [] if "--known" in flags else ["--again"]
        flags = [flag for flag in flags if flag != "--known"]
        return self.test.flor("replay", self.id, *again, "--launcher", "local", "--workers", str(workers), "--probe", probe,
                              *flags, "--", *command, *program[1:], code=code, env=env)

    def replay(self, *program, code=0, **how):
        """As ask(), for a replay that comes to a verdict."""
        done = self.ask(*program, code=code, **how)
        return Answer(self.newest_replay(), done)

    def newest_replay(self):
        replays = [entry.path for entry in os.scandir(self.file("replays")) if entry.is_dir()]
        return max(replays, key=lambda path: os.stat(os.path.join(path, "plan.json")).st_mtime_ns)

    def checkpoints(self):
        """Paths below checkpoints/, without the suffix."""
        out = []
        for directory, _, names in os.walk(self.file("checkpoints")):
            for name in names:
                if name.endswith(".safetensors") and not name.startswith("."):
                    path = os.path.relpath(os.path.join(directory, name), self.file("checkpoints"))
                    out.append(path[: -len(".safetensors")])
        return sorted(out)

    def checkpoint(self, name):
        return self.file("checkpoints", name + ".safetensors")


class Case(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="flor-rules-")
        self.addCleanup(self.clean)
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("FLOR_", "SLURM_", "RULES_"))}
        self.environment.update(FLOR_STORE=os.path.join(self.directory, "store"),
                                FLOR_AGENT_SOCKET=os.path.join(self.directory, "agent.sock"),
                                XDG_CONFIG_HOME=self.directory, FLOR_ENDING_SECONDS="0")

    def clean(self):
        end_agent(os.path.join(self.directory, "agent.sock"))
        shutil.rmtree(self.directory, ignore_errors=True)

    @staticmethod
    def program():
        return PROGRAM

    def path(self, name):
        return os.path.join(self.directory, name)

    def execute(self, command, code=0, env=None):
        done = subprocess.run(command, env={**self.environment, **(env or {})}, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, cwd=self.directory)
        if code is not None:
            self.assertEqual(done.returncode, code, f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        return done

    def flor(self, *words, code=0, env=None):
        return self.execute([os.path.join(BIN, "flor"), *words], code, env)

    def start(self, *words):
        """`flor` in the background; killed when the test ends."""
        process = subprocess.Popen([os.path.join(BIN, "flor"), *words], env=self.environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.directory,
                                   start_new_session=True)
        self.addCleanup(end_session, process)
        return process

    def start_redis(self):
        """For workers that are started by hand."""
        socket = os.path.join(self.directory, "redis.sock")
        redis = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", self.directory],
                                 stdout=subprocess.DEVNULL)
        self.addCleanup(redis.communicate)
        self.addCleanup(redis.terminate)
        self.wait_for(lambda: os.path.exists(socket), "Redis")
        self.environment.update(FLOR_REDIS="unix://" + socket, FLOR_BIN=BIN)

    def plain(self, *program, code=0):
        """The rows of one plain sequential run."""
        return printed_rows(self.execute([PROGRAM, *program], code).stdout)

    def record(self, *program, every=1, flags=(), code=0, env=None):
        command = list(program) if os.path.isabs(program[0]) else [PROGRAM, *program]
        done = self.flor("record", "--every", str(every), *flags, "--", *command, code=code, env=env)
        return self.newest_run(done)

    def newest_run(self, done=None):
        store = self.environment["FLOR_STORE"]
        runs = [entry.path for entry in os.scandir(store) if not entry.name.startswith(".")]
        return Run(self, max(runs, key=lambda path: os.stat(os.path.join(path, "run.lock")).st_mtime_ns), done)

    def traced(self, name="trace"):
        """The lines that the program left in --trace, in order of appearance; then the file is emptied."""
        path = self.path(name)
        if not os.path.exists(path):
            return []
        with open(path) as file:
            lines = file.read().splitlines()
        os.remove(path)
        return lines

    def wait_for(self, condition, what, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"waited {seconds} s for {what}")
            time.sleep(0.01)

    def held(self, until, what):
        """Waits until a program holds for the file `until` (--hold): its process id."""
        reached = until + ".reached"
        self.wait_for(lambda: os.path.exists(reached), what)
        with open(reached) as file:
            return int(file.read())

    def assert_same_for_all_cuts(self, run, *program, probe="none", workers=(1, 2, 3, 5), verdict="identical", flags=()):
        """Replays with several numbers of workers: the same verdict and the same units to the byte. The last answer."""
        first = answer = None
        for count in workers:
            answer = run.replay(*program, workers=count, probe=probe, flags=flags,
                                code={"identical": 0, "differs": 3, "unproved": 4}[verdict])
            self.assertEqual(answer.verdict["verdict"], verdict, answer.output)
            first = first or answer.unit_files()
            self.assertEqual(first, answer.unit_files(), f"with {count} workers")
        return answer


def end_agent(path):
    """The agent that the library started on demand would stay for half a minute."""
    try:
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(path)
            pid = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        os.kill(pid, signal.SIGTERM)
    except OSError:
        pass


def end_session(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        pass
    process.communicate()
