"""Compares the rows of a replay with those of a plain run of the edited program, to the bit."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rules"))

from harness import Answer  # noqa: E402


def keyed(rows):
    """(loop path, name, ordinal among equals) -> value."""
    out, seen = {}, {}
    for path, name, value in rows:
        ordinal = seen[path, name] = seen.get((path, name), -1) + 1
        out[path, name, ordinal] = value
    return out


def shown(key):
    path, name, ordinal = key
    return "/".join(f"{loop}={value}" for loop, value in path) + " " + name + (f"#{ordinal}" if ordinal else "")


class Difference:
    """What a replay gave against what it should have given."""

    def __init__(self, edit, plain, given):
        loose = set(edit.withheld) | set(edit.volatile)
        plain, given = keyed(plain), keyed(given)
        self.wrong = [(key, value, plain.get(key, "no such row")) for key, value in given.items()
                      if key[1] not in loose and plain.get(key) != value]
        self.missing = [key for key in plain
                        if key[1] in edit.probes and key[1] not in edit.withheld and key not in given]
        self.given_names = {key[1] for key in given}

    def first(self):
        key, value, right = self.wrong[0]
        return f"{len(self.wrong)} wrong rows, first {shown(key)}: {value}, a plain run gives {right}"

    def names(self):
        """Of wrong rows, and of rows that are not there."""
        return {key[1] for key, _, _ in self.wrong} | {key[1] for key in self.missing}


def founding(answer):
    """Probe -> its entry in verdict.json."""
    return {probe.get("name"): probe for probe in answer.verdict.get("probes", [])}


def taken_back(answer):
    return {name for name, probe in founding(answer).items() if probe.get("taken_back")}


def contradicted(answer):
    """The names of probes whose rows came out different when what was skipped executed."""
    return taken_back(answer) | {name for name, probe in founding(answer).items()
                                 if probe.get("founding") == "unproved" and "differ" in str(probe.get("why", ""))}


def not_given(answer):
    """The names of probes of which the verdict says that their rows are not given."""
    return taken_back(answer) | {name for name, probe in founding(answer).items() if probe.get("withheld")}


def problems_of_rows(edit, mode, code, answer, difference):
    """One line for each rule about rows that a finished replay breaks."""
    out = []
    if difference.wrong:
        out.append(("WRONG ROW WITH EXIT 0: " if code == 0 else f"exit {code}: ") + difference.first())
    still_there = not_given(answer) & difference.given_names
    if still_there:
        out.append(f"taken back or withheld, and in the log: {sorted(still_there)}")
    if answer.total("skipped") > 0 and set(edit.withheld) & difference.given_names:
        out.append(f"a block was skipped, and these rows are given: {sorted(set(edit.withheld) & difference.given_names)}")
    missing = difference.missing
    if mode == "all" and code != 0:
        missing = []
    elif mode == "all":
        missing = [key for key in missing if key[1] not in not_given(answer)]
    if missing:
        out.append(f"exit {code}: {len(missing)} rows are missing, first {shown(missing[0])}")
    return out


def problems_of_plan(edit, answer, complete):
    """A harmless edit lets no more blocks execute than it names."""
    out = []
    for key, allowed in (("execute", edit.execute), ("lead_in", edit.lead_in)):
        chosen = answer.plan[key]
        if "*" not in allowed and (chosen["all"] or set(chosen["blocks"]) - set(allowed)):
            what = "everything" if chosen["all"] else ", ".join(chosen["blocks"])
            out.append(f"{key}: {what}; only {', '.join(allowed) or 'nothing'} may")
    if complete and not edit.from_start and answer.plan["mode"] != "complete":
        out.append("it runs from the start, and may begin at a checkpoint")
    return out


def answers_of(run, done):
    """What one command left: the replays that came to a verdict, the last one last. There are several where rows were
    taken back and flor asked again."""
    replays = [entry.path for entry in os.scandir(run.file("replays")) if entry.is_dir()]
    out = []
    for path in sorted(replays, key=when_planned):
        try:
            out.append(Answer(path, done))
        except (OSError, ValueError):
            continue  # no verdict
    return out


def when_planned(path):
    plan = os.path.join(path, "plan.json")
    return os.stat(plan).st_mtime_ns if os.path.exists(plan) else 0


def problems_of_earlier(answers):
    """A replay whose rows were taken back does not show them."""
    out = []
    for answer in answers:
        shown_rows = not_given(answer) & {name for _, name, _ in answer.rows}
        if shown_rows:
            out.append(f"taken back, and in the log of {os.path.basename(answer.path)}: {sorted(shown_rows)}")
    return out
