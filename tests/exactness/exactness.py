"""Replays an example with 1, 2, 3 and 7 workers, from partial and from complete checkpoints and from such between the
steps, each number of workers from some of these, and with --all from each, and compares every value, bit for bit (as the shortest text of its number), with one plain sequential run of the probed program and
with the record log.

    exactness.py NAME BIN VARIANTS [--all]
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

SMALL = {
    "char_lm": ["--epochs", "8", "--steps", "6", "--hidden", "24", "--batch", "4", "--length", "24", "--log-every", "2"],
    "mnist": ["--epochs", "8", "--samples", "200", "--batch", "30", "--width", "4", "--log-every", "2"],
    "finetune": ["--epochs", "8", "--steps", "6", "--width", "48", "--depth", "2", "--batch", "8", "--log-every", "2",
                 "--threads", "2"],
}
# Of the examples, where they train: `cpu` unless FLOR_TEST_DEVICE says `cuda`.
DEVICE = ["--device", os.environ.get("FLOR_TEST_DEVICE", "cpu")]
RECORDED = {"char_lm": ["loss", "validation_loss"], "mnist": ["loss", "accuracy"],
            "finetune": ["loss", "test_loss", "accuracy"]}
INNER = {"char_lm": "grad_norm", "mnist": "grad_norm", "finetune": "grad_norm"}
# The checkpoints of a recording: how it is called, the program with its guards, and with how many workers it is replayed.
MODES = [("partial", "", (1, 3, 7)), ("complete", ".complete", (2, 3)), ("inside", ".inside", (1, 7)), ("sampler", ".sampler", (2,))]
OUTER = {"char_lm": "weight_norm", "mnist": "weight_norm", "finetune": "head_norm"}


def run(command, **environment):
    done = subprocess.run(command, env={**os.environ, **environment}, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def printed_rows(text, names):
    """What a plain run printed: `epoch=0 step=2 loss=1.5` becomes ((epoch, 0), (step, 2)), loss -> the text 1.5."""
    rows = []
    for line in text.splitlines():
        words = line.split(" ")
        name, value = words[-1].split("=", 1)
        if name in names:
            rows.append((tuple(tuple(word.split("=")) for word in words[:-1]), name, value))
    return rows


def logged_rows(text, names):
    rows = []
    for line in text.splitlines():
        row = json.loads(line, parse_float=str, parse_int=str)
        name, value = row.pop("name"), row.pop("value")
        if name in names:
            rows.append((tuple(item for item in row.items() if not item[0].startswith("@")), name, value))
    return rows


def compare(what, expected, found):
    if expected != found:
        for a, b in zip(expected, found):
            if a != b:
                sys.exit(f"{what}: expected {a}, found {b}")
        sys.exit(f"{what}: expected {len(expected)} rows, found {len(found)}")
    if not expected:
        sys.exit(f"{what}: no row was compared")
    print(f"{what}: {len(found)} rows equal", flush=True)


def verdict_of(store, run_id):
    replays = os.path.join(store, run_id, "replays")
    newest = max(glob.glob(os.path.join(replays, "*", "verdict.json")), key=os.path.getmtime)
    with open(newest) as file:
        return json.load(file)


def main():
    name, bin_dir, variants = sys.argv[1:4]
    flor = os.path.join(bin_dir, "flor")
    store = tempfile.mkdtemp(prefix="flor-exactness-")
    os.environ["FLOR_STORE"] = store
    for variable in ("FLOR_REDIS", "SLURM_CONF"):
        os.environ.pop(variable, None)
    arguments = SMALL[name] + DEVICE
    recorded, inner, outer = RECORDED[name], INNER[name], OUTER[name]
    sequential = run([os.path.join(variants, name + ".probed")] + arguments)
    try:
        os.environ["FLOR_STEP_SECONDS"] = "0"
        for mode, suffix, counts in MODES:
            if mode == "sampler" and name != "mnist":
                continue
            if mode == "sampler":  # another order of the data
                sequential = run([os.path.join(variants, name + ".sampler.probed")] + arguments)
            original = os.path.join(variants, name + suffix) if suffix else os.path.join(bin_dir, name)
            label = f"{name}-{mode}"
            run([flor, "record", "--name", label, "--every", "1", "--", original] + arguments)
            run_id = os.path.basename(os.readlink(os.path.join(store, ".names", str(os.getuid()), label)))
            with open(os.path.join(store, run_id, "log.jsonl")) as file:
                record_log = file.read()
            plain = printed_rows(sequential, recorded)
            compare(f"{label}: record against sequential", plain,
                    logged_rows(record_log, recorded))
            for workers in (1, 2, 3, 7) if "--all" in sys.argv else counts:
                for suffix_probe, probes in ((".probed", [inner, outer]), (".outer", [outer])):
                    # An outer probe leaves epochs whole, and inner guards out of it.
                    if suffix_probe == ".outer" and (workers != 3 or mode in ("inside", "sampler")):
                        continue
                    probed = os.path.join(variants, name + suffix + suffix_probe)
                    run([flor, "replay", label, "--again", "--launcher", "local", "--workers", str(workers), "--", probed]
                        + arguments)
                    verdict = verdict_of(store, run_id)
                    where = f"{label}, {workers} workers, {suffix_probe[1:]}"
                    if verdict["verdict"] != "identical":
                        sys.exit(f"{where}: {verdict['verdict']}: {verdict}")
                    executed = sum(unit["executed"] for unit in verdict["units"])
                    if suffix_probe == ".outer" and executed != 0:
                        sys.exit(f"{where}: {executed} blocks were executed")
                    if suffix_probe == ".probed" and executed != 8:
                        sys.exit(f"{where}: {executed} blocks were executed, not 8")
                    if (len(verdict["units"]) > 8) != (mode in ("inside", "sampler") and suffix_probe == ".probed"):
                        sys.exit(f"{where}: {len(verdict['units'])} units")
                    joined = run([flor, "log", label, "--format", "jsonl"])
                    compare(where, printed_rows(sequential, recorded + probes),
                            logged_rows(joined, recorded + probes))
    finally:
        shutil.rmtree(store, ignore_errors=True)


if __name__ == "__main__":
    main()
