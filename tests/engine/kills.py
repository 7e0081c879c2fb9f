"""SIGKILL at every step of the commit chain, and at random times: no torn checkpoint is ever loaded, and at most the
one checkpoint is lost that was being written.

    kills.py [--kills 120] [--seed N] RULES_PROGRAM BIN FAILING_DISK

The process that writes is killed at its K-th call below checkpoints/, for every K in turn and round again: the trainer,
or the child that writes for it. Every fourth kill hits the trainer at a random time instead. fork-batch buffers
checkpoints by design and may lose all that it buffered; for it only tearing is looked at. After every tenth kill, what
was recorded is replayed and compared with a plain run.
"""
import collections
import json
import os
import random
import re
import subprocess
import tempfile
import time

from trainer import MATERIALIZERS, Trainer, arguments, end_agent, kill, printed_rows, report


class Tally:
    def __init__(self):
        self.kills = self.begun = self.torn = self.replays = 0
        self.lost = collections.Counter()
        self.problems = []

    def look(self, trainer, where, replay):
        self.kills += 1
        trainer.wait_for_children()
        if trainer.run() is None:
            return
        self.begun += 1
        damages = trainer.damages()
        if damages:
            self.torn += 1
            self.problems.append(f"{where}: {damages}")
        entered = trainer.entered()
        wanted = {f"{kind}/epoch={e}.safetensors" for kind in ("train", "@iteration") for e in range(entered - 1)}
        wanted |= {"@iteration/epoch=entry.safetensors"} if entered > 0 else set()
        lost = len(wanted - trainer.checkpoints())
        self.lost[lost] += 1
        if lost > 1 and trainer.materializer != "fork-batch":
            self.problems.append(f"{where}: {lost} checkpoints lost of {len(wanted)}")
        shown = json.loads(trainer.flor("show", os.path.basename(trainer.run()), "--json").stdout)
        known = sum(block["checkpoints"] for block in shown["blocks"])
        if known != len(trainer.checkpoints()):
            self.problems.append(f"{where}: {len(trainer.checkpoints())} whole checkpoints, {known} known to replay")
        if replay:
            self.replay(trainer, where)

    def replay(self, trainer, where):
        """What was recorded can be replayed, and yields the rows of an undisturbed run."""
        run = os.path.basename(trainer.run())
        question = ["--launcher", "local", "--workers", "1", "--probe", "all"]
        program = ["--", *trainer.command(), "--inner"]
        done = trainer.flor("replay", run, *question, *program)
        offered = re.search(r"--epochs (\S+) replays what exists", done.stdout)
        if offered:
            done = trainer.flor("replay", run, *question, "--epochs", offered.group(1), *program)
        elif done.returncode == 2:
            return  # nothing was recorded yet, which it said
        self.replays += 1
        log = trainer.flor("log", run, "--format", "jsonl").stdout
        rows = {(row.get("epoch"), row.get("step"), row["name"]): row["value"]
                for row in map(json.loads, log.splitlines())}
        plain = subprocess.run(trainer.command() + ["--inner"], text=True, check=True, stdout=subprocess.PIPE).stdout
        for path, name, value in printed_rows(plain):
            at = {loop: int(number) for loop, number in path}
            key = (at.get("epoch"), at.get("step"), name)
            if key in rows and rows[key] != json.loads(value):
                self.problems.append(f"{where}: replay yields {rows[key]} for {key}, the plain run {value}")
        if done.returncode != 0 or not any(key[2] == "inner" for key in rows):
            self.problems.append(f"{where}: replay: exit code {done.returncode}: {done.stdout[-300:]}")


def undisturbed(asked, place, name):
    """How many calls below checkpoints/ a recording makes, and how long it takes."""
    trainer = Trainer(asked, place, name)
    begun = time.monotonic()
    code, err = trainer.record(fault="any 0 0 none")
    assert code == 0, err
    with open(trainer.path("count")) as file:
        calls = int(file.read())
    trainer.clean()
    return calls, time.monotonic() - begun


def one_materializer(asked, place, name, chance):
    tally = Tally()
    calls, whole = undisturbed(asked, place, name)
    for i in range(asked.kills // len(MATERIALIZERS)):
        trainer = Trainer(asked, place, name)
        if i % 4 == 3:
            seconds = chance.uniform(0, whole)
            where = f"{name}, after {seconds:.4f} s"
            process = trainer.start()
            time.sleep(seconds)
            kill(process)
            process.communicate()
        else:
            at = (i - i // 4) % calls + 1
            where = f"{name}, call {at} of {calls}"
            trainer.record(fault=f"any {at} {at} kill")
        tally.look(trainer, where, replay=i % 10 == 0)
        trainer.clean()
    print(f"{name:>10}: {calls} calls; {tally.kills} kills, {tally.begun} left a run; {tally.torn} torn; checkpoints "
          f"lost by a kill: {dict(sorted(tally.lost.items()))}; {tally.replays} replayed", flush=True)
    return tally


def main():
    asked = arguments(__doc__, kills=120, seed=random.randrange(1 << 30))
    print(f"seed {asked.seed}")
    chance = random.Random(asked.seed)
    with tempfile.TemporaryDirectory(prefix="flor-kills-") as place:
        tallies = [one_materializer(asked, place, name, chance) for name in MATERIALIZERS]
        end_agent(os.path.join(place, "agent.sock"))
    report([problem for tally in tallies for problem in tally.problems], sum(tally.kills for tally in tallies))


if __name__ == "__main__":
    main()
