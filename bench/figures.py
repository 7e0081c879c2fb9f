"""Draws what the benchmarks measured, as SVG.

    bench/figures.py RESULTS OUTPUT

RESULTS holds the JSON files that the benchmarks wrote (`bench/README.md` names them); a figure whose file is missing is
left out and said. Needs python3-matplotlib.
"""
import json
import pathlib
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

plt.rcParams.update({"svg.hashsalt": "flor", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
EPSILON = 0.0667  # where none was given
OURS, ALSO_OURS, OTHERS, REST = "#1f6f8b", "#8cbccb", "#b0b7bd", "#e08e45"
# Published figures of others, in per cent: Garcia et al. 2021 (Flor), Mohan et al. 2021 (CheckFreq), Strati et al. 2025
# (PCcheck, at every tenth iteration).
PUBLISHED = {"Flor (paper, average)": 1.74, "CheckFreq": 3.5, "PCcheck": 3.0}
# Flor's own code on models of these sizes, in per cent: made to take a checkpoint at each epoch, and by its default, which
# takes none (measured on a 2-core machine, PyTorch 1.13).
FLOR_EVERY = {"Flor, 13 M with Adam": (0, 10.5), "Flor, 51 M frozen": (0, 45)}


def whiskers(rows, key):
    middle = [row[key]["median"] for row in rows]
    low = [row[key]["median"] - row[key]["q1"] for row in rows]
    high = [row[key]["q3"] - row[key]["median"] for row in rows]
    return middle, [low, high]


def materialize(rows, axes):
    """The thesis's figure 5.3: what the training thread loses by one checkpoint of a large state."""
    names = [row["way"] for row in rows]
    stall, stall_spread = whiskers(rows, "stall")
    rest, rest_spread = whiskers(rows, "rest")
    rest = [max(value, 0) for value in rest]
    axes.barh(names, stall, xerr=stall_spread, color=OURS, label="stall", error_kw={"lw": 0.8})
    axes.barh(names, rest, left=stall, xerr=rest_spread, color=REST, label="later: page faults, interference",
              error_kw={"lw": 0.8})
    axes.invert_yaxis()
    axes.set_xlabel("seconds that training loses by one checkpoint")
    axes.legend(frameon=False)


def batches(rows, axes):
    """The thesis's figure 5.4: total time against the size of the batch."""
    middle, spread = whiskers(rows, "total")
    axes.errorbar([row["batch"] for row in rows], middle, yerr=spread, color=OURS, marker="o", lw=1)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("checkpoints in a batch")
    axes.set_ylabel("seconds for all")


def short(label):
    """A benchmark's label without what is the same for all."""
    return re.sub(r"sizes --size | --epochs \d+", "", label)


def forced(rows):
    return [row["label"] for row in rows if row.get("kind") == "every execution"]


def overhead(rows, axes):
    """The paper's figure 5: training time with recording, against the time without."""
    names, values, spread = list(PUBLISHED), list(PUBLISHED.values()), [[0] * len(PUBLISHED), [0] * len(PUBLISHED)]
    colours = [OTHERS] * len(PUBLISHED)
    for row in [row for row in rows if row.get("kind") == "adaptive" and row["label"] not in forced(rows)]:
        names.append(short(row["label"]) + (", two threads" if row["threads"] == 2 else "")
                     + (", heap scattered" if row.get("scattered") else ""))
        mean = 100 * (row["mean"] - 1)
        values.append(mean)
        spread[0].append(mean - 100 * (row["interval_95"][0] - 1))
        spread[1].append(100 * (row["interval_95"][1] - 1) - mean)
        colours.append(OURS)
    axes.barh(names, values, xerr=spread, color=colours, error_kw={"lw": 0.8})
    axes.axvline(0, color="black", lw=0.6)
    axes.invert_yaxis()
    axes.set_xlabel("overhead in per cent (95 % interval of the mean)")


def policy(rows, axes):
    """The paper's figure 6: overhead with the policy, and with a checkpoint at every execution."""
    rows = [row for row in rows if row["threads"] == 1]
    names = forced(rows)
    for shift, kind, colour in ((-0.2, "adaptive", OURS), (0.2, "every execution", REST)):
        found = {row["label"]: 100 * (row["mean"] - 1) for row in rows
                 if row.get("kind") == kind and row.get("epsilon", EPSILON) == EPSILON}
        theirs = [value[kind != "adaptive"] for value in FLOR_EVERY.values()]
        axes.barh([i + shift for i in range(len(names) + len(theirs))], [found[name] for name in names] + theirs, height=0.4,
                  color=[colour] * len(names) + [OTHERS] * len(theirs), label=kind)
    axes.axvline(100 * EPSILON, color="black", lw=0.6, ls=":", label="ε")
    axes.set_yticks(range(len(names) + len(FLOR_EVERY)), [short(name) for name in names] + list(FLOR_EVERY))
    axes.invert_yaxis()
    axes.set_xlabel("overhead in per cent")
    axes.legend(frameon=False)


def conservative(results, axes):
    """The paper's figure 1: conservative logging, synchronous and in the background, against optimistic."""
    rows = results["rows"]
    names = [row["label"] for row in rows] + ["paper: synchronous", "paper: background"]
    values = [100 * (row["mean"] - 1) for row in rows] + [180, 26]
    axes.barh(names, values, color=[OURS] * len(rows) + [OTHERS] * 2)
    axes.invert_yaxis()
    axes.set_xlabel("overhead in per cent")


def scaling(results, axes):
    """The paper's figure 11: how many times faster than one worker without any cost of replay, by the number of workers."""
    rows = [row for row in results["rows"] if row["speeds"] == "equal" and row["mode"] == "complete"]
    counts = sorted({row["workers"] for row in rows})
    axes.plot(counts, counts, color="black", lw=0.6, ls="--", label="ideal")
    for way, colour, marker in (("flor", OURS, "o"), ("even", REST, "s"), ("queue", OTHERS, "^")):
        of_way = {row["workers"]: row for row in rows if row["way"] == way}
        axes.plot(counts, [results["work"] / (of_way[count]["bound"] * of_way[count]["ratio"]["median"]) for count in counts],
                  color=colour, marker=marker, lw=1, label=way)
    # 200 epochs in 16 equal parts are 13 epochs in the longest: a bound that the paper computes, not what Flor reached.
    axes.plot([16], [200 / 13], color="black", marker="x", ls="", label="most that 200 whole epochs allow: 200/13 = 15.38")
    axes.set_xlabel("workers")
    axes.set_ylabel("times as fast")
    axes.legend(frameon=False)


def unequal(results, axes):
    """Time until the last unit, over the shortest there can be: workers of unequal speeds."""
    rows = [row for row in results["rows"] if row["mode"] in ("complete", "inside") and row["workers"] > 1]
    kinds = list(dict.fromkeys(row["speeds"] for row in rows))
    count = max(row["workers"] for row in rows)
    ways = (("inside", "flor", "flor, units inside epochs", OURS), ("complete", "flor", "flor", ALSO_OURS),
            ("complete", "even", "even", REST), ("complete", "queue", "queue", OTHERS))
    for k, (mode, way, label, colour) in enumerate(ways):
        found = [row for kind in kinds for row in rows
                 if (row["speeds"], row["workers"], row["mode"], row["way"]) == (kind, count, mode, way)]
        if not found:
            continue  # measured without
        middle, spread = whiskers(found, "ratio")
        axes.barh([i + 0.2 * (k - 1.5) for i in range(len(kinds))], middle, xerr=spread, height=0.2, color=colour, label=label,
                  error_kw={"lw": 0.8})
    axes.axvline(1, color="black", lw=0.6)
    axes.set_yticks(range(len(kinds)), kinds)
    axes.invert_yaxis()
    axes.set_xlabel(f"time over the lower bound, {count} workers")
    axes.legend(frameon=False)


def entering(results, axes):
    """The paper's figure 10: units entered by restoring a complete checkpoint, and by running from the start with blocks
    skipped; against one worker, which does all the work in a row."""
    rows = [row for row in results["rows"] if row["speeds"] == "equal" and row["way"] == "flor"]
    counts = sorted({row["workers"] for row in rows if row["mode"] == "partial"})
    for shift, mode, colour in ((-0.2, "complete", OURS), (0.2, "partial", REST)):
        found = [next(row for row in rows if (row["mode"], row["workers"]) == (mode, count)) for count in counts]
        axes.bar([i + shift for i in range(len(counts))],
                 [100 * row["bound"] * row["ratio"]["median"] / results["work"] for row in found], width=0.4, color=colour,
                 label={"complete": "restored", "partial": "pseudoresumed"}[mode])
    axes.set_xticks(range(len(counts)), counts)
    axes.set_xlabel("workers")
    axes.set_ylabel("time in per cent of one run")
    axes.legend(frameon=False)


# Each with the results that it is drawn from.
FIGURES = {materialize: "materialize", batches: "batches", overhead: "overhead", policy: "overhead",
           conservative: "conservative", scaling: "replay_scaling", unequal: "replay_scaling",
           entering: "replay_scaling"}


def main():
    results, output = map(pathlib.Path, sys.argv[1:])
    output.mkdir(parents=True, exist_ok=True)
    for draw, name in FIGURES.items():
        source = results / f"{name}.json"
        if not source.exists():
            print(f"{source} is missing: no {draw.__name__}.svg")
            continue
        figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
        draw(json.loads(source.read_text()), axes)
        if not axes.has_data():
            print(f"{source} has no rows for {draw.__name__}.svg")
            continue
        figure.savefig(output / f"{draw.__name__}.svg", metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
