"""Edited programs, recorded, replayed, and compared with a plain run of the edited program, row by row, to the bit.

    probed_test.py @build/tests/probed/arguments [--unanalysed] [-k CASE …] [PROGRAM …]

PROGRAM is a folder of programs/; without one, all are tested.
"""
import argparse
import concurrent.futures
import os
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the folder belongs to the sources

import cases  # noqa: E402
import compared  # noqa: E402
import harness  # noqa: E402

EVERY = {"dense": 1, "sparse": 3}  # epochs between two checkpoints
REPLAYS = [("dense", probe, workers) for probe in ("auto", "all") for workers in (1, 2, 5)]
REPLAYS += [("sparse", "auto", 2), ("sparse", "all", 2)]
# Harmless edits are there for what executes, which no number of workers changes.
FEWER = [("dense", "auto", 2), ("dense", "all", 2), ("sparse", "auto", 2)]
ALL_CASES = bool(os.environ.get("FLOR_ALL_CASES")) or "-k" in sys.argv
AT_ONCE = 8  # replays; they wait more than they compute
TABLE = []  # (case, expectation, {mode: what came of it}, what executed)


def replays_of(edit, at):
    """The replays of the edit at this place of its program's. By turns each edit leaves some to the others, which share the parts that
    they test; FLOR_ALL_CASES=1, and who asks for edits by name, gives each all."""
    every = REPLAYS if edit.wrong() else FEWER
    if ALL_CASES:
        return every
    if not edit.wrong():
        return [every[0], every[1 + at % 2]]
    return [every[at % 3], every[3 + (at + 1) % 3], *every[6:]]


class Program(harness.Case):
    """The edits of one program, which is recorded once with a checkpoint at every epoch and once with few."""

    program_name = ""
    recorded = ""

    @classmethod
    def setUpClass(cls):
        cls.recorded = tempfile.mkdtemp(prefix="flor-probed-")
        cls.addClassCleanup(shutil.rmtree, cls.recorded, ignore_errors=True)
        program = cases.COMPILER.build(cls.program_name + ".recorded", cases.program_texts(cls.program_name))
        for density, every in EVERY.items():
            recorder = cls("record_once")
            recorder.setUp()
            recorder.record(program, every=every)
            shutil.copytree(recorder.path("store"), os.path.join(cls.recorded, density), symlinks=True)
            recorder.doCleanups()

    def record_once(self):
        """A name for the instance that setUpClass makes."""

    def run_of(self, density, name):
        """A copy of the recording of its own, so that no other replay's answers are in it."""
        store = self.path(name)
        shutil.copytree(os.path.join(self.recorded, density), store, symlinks=True)
        (run,) = [entry.path for entry in os.scandir(store) if not entry.name.startswith(".")]
        return harness.Run(self, run, None)

    def plain_rows(self, program):
        log = self.path("plain.jsonl")
        self.execute([program], env={"FLOR_LOG": log})
        with open(log) as file:
            return harness.logged_rows(file.read())

    def problems_of(self, edit, program, plain, how):
        """Lines, and what executed."""
        density, probe, workers = how
        name = "-".join(map(str, how))
        run = self.run_of(density, name)
        done = run.ask(program, workers=workers, probe=probe, code=None, env={"FLOR_STORE": self.path(name)})
        answers = compared.answers_of(run, done)
        if not answers:
            last = (done.stdout + done.stderr).strip().splitlines()[-1:]
            return [f"exit {done.returncode}, no verdict: {' '.join(last)}"], ""
        answer = answers[-1]
        difference = compared.Difference(edit, plain, answer.rows)
        problems = compared.problems_of_earlier(answers[:-1])
        problems += compared.problems_of_rows(edit, probe, done.returncode, answer, difference)
        if probe == "auto" and done.returncode != 0:
            problems.append(f"exit {done.returncode}: {answer.verdict['verdict']}: {answer.reasons}")
        if probe == "auto" and not edit.wrong():
            problems += compared.problems_of_plan(edit, answer, run.manifest()["complete"])
        text = self.flor("log", run.id, "--format", "jsonl", env={"FLOR_STORE": self.path(name)}).stdout
        joined = compared.Difference(edit, plain, harness.logged_rows(text))
        if joined.wrong and not difference.wrong:
            problems.append(f"flor log: {joined.first()}")
        return problems, executed_blocks(answer.plan)

    def check(self, edit, at):
        program = cases.COMPILER.build(edit.name, edit.texts())
        plain = self.plain_rows(program)
        replays = replays_of(edit, at)
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            results = list(pool.map(lambda how: self.problems_of(edit, program, plain, how), replays))
        found, summary = [], {"auto": [], "all": []}
        for (density, probe, workers), (problems, _) in zip(replays, results):
            found += [f"{density}, --probe {probe}, {workers} workers: {problem}" for problem in problems]
            summary[probe] += problems
        TABLE.append((edit.name, edit.expect, {mode: verdict_of(lines) for mode, lines in summary.items()},
                      results[0][1]))
        if found:
            self.fail(f"{edit.name} ({edit.expect}: {edit.why})\n  " + "\n  ".join(found))


def executed_blocks(plan):
    names = lambda chosen: "*" if chosen["all"] else ",".join(chosen["blocks"]) or "-"  # noqa: E731
    return f"{names(plan['execute'])} lead-in {names(plan['lead_in'])} {plan['mode']}"


def verdict_of(problems):
    for sign, word in (("WRONG ROW WITH", "wrong, exit 0"), ("wrong rows", "wrong"), ("no verdict", "failed"),
                       ("rows are missing", "missing"), ("in the log", "not withheld"),
                       ("rows are given", "not withheld"), (" may", "executes more")):
        if any(sign in problem for problem in problems):
            return word
    return "exit code" if problems else "right"


def add_tests(edits, programs):
    """A class for each program, a test for each of its edits."""
    suite = unittest.TestSuite()
    for program in programs:
        mine = [edit for edit in edits if edit.program == program]
        tests = {"test_" + edit.name: (lambda self, edit=edit, at=at: self.check(edit, at)) for at, edit in enumerate(mine)}
        made = type(program.capitalize(), (Program,), {"program_name": program, "__module__": "probed", **tests})
        suite.addTests(made(name) for name in tests)
    return suite


def print_table():
    print(f"\n{'case':<28}{'expected':<10}{'auto':<16}{'all':<16}executes with auto")
    for name, expect, results, executes in TABLE:
        print(f"{name:<28}{expect:<10}{results.get('auto', '?'):<16}{results.get('all', '?'):<16}{executes}")
    for mode in ("auto", "all"):
        slipped = [name for name, expect, results, _ in TABLE
                   if expect == "wrong" and results.get(mode, "").startswith(("wrong", "missing"))]
        print(f"--probe {mode}: {len(slipped)} of {sum(row[1] == 'wrong' for row in TABLE)} wrong cases gave a wrong row, or left one out")
    eager = [name for name, expect, results, _ in TABLE if expect == "harmless" and results.get("auto") != "right"]
    print(f"{len(eager)} of {sum(row[1] == 'harmless' for row in TABLE)} harmless cases did not come out as they should")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     fromfile_prefix_chars="@")
    parser.add_argument("--compiler", required=True, help="the command that compiles, with its flags")
    parser.add_argument("--library", required=True, help="libflor_mini.so")
    parser.add_argument("--bin", required=True, help="the directory of flor and flor-agent")
    parser.add_argument("--work", required=True, help="a directory that keeps compiled programs")
    parser.add_argument("--unanalysed", action="store_true", help="without the analysis: what does the proof find?")
    parser.add_argument("-k", dest="only", action="append", default=[], help="cases with this in their name")
    parser.add_argument("programs", nargs="*")
    return parser.parse_args()


def main():
    args = parse()
    harness.BIN = os.path.abspath(args.bin)
    cases.COMPILER = cases.Compiler(args.compiler, os.path.abspath(args.library), os.path.abspath(args.work))
    edits = [edit for edit in cases.read_edits() if not args.only or any(part in edit.name for part in args.only)]
    programs = args.programs or sorted({edit.program for edit in edits})
    if args.unanalysed:
        import unanalysed
        sys.exit(unanalysed.main(Program, [edit for edit in edits if edit.program in programs]))
    result = unittest.TextTestRunner(verbosity=2).run(add_tests(edits, programs))
    print_table()
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)


if __name__ == "__main__":
    main()
