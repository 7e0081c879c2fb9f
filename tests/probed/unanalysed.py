"""Without the analysis: what does the proof by execution find alone?

The recorded sources of a copy of the run are replaced by the edited ones. So flor sees no edit, takes everything for
held, and skips every block but the one that a probe stands in, which is named by hand, as a user may.
"""
import concurrent.futures
import os
import re

import cases
import compared

SHARE = 0.9
# What is asked of the proof; FLOR_TEST_PROVE=auto shows what it finds at its default cost.
PROVE = os.environ.get("FLOR_TEST_PROVE", "all")
AT_ONCE = 8
# Which worker takes which unit decides whether a carried variable comes out wrong. One worker may happen to take all.
TRIES = 5


def block_around(text, position):
    """The name of the innermost block around a place in a source text, or ''."""
    found = ""
    for match in re.finditer(r'flor::SkipBlock \w+\{"(\w+)"[^{]*\{', text):
        depth, end = 1, match.end()
        while depth > 0:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        if match.start() < position < end:
            found = match.group(1)
    return found


def blocks_of_probes(edit):
    """The blocks that must execute for the probes to be reached."""
    blocks = set()
    for text in edit.texts().values():
        for name in edit.probes:
            for match in re.finditer(re.escape(f'flor::log("{name}"'), text):
                blocks.add(block_around(text, match.start()))
    return sorted(blocks - {""})


def hide_edit(test, edit, run):
    """The run's copies of its sources become the edited ones."""
    texts = edit.texts()
    for source in run.manifest()["sources"]:
        with open(run.file(source["file"]), "w") as file:
            file.write(texts[os.path.basename(source["path"])])


def replayed(test, edit, program, prove, workers, name):
    blocks = blocks_of_probes(edit)
    run = test.run_of("dense", name)
    hide_edit(test, edit, run)
    done = run.ask(program, workers=workers, probe=",".join(blocks) or "auto", code=None, flags=("--prove", prove),
                   env={"FLOR_STORE": test.path(name)})
    return compared.answers_of(run, done)


def wrong_and_found(test, edit):
    """The probes that give a wrong row where nothing is proved, and those of them that the proof contradicts."""
    program = cases.COMPILER.build(edit.name, edit.texts())
    plain = test.plain_rows(program)
    for number in range(TRIES):
        workers = 2 + number
        unproved = replayed(test, edit, program, "none", workers, f"unproved-{number}")
        wrong = compared.Difference(edit, plain, unproved[-1].rows).names() & set(edit.probes) if unproved else set()
        if wrong:
            break
    found = set()
    for answer in replayed(test, edit, program, PROVE, workers, "proved") if wrong else ():
        found |= compared.contradicted(answer)
    return wrong, wrong & found


def measured(made, edits):
    """(case, wrong probes, found ones) for each case of one program."""
    made.setUpClass()
    try:
        def one(edit):
            test = made("record_once")
            test.setUp()
            try:
                return (edit.name, *wrong_and_found(test, edit))
            finally:
                test.doCleanups()
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(one, edits))
    finally:
        made.doClassCleanups()


def main(base, edits):
    """The exit code. `base`: the test class of one program."""
    edits = [edit for edit in edits if edit.wrong() and not edit.withheld]
    results = []
    for program in sorted({edit.program for edit in edits}):
        made = type(program.capitalize(), (base,), {"program_name": program})
        results += measured(made, [edit for edit in edits if edit.program == program])
    idle = [name for name, wrong, _ in results if not wrong]
    probes = [(name, probe, probe in found) for name, wrong, found in results for probe in sorted(wrong)]
    for name, probe, is_found in probes:
        print(f"{name:<28}{probe:<18}{'found' if is_found else 'NOT FOUND'}")
    found = sum(is_found for *_, is_found in probes)
    print(f"found {found} of {len(probes)} probes that gave a wrong row")
    if idle:
        print("no wrong row without the analysis, so no wrong case: " + ", ".join(idle))
    return 0 if probes and not idle and found >= SHARE * len(probes) else 1
