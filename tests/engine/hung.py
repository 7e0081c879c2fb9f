#!/usr/bin/env python3
"""A store that hangs while it is written to, as Lustre's does for ever: training goes on to its end, and the program
ends without the record's, in a stated time.

    hung.py PROGRAM BIN DISK
"""
import os
import shutil
import signal
import tempfile

from trainer import EPOCHS, Trainer, arguments, end_agent, report

# Which call hangs, an hour at a time, of files whose path holds the text; and the program, of which `observed` logs whole
# tensors.
HANGS = (("thread", "write 3 999999 delay=3600", None, "train"), ("thread", "fsync 3 999999 delay=3600", None, "train"),
         ("fork", "write 3 999999 delay=3600", None, "train"),
         ("thread", "fdatasync 2 999999 delay=3600", "/log.jsonl", "train"),
         ("thread", "open 8 999999 delay=3600", "/tensors/", "observed"))


def check(trainer, fault, below, program):
    trainer.environment["FLOR_HUNG_SECONDS"] = "1"
    if below:
        trainer.environment["FLOR_TEST_DISK_BELOW"] = below
    trainer.scenario = program
    process = trainer.start(fault)
    try:
        process.wait(timeout=100)
    except Exception:  # pylint: disable=broad-except
        return "the program does not end"
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # a child of `fork`, which hangs, and holds the pipes
        except ProcessLookupError:
            pass
    said = process.communicate()[1]
    if process.returncode != 0:
        return f"exit code {process.returncode}: {said}"
    if program == "train" and trainer.entered() != EPOCHS:
        return f"{trainer.entered()} epochs were trained: {said}"
    if said.count("the program ends without it") != 1:
        return "the end is not told: " + said
    status = trainer.flor("runs", "--json").stdout
    return None if '"killed"' in status else status


def main():
    asked = arguments(__doc__)
    place = tempfile.mkdtemp(prefix="flor-hung-")
    problems = []
    for materializer, fault, below, program in HANGS:
        trainer = Trainer(asked, place, materializer)
        problem = check(trainer, fault, below, program)
        if problem:
            problems.append(f"{materializer}, {fault} of {below or '/checkpoints'}: {problem}")
        trainer.clean()
    end_agent(os.path.join(place, "agent.sock"))
    shutil.rmtree(place, ignore_errors=True)
    report(problems, len(HANGS))


main()
