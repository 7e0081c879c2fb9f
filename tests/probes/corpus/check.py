#!/usr/bin/env python3
"""Checks the corpora of edits below a folder: their form, and that every edit applies to its program.

    check.py [FOLDER] [--write OUT]

Prints `N wrong, M harmless`. With --write it leaves each edited program in OUT/CASE/.
"""
import argparse
import pathlib
import re
import sys

LISTS = ("execute", "lead_in", "withheld", "probes")
LOG = re.compile(r'\b(?:flor::log|LOG)\(\s*"([^"]*)"')
BLOCK = re.compile(r'SkipBlock\s+\w+\s*[{(]\s*"([^"]*)"')


class Malformed(Exception):
    pass


def parse(path):
    """The cases of a file, each a dictionary with its hunks: (file, old or None, new)."""
    lines = path.read_text().split("\n")
    cases, case, at = [], None, 0

    def fail(message):
        raise Malformed(f"{path.name}:{at}: {message}")

    def until(mark):
        nonlocal at
        text = []
        while at < len(lines) and lines[at] != mark:
            if lines[at] in ("<<<<", "====", ">>>>", "end"):
                fail(f"'{lines[at]}' where '{mark}' was to come")
            text.append(lines[at])
            at += 1
        if at == len(lines):
            fail(f"no '{mark}'")
        at += 1
        return text

    while at < len(lines):
        line = lines[at]
        at += 1
        if case is None:
            if line == "" or line.startswith("#"):
                continue
            if not re.fullmatch(r"case [A-Za-z0-9-]+", line):
                fail("expected `case NAME`")
            case = {"case": line[5:], "hunks": [], "at": f"{path.name}:{at}"}
            continue
        if line == "end":
            for key in ("program", "expect", "why"):
                if key not in case:
                    fail(f"case {case['case']} has no `{key}`")
            if not case["hunks"]:
                fail(f"case {case['case']} changes nothing")
            cases.append(case)
            case = None
            continue
        key, _, rest = line.partition(" ")
        if key in ("in", "new"):
            if not re.fullmatch(r"[\w./-]+", rest):
                fail(f"no file name: '{rest}'")
            if at == len(lines) or lines[at] != "<<<<":
                fail("expected '<<<<'")
            at += 1
            if key == "in":
                old = until("====")
                new = until(">>>>")
                if not old:
                    fail("nothing to replace")
                case["hunks"].append((rest, old, new))
            else:
                case["hunks"].append((rest, None, until(">>>>")))
            continue
        if key in case:
            fail(f"`{key}` twice")
        if key == "from_start":
            if rest:
                fail("`from_start` takes no value")
            case[key] = True
        elif key in LISTS:
            if not rest.split():
                fail(f"`{key}` is empty")
            case[key] = rest.split()
        elif key in ("program", "why"):
            if not rest.strip():
                fail(f"`{key}` is empty")
            case[key] = rest.strip()
        elif key == "expect":
            if rest not in ("wrong", "harmless"):
                fail(f"`expect {rest}`")
            case[key] = rest
        else:
            fail(f"unknown: '{line}'")
    if case is not None:
        fail(f"case {case['case']} has no end")
    return cases


def occurrences(text, wanted):
    """Where the lines `wanted` stand in the lines `text`."""
    return [i for i in range(len(text) - len(wanted) + 1) if text[i:i + len(wanted)] == wanted]


def apply(case, program):
    """The edited program; and the names of the logs that the edit adds, in order."""
    files = {str(p.relative_to(program)): p.read_text().rstrip("\n").split("\n")
             for p in sorted(program.rglob("*")) if p.is_file()}
    added = []
    for name, old, new in case["hunks"]:
        if old is None:
            if name in files:
                raise Malformed(f"{case['case']}: {name} is there already")
            files[name] = new
            added += LOG.findall("\n".join(new))
            continue
        if name not in files:
            raise Malformed(f"{case['case']}: no {name} in program {case['program']}")
        places = occurrences(files[name], old)
        if len(places) != 1:
            raise Malformed(f"{case['case']}: the old text occurs {len(places)} times in {name}: {old[0]!r}")
        files[name][places[0]:places[0] + len(old)] = new
        before = LOG.findall("\n".join(old))
        for log in LOG.findall("\n".join(new)):
            if log in before:
                before.remove(log)
            else:
                added.append(log)
    return {name: "\n".join(text) + "\n" for name, text in files.items()}, added


def check(case, programs):
    program = programs / case["program"]
    if not (program / "train.cpp").is_file():
        raise Malformed(f"{case['case']}: no program {case['program']}")
    files, added = apply(case, program)
    if added != case.get("probes", []):
        raise Malformed(f"{case['case']}: probes are {added}, not {case.get('probes', [])}")
    blocks = set(BLOCK.findall("\n".join(files.values())))
    for key in ("execute", "lead_in"):
        for block in case.get(key, []):
            if block not in blocks and not (key == "execute" and case[key] == ["*"]):
                raise Malformed(f"{case['case']}: {key} names '{block}', the blocks are {sorted(blocks)}")
    for name in case.get("withheld", []):
        if name not in added:
            raise Malformed(f"{case['case']}: '{name}' is withheld, but is no probe")
    if case["expect"] == "wrong" and not any(k in case for k in ("execute", "lead_in", "from_start", "withheld")):
        raise Malformed(f"{case['case']}: wrong, but nothing is to be done about it")
    if case["expect"] == "harmless" and case.get("execute") == ["*"]:
        raise Malformed(f"{case['case']}: harmless, but everything may execute")
    for name, text in files.items():
        for opening, closing in ("{}", "()", "[]"):
            if text.count(opening) != text.count(closing):
                raise Malformed(f"{case['case']}: {name} has unbalanced {opening}{closing}")
    return files


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", default=pathlib.Path(__file__).resolve().parent, type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    counts, names, failed = {"wrong": 0, "harmless": 0}, {}, False
    for path in sorted(options.folder.rglob("*.edits")):
        try:
            cases = parse(path)
        except Malformed as error:
            print(error, file=sys.stderr)
            failed = True
            continue
        for case in cases:
            try:
                if case["case"] in names:
                    raise Malformed(f"{case['case']}: also at {names[case['case']]}")
                names[case["case"]] = case["at"]
                files = check(case, path.parent / "programs")
            except Malformed as error:
                print(f"{case['at']}: {error}", file=sys.stderr)
                failed = True
                continue
            counts[case["expect"]] += 1
            if options.write:
                for name, text in files.items():
                    place = options.write / case["case"] / name
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_text(text)
    print(f"{counts['wrong']} wrong, {counts['harmless']} harmless")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
