"""Replays on the cluster of scripts/cluster while processes, daemons and Redis are killed, stopped, restarted and cut off.

    chaos.py --count 200 [--seed N] RECORDED:PROBED …

Each round asks a recorded run again, with faults that the seed chooses, at moments that it chooses. It must end, within
the time that three leases and its own work take, with the log of an undisturbed sequential run, value for value, or with a
failure that says why; then the same command, undisturbed, must come to that log. Behind each round no job, worker,
key or temporary file is left. Prints the seed, and what happened in each round. Needs SLURM_CONF and FLOR_REDIS
(scripts/cluster env) and the build's binaries in PATH.
"""
import argparse
import collections
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tests", "exactness"))
import agents  # noqa: E402
from exactness import logged_rows, printed_rows  # noqa: E402

NAMES = ["loss", "validation_loss", "grad_norm", "weight_norm"]
ARGUMENTS = ["--epochs", "10", "--steps", "30", "--hidden", "48", "--batch", "8", "--length", "24", "--log-every", "10"]
LEASE = 10
# For the job's start, the work, and what waits for a lease to run out three times; and for an srun that asks a slurmctld
# which was just restarted: turned away, it asks again only after SlurmctldTimeout, two minutes.
PATIENCE = 3 * LEASE + 60 + 120


def output_of(*command, **more):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **more).stdout


def pids(*pattern):
    return [int(word) for word in output_of("pgrep", *pattern).split() if int(word) != os.getpid()]


def send(pid, number):
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


class Faults:
    """Each does its harm, mends what does not mend itself, and says in a word what it hit; nothing: it hit nothing."""

    def __init__(self, dice, programs, cluster, directory):
        self.dice, self.programs, self.cluster, self.directory = dice, programs, cluster, directory
        self.all = [self.kill_worker, self.stop_worker, self.kill_agent, self.stop_agent, self.cancel_task, self.requeue_task,
                    self.terminate_worker, self.kill_slurmd, self.restart_slurmctld, self.kill_redis, self.stop_redis,
                    self.flush_redis, self.drop_connections, self.kill_flor]
        if agents.LIBFAKETIME:
            self.all.append(self.jump_clock)
        if agents.can_cut_networks():
            self.all.append(self.cut_network)

    def one_of(self, found):
        return self.dice.choice(sorted(found)) if found else None

    def worker(self):
        return self.one_of([pid for name in self.programs for pid in pids("-f", f"^{name} ")])

    def to_worker(self, number):
        pid = self.worker()
        return "" if pid is None or not send(pid, number) else f"{signal.Signals(number).name} to worker {pid}"

    def kill_worker(self, _):
        return self.to_worker(signal.SIGKILL)

    def terminate_worker(self, _):
        return self.to_worker(signal.SIGTERM)

    def stop(self, pid, what):
        seconds = self.dice.choice([0.5, 2, LEASE + 3])
        if pid is None or not send(pid, signal.SIGSTOP):
            return ""
        time.sleep(seconds)
        send(pid, signal.SIGCONT)
        return f"{what} {pid} stopped for {seconds} s"

    def stop_worker(self, _):
        return self.stop(self.worker(), "worker")

    def agent(self):
        return self.one_of([pid for pid in pids("-x", "flor-agent") if self.cluster.owns(pid)])

    def kill_agent(self, _):
        pid = self.agent()
        return "" if pid is None or not send(pid, signal.SIGKILL) else f"SIGKILL to agent {pid}"

    def stop_agent(self, _):
        return self.stop(self.agent(), "agent")

    def jump_clock(self, _):
        pid = self.agent()
        clock = pid and agents.Clock(pid, self.cluster.directory, self.directory)
        if not clock or not clock.agent:
            return ""
        offset = self.dice.choice(["+3600", "-3600", "+20", "-20"])
        clock.set(offset)
        return f"agent {clock.agent.pid}'s clock jumped by {offset} s"

    def cut_network(self, _):
        pid = self.agent()
        network = pid and agents.Network(pid, self.cluster.directory, self.cluster.redis_port)
        if not network or not network.agent:
            return ""
        seconds = self.dice.choice([0.5, 2, LEASE + 3])
        network.link("down")
        time.sleep(seconds)
        network.link("up")
        return f"agent {network.agent.pid}'s network cut for {seconds} s"

    def task(self):
        return self.one_of(output_of("squeue", "-h", "-n", "flor-replay", "-t", "R", "-r", "-o", "%A").split())

    def cancel_task(self, _):
        job = self.task()
        return "" if job is None or subprocess.run(["scancel", job]).returncode else f"scancel {job}"

    def requeue_task(self, _):
        job = self.task()
        if job is None or subprocess.run(["scontrol", "requeue", job], stderr=subprocess.DEVNULL).returncode:
            return ""
        return f"requeue {job}"

    def daemon(self, name, number):
        """Ended, and started again as the cluster does."""
        found = [pid for pid in pids("-x", name) if self.cluster.owns(pid)]
        pid = self.one_of(found)
        if pid is None or not send(pid, number):
            return ""
        while self.cluster.owns(pid):  # in its own time; before that no other can begin
            time.sleep(0.05)
        time.sleep(self.dice.choice([0, 1, 3]))
        self.cluster.up()
        return f"{signal.Signals(number).name} to {name} {pid}, started again"

    def kill_slurmd(self, _):
        return self.daemon("slurmd", signal.SIGKILL)

    # Killed, it would forget jobs that it has just taken: its state is saved every few seconds.
    def restart_slurmctld(self, _):
        return self.daemon("slurmctld", signal.SIGTERM)

    def redis(self):
        return int(self.cluster.redis("INFO", "server").split("process_id:")[1].split()[0])

    def kill_redis(self, _):
        pid = self.redis()
        send(pid, signal.SIGKILL)
        time.sleep(self.dice.choice([0, 1, 4]))
        self.cluster.up()
        return f"SIGKILL to Redis {pid}, started again"

    def stop_redis(self, _):
        return self.stop(self.redis(), "Redis")

    def flush_redis(self, _):
        self.cluster.redis("FLUSHALL")
        return "Redis emptied"

    def drop_connections(self, _):
        self.cluster.redis("CLIENT", "KILL", "TYPE", "normal")
        return "connections to Redis cut"

    def kill_flor(self, replay):
        if not send(replay.process.pid, signal.SIGKILL):
            return ""
        replay.process.wait()
        replay.start()
        return "SIGKILL to flor replay, asked again"


class Cluster:
    def __init__(self):
        self.script = os.path.join(ROOT, "scripts", "cluster")
        self.directory = os.path.dirname(os.path.dirname(os.environ["SLURM_CONF"]))  # …/etc/slurm.conf
        self.redis_port = int(os.environ["FLOR_REDIS"].rsplit(":", 1)[1])

    def owns(self, pid):
        """Is it a daemon of this cluster?"""
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return os.fsencode("SLURM_CONF=" + os.environ["SLURM_CONF"]) in file.read().split(b"\0")
        except OSError:
            return False

    def up(self):
        subprocess.run([self.script, "up"], stdout=subprocess.DEVNULL, check=True)

    @staticmethod
    def redis(*words):
        return output_of("redis-cli", "-u", os.environ["FLOR_REDIS"], *words)


class Replay:
    """`flor replay` in the background; started again when it was killed."""

    def __init__(self, run_id, workers, program, out):
        # One that was killed or failed is gone on with, --again or not.
        self.command = ["flor", "replay", run_id, "--again", "--workers", str(workers), "--", program, *ARGUMENTS]
        self.path, self.begun = out, time.monotonic()
        self.start()

    def start(self):
        with open(self.path, "a") as out:
            self.process = subprocess.Popen(self.command, stdout=out, stderr=subprocess.STDOUT)

    def over(self):
        return self.process.poll() is not None

    def wait(self):
        """The exit code; None: it hangs."""
        while not self.over():
            if time.monotonic() - self.begun > PATIENCE:
                return None
            time.sleep(0.05)
        return self.process.returncode

    def output(self):
        with open(self.path) as file:
            return file.read()


class Chaos:
    def __init__(self, seed, programs):
        self.dice = random.Random(seed)
        self.directory = tempfile.mkdtemp(prefix="flor-chaos-")
        self.store = os.environ["FLOR_STORE"] = os.path.join(self.directory, "store")
        os.environ["FLOR_EVERY"] = "1"
        os.environ["FLOR_STEP_SECONDS"] = "0"  # of programs with a guard in front of their steps
        os.chdir(self.directory)
        self.cluster = Cluster()
        self.runs = []  # (run id, the program that replays it)
        for name, probed in programs:
            subprocess.run(["srun", "--flor-record", f"--flor-store={self.store}", name, *ARGUMENTS], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            run_id = max(entry for entry in os.listdir(self.store) if not entry.startswith("."))
            self.runs.append((run_id, probed))
        plain = output_of(programs[0][1], *ARGUMENTS)
        self.expected = printed_rows(plain, NAMES)
        self.faults = Faults(self.dice, [probed for _, probed in programs], self.cluster, self.directory)
        self.hits = collections.Counter()

    def do_harm(self, replay, plan, said):
        for moment, fault in plan:
            while time.monotonic() - replay.begun < moment:
                if replay.over():
                    return
                time.sleep(0.01)
            if replay.over():
                return
            hit = fault(replay)
            if hit:
                self.hits[fault.__name__] += 1
                said.append(f"{moment:.1f} s: {hit}")

    def rows(self, run_id):
        return logged_rows(output_of("flor", "log", run_id, "--format", "jsonl"), NAMES)

    def left_behind(self, run_id):
        """What should not be there any more; waits for what is about to go."""
        deadline = time.monotonic() + 3 * LEASE
        while True:
            jobs = output_of("squeue", "-h", "-n", "flor-replay").split("\n")[:-1]
            workers = [pid for name in self.faults.programs for pid in pids("-f", f"^{name} ")]
            keys = [key for key in self.cluster.redis("--scan", "--pattern", f"flor:{{{run_id}/*").split()
                    if self.cluster.redis("TTL", key).strip() == "-1"]
            files = [os.path.join(at, name) for at, _, names in os.walk(os.path.join(self.store, run_id)) for name in names
                     if name.startswith(".") and not name.endswith(".lock")]
            left = [f"job {job}" for job in jobs] + [f"worker {pid}" for pid in workers] + keys + files
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(0.2)

    def round(self, number):
        run_id, program = self.dice.choice(self.runs)
        workers = self.dice.randint(1, 6)
        plan = sorted(((self.dice.uniform(0, 4), self.dice.choice(self.faults.all)) for _ in range(self.dice.randint(1, 3))),
                      key=lambda each: each[0])
        out = os.path.join(self.directory, f"round-{number}.out")
        said = []
        replay = Replay(run_id, workers, program, out)
        harm = threading.Thread(target=self.do_harm, args=(replay, plan, said))
        harm.start()
        code = replay.wait()
        harm.join()
        if code is not None and not replay.over():  # it was killed just then, and asked again
            code = replay.wait()
        self.cluster.up()
        how = "as undisturbed"
        if code not in (0, None):
            why = replay.output().strip().split("\n")[-1]
            how = f"failed ({why[:200]}), then as undisturbed"
            again = Replay(run_id, workers, program, out)
            code = again.wait()
        print(f"round {number}: {workers} workers, {os.path.basename(program)}: {'; '.join(said) or 'no fault hit'}: {how}, "
              f"{time.monotonic() - replay.begun:.1f} s", flush=True)
        if code is None:
            replay.process.kill()
            return "it hangs"
        if code != 0:
            return f"exit code {code} also undisturbed"
        if self.rows(run_id) != self.expected:
            return "its rows are not those of the sequential run"
        left = self.left_behind(run_id)
        return f"left behind: {left}" if left else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--only", metavar="FAULT,…", help="these faults alone, as --only kill_worker,cut_network")
    parser.add_argument("programs", nargs="+", metavar="RECORDED:PROBED")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    chaos = Chaos(options.seed, [pair.split(":") for pair in options.programs])
    if options.only:
        chaos.faults.all = [getattr(chaos.faults, name) for name in options.only.split(",")]
    failed = 0
    try:
        for number in range(options.count):
            trouble = chaos.round(number)
            if trouble:
                failed += 1
                print(f"round {number} FAILED: {trouble}; what was printed is in {chaos.directory}", flush=True)
                subprocess.run(["scancel", "-n", "flor-replay"])
    finally:
        # Others may use the cluster after this program.
        agents.end_all()
        chaos.cluster.up()
    print(f"{options.count} rounds, {failed} failed; hits: {dict(chaos.hits)}")
    if failed:
        sys.exit(1)
    os.chdir("/")
    shutil.rmtree(chaos.directory)


if __name__ == "__main__":
    main()
