"""A disk that fails while checkpoints are written: training ends as it would have, the fault is said once, the next
good moment recovers, and nothing that is torn is ever loaded.

    faults.py [--slow 30] RULES_PROGRAM BIN

strace makes the calls that write the third and fourth checkpoint fail (no space, I/O errors, an fsync that fails) or
last --slow seconds. Writes that are cut short are in tests/materialize, full disks in tests/cluster/bad_input.bats.
"""
import argparse
import collections
import json
import os
import re
import sys
import tempfile

from trainer import EPOCHS, MATERIALIZERS, Trainer, end_agent

# Of which call, how, and what the user is told.
FAULTS = [("pwrite64", "error=ENOSPC", "No space left on device"), ("pwrite64", "error=EIO", "Input/output error"),
          ("fsync", "error=EIO", "Input/output error"), ("rename", "error=EIO", "Input/output error"),
          ("openat", "error=EMFILE", "Too many open files")]


def calls_for_checkpoints(trainer, call):
    """For each file below checkpoints/ in order: the numbers of the calls of this kind that its writer made for it."""
    log = os.path.join(trainer.directory, "calls")
    code, _, err = trainer.record(["-y", "-e", f"trace={call}", "-o", log])
    assert code == 0, err
    seen, found = collections.Counter(), {}
    with open(log) as file:
        for line in file:
            match = re.match(rf"(\d+) +{call}\((.*)", line)
            if not match:
                continue
            seen[match.group(1)] += 1
            name = re.search(r"checkpoints/(\S+?)/\.?(epoch=\w+)\.safetensors\.tmp", match.group(2))
            if name and (call != "openat" or "O_CREAT" in line):
                found.setdefault(name.groups(), []).append(seen[match.group(1)])
    return found


def rows_of(trainer):
    with open(os.path.join(trainer.run(), "log.jsonl")) as file:
        return file.read()


def check(trainer, outcome, expected_rows, said):
    code, _, err = outcome
    problems = []
    warnings = [line for line in err.splitlines() if "warning" in line]
    if code != 0:
        problems.append(f"exit code {code}: {err}")
    if rows_of(trainer) != expected_rows:
        problems.append("the log is another")
    if said is None and warnings or said is not None and (len(warnings) != 1 or said not in warnings[0]):
        problems.append(f"said: {warnings}")
    with open(os.path.join(trainer.run(), "run.json")) as file:
        manifest = json.load(file)
    if manifest["status"] != ("completed" if said is None else "damaged"):
        problems.append(f"status {manifest['status']}")
    there = trainer.checkpoints()
    if said is not None and len(there) >= 2 * EPOCHS + 1:
        problems.append("the fault did not hit")
    if f"@iteration/epoch={EPOCHS - 1}.safetensors" not in there:
        problems.append(f"it did not recover: {sorted(there)}")
    report = json.loads(trainer.flor("check", os.path.basename(trainer.run()), "--json").stdout)
    if report["damages"]:
        problems.append(f"damage: {report['damages']}")
    return problems


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--slow", type=float, default=2)
    parser.add_argument("program")
    parser.add_argument("bin")
    asked = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="flor-faults-") as place:
        for name in MATERIALIZERS:
            quiet = Trainer(asked.program, asked.bin, place, name)
            quiet.record()
            rows = rows_of(quiet)
            faults = FAULTS + [("pwrite64", f"delay_enter={int(asked.slow * 1e6)}", None)]
            for call, how, said in faults:
                finder = Trainer(asked.program, asked.bin, place, name)
                numbers = list(calls_for_checkpoints(finder, call).values())
                # A child begins to count anew, and writes one checkpoint, or all of them.
                hit = numbers[2] if name != "fork" else numbers[0]
                last = f"..{hit[-1]}" if said is not None else ""
                trainer = Trainer(asked.program, asked.bin, place, name)
                outcome = trainer.record(["-o", "/dev/null", "-e", f"trace={call}",
                                          "-e", f"inject={call}:{how}:when={hit[0]}{last}"])
                problems = check(trainer, outcome, rows, said)
                print(f"{name:>10} {call} {how}: {'; '.join(problems) or 'as it should'}")
                passed, failed = passed + (not problems), failed + bool(problems)
                trainer.clean()
                finder.clean()
            quiet.clean()
        end_agent(os.path.join(place, "agent.sock"))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
