"""SIGKILL at every step of the commit chain, and at random times: no torn checkpoint is ever loaded, and at most the
one checkpoint is lost that was being written.

    kills.py [--kills 80] [--seed N] RULES_PROGRAM BIN

strace kills the trainer (or the child that writes for it) at its K-th call of each kind, for every kind and K that an
undisturbed recording makes; what is left of --kills is spread over random times. fork-batch buffers checkpoints by
design, and may lose all that it buffered; for it only tearing is looked at.
"""
import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

from trainer import CALLS, EPOCHS, MATERIALIZERS, Trainer, end_agent, json_lines, kill, printed_rows


def calls_of(trainer):
    """How often each kind of call is made, by the thread that makes most of them."""
    log = os.path.join(trainer.directory, "calls")
    code, _, err = trainer.record(["-e", "trace=" + ",".join(CALLS), "-o", log])
    assert code == 0, err
    counts = collections.defaultdict(collections.Counter)
    with open(log) as file:
        for line in file:
            match = re.match(r"(\d+) +(\w+)\(", line)
            if match:
                counts[match.group(2)][match.group(1)] += 1
    return {call: max(by_thread.values()) for call, by_thread in counts.items()}


class Tally:
    def __init__(self):
        self.kills = self.torn = self.begun = self.replays = 0
        self.lost = collections.Counter()
        self.problems = []

    def look(self, trainer, where, replay):
        self.kills += 1
        trainer.wait_for_children()
        run = trainer.run()
        if run is None:
            return
        self.begun += 1
        checked = trainer.flor("check", os.path.basename(run), "--json")
        report = json.loads(checked.stdout)
        damages = [d for d in report["damages"]]
        if damages:
            self.torn += 1
            self.problems.append(f"{where}: {damages}")
        there = trainer.checkpoints()
        entered = trainer.entered()
        wanted = {f"train/epoch={e}.safetensors" for e in range(entered - 1)} | \
                 {f"@iteration/epoch={e}.safetensors" for e in range(entered - 1)}
        if entered > 0:
            wanted |= {"@iteration/epoch=entry.safetensors"}
        lost = len(wanted - there)
        self.lost[lost] += 1
        if lost > 1 and trainer.materializer != "fork-batch":
            self.problems.append(f"{where}: {lost} checkpoints lost: {sorted(wanted - there)}")
        if replay and entered > 1:
            self.replay(trainer, run, where)

    def replay(self, trainer, run, where):
        """What was recorded can be replayed, and yields the rows of an undisturbed run."""
        self.replays += 1
        done = trainer.flor("replay", os.path.basename(run), "--launcher", "local", "--workers", "1", "--probe", "all",
                            "--", *trainer.command(), "--inner")
        log = trainer.flor("log", os.path.basename(run), "--format", "jsonl").stdout
        rows = {(row.get("epoch"), row.get("step"), row["name"]): row["value"]
                for row in map(json.loads, log.splitlines())}
        for path, name, value in printed_rows(subprocess.run([*trainer.command(), "--inner"], text=True, check=True,
                                                             stdout=subprocess.PIPE).stdout):
            at = dict(path)
            key = (int(at["epoch"]) if "epoch" in at else None, int(at["step"]) if "step" in at else None, name)
            if key in rows and rows[key] != json.loads(value):
                self.problems.append(f"{where}: replay yields {rows[key]} for {key}, the plain run {value}")
        if done.returncode not in (0, 4) or not any(key[2] == "inner" for key in rows):
            self.problems.append(f"{where}: replay: exit code {done.returncode}: {done.stdout[-300:]}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--kills", type=int, default=80)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("program")
    parser.add_argument("bin")
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    print(f"seed {asked.seed}")
    with tempfile.TemporaryDirectory(prefix="flor-kills-") as place:
        try:
            tallies = {name: one_materializer(asked, place, name, chance) for name in MATERIALIZERS}
        finally:
            end_agent(os.path.join(place, "agent.sock"))
    problems = [f"{name}: {problem}" for name, tally in tallies.items() for problem in tally.problems]
    for name, tally in tallies.items():
        print(f"{name:>10}: {tally.kills} kills, {tally.begun} left a run; {tally.torn} torn; checkpoints lost: "
              f"{dict(sorted(tally.lost.items()))}; {tally.replays} replayed")
    print("\n".join(problems[:20]))
    total = sum(tally.kills for tally in tallies.values())
    print(f"{total - len(problems)} passed, {len(problems)} failed")
    sys.exit(1 if problems else 0)


def one_materializer(asked, place, name, chance):
    tally = Tally()
    quiet = Trainer(asked.program, asked.bin, place, name)
    points = [(call, k) for call, count in calls_of(quiet).items() for k in range(1, count + 1)]
    begun = time.monotonic()
    quiet.clean()
    Trainer.record(timing := Trainer(asked.program, asked.bin, place, name))
    whole = time.monotonic() - begun
    timing.clean()
    share = asked.kills // len(MATERIALIZERS)
    chance.shuffle(points)
    for i in range(share):
        trainer = Trainer(asked.program, asked.bin, place, name)
        # A quarter of them at random times, or more where the points are used up.
        if i % 4 == 3 or not points:
            where = f"after {chance.uniform(0, whole):.4f} s"
            process = trainer.start()
            time.sleep(float(where.split()[1]))
            kill(process)
            process.communicate()
        else:
            call, k = points.pop()
            where = f"{call} {k}"
            trainer.record(["-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={k}"])
        tally.look(trainer, where, replay=i % 10 == 0)
        trainer.clean()
    return tally


if __name__ == "__main__":
    main()
