"""A disk that fails while checkpoints are written: training ends as it would have, the fault is said once, the next
good moment recovers, and nothing that is torn is ever loaded.

    faults.py [--slow 30] RULES_PROGRAM BIN FAILING_DISK

No space, I/O errors, an fsync that fails, no more descriptors: the call fails for two checkpoints in a row. Short writes
and writes that take --slow seconds harm nothing. What an fsync that failed left unsynced is never referred to.
"""
import errno
import json
import os
import tempfile

from trainer import CHECKPOINTS, EPOCHS, MATERIALIZERS, Trainer, arguments, end_agent, report

FAULTS = [("write", errno.ENOSPC), ("write", errno.EIO), ("fsync", errno.EIO), ("rename", errno.EIO),
          ("open", errno.EMFILE), ("mkdir", errno.EDQUOT)]
CHECKPOINTS_LIE = "/checkpoints"
# The first call of this kind that fails: one for an early checkpoint, whoever writes it.
FIRST = {"write": 5, "fsync": 10, "rename": 4, "open": 12, "mkdir": 2}


def problems_of(trainer, outcome, undisturbed_log, said, misses):
    """`said`: what is warned of. `misses`: then checkpoints are missing."""
    code, err = outcome
    warnings = [line for line in err.splitlines() if "warning" in line]
    there = trainer.checkpoints()
    manifest = json.loads(trainer.text("run.json"))
    status, remarks = manifest["status"], manifest["warnings"]
    found = {
        f"exit code {code}: {err}": code != 0,
        "the log is another": trainer.text("log.jsonl") != undisturbed_log,
        f"it said {warnings}": len(warnings) != (said is not None) or (said or "") not in "".join(warnings),
        f"its status is {status}": status != "completed",
        f"its remarks are {remarks}": bool(remarks) != misses or (misses and said not in "".join(remarks)),
        f"{len(there)} checkpoints are there": (len(there) < CHECKPOINTS) != misses,
        "it did not recover": f"@iteration/epoch={EPOCHS - 1}.safetensors" not in there,
        f"check finds {trainer.damages()}": trainer.damages() != [],
    }
    return [what for what, wrong in found.items() if wrong]


def main():
    asked = arguments(__doc__, slow=1.0)
    problems, total = [], 0
    with tempfile.TemporaryDirectory(prefix="flor-faults-") as place:
        for name in MATERIALIZERS:
            quiet = Trainer(asked, place, name)
            assert quiet.record()[0] == 0
            log = quiet.text("log.jsonl")
            cases = [(f"{call} {FIRST[call]} {FIRST[call] + 1} {int(error)}", CHECKPOINTS_LIE, os.strerror(error), True)
                     for call, error in FAULTS]
            cases += [("write 1 1000000 short", CHECKPOINTS_LIE, None, False),
                      (f"write 5 5 delay={asked.slow}", CHECKPOINTS_LIE, None, False),
                      # At the loop's entry.
                      (f"rename 2 2 {int(errno.ESTALE)}", "/run.json", "run.json is written later", False)]
            for fault, below, said, misses in cases:
                trainer = Trainer(asked, place, name)
                trainer.environment["FLOR_TEST_DISK_BELOW"] = below
                found = problems_of(trainer, trainer.record(fault), log, said, misses)
                print(f"{name:>10}: {fault}: {'; '.join(found) or 'as it should'}", flush=True)
                problems += [f"{name}, {fault}: {what}" for what in found]
                total += 1
                trainer.clean()
        end_agent(os.path.join(place, "agent.sock"))
    report(problems, total)


if __name__ == "__main__":
    main()
