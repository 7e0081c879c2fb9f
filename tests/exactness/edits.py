"""Edits of char_lm of every kind that users make, each replayed: what flor decided is what the table says, and the
joined log equals one plain sequential run of the edited program. (tests/probes holds the decisions for many more
edits; here a sample of each kind is built and run.)

    edits.py --names                     the kinds, separated by semicolons (for CMake)
    edits.py --write NAME SOURCE TARGET  the edited copy of SOURCE, with what it includes beside it
    edits.py BIN VARIANTS                the test
"""
import os
import pathlib
import sys
import tempfile

from exactness import SMALL, compare, logged_rows, printed_rows, run, verdict_of

EPOCHS = 8
BACKWARD = "        loss.backward();\n"
SCHEDULE = "    scheduler.step();\n"
BLOCK = '    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {\n'
WEIGHT = 'flor::log("weight_norm", net->output->weight.norm().item<double>());\n'
GRADIENT = 'flor::log("grad_norm", net->output->weight.grad().norm().item<double>());'


def behind(text, added):
    return (text, text + added)


def before(text, added):
    return (text, added + text)


# A recorded program whose block changes a variable that it does not restore.
COUNTING = [before("  for ([[maybe_unused]] const int64_t epoch", "  [[maybe_unused]] int64_t seen = 0;\n"),
            behind(BACKWARD, "        seen += batch;\n")]

GUARD = before("  [[maybe_unused]] int64_t seen = 0;\n", "  const auto state = flor::checkpointing(net, optimizer, scheduler);\n")

# Recorded instead of the example as it is.
BASES = {"unrestored": COUNTING, "unrestored-complete": [*COUNTING, GUARD]}

# name: (replacements, files beside the source, blocks that execute, names of the new rows)
EDITS = {
    "macro": ([before("int main(", f"#define NOTE_GRADIENT(net) {GRADIENT}\n\n"),
               behind(BACKWARD, "        NOTE_GRADIENT(net)\n")], {}, EPOCHS, ["grad_norm"]),
    "lambda": ([before("  for ([[maybe_unused]] const int64_t epoch", f"  const auto note = [&] {{ {GRADIENT} }};\n"),
                behind(BACKWARD, "        note();\n")], {}, EPOCHS, ["grad_norm"]),
    "header": ([behind("#include <flor/flor.h>\n", '\n#include "probes/note.h"\n\n'),
                behind(BACKWARD, "        note(net->output->weight);\n")],
               {"probes/note.h": "#pragma once\n#include <flor/flor.h>\n#include <torch/torch.h>\n"
                                 "inline void note(const torch::Tensor& weight) {\n"
                                 '  flor::log("grad_norm", weight.grad().norm().item<double>());\n}\n'},
               EPOCHS, ["grad_norm"]),
    "braces": ([behind(SCHEDULE, '    flor::log("length", std::string(R"(} { " // )").size());  // }} { in a comment\n    ' + WEIGHT)],
               {}, 0, ["length", "weight_norm"]),
    "renamed": ([(BLOCK, BLOCK.replace('"train"', '"training"')), behind(SCHEDULE, "    " + WEIGHT)], {}, EPOCHS,
                ["weight_norm"]),
    "moved": ([before(BLOCK, "    {\n"), before(SCHEDULE, "    }\n"), behind(SCHEDULE, "    " + WEIGHT)], {}, EPOCHS,
              ["weight_norm"]),
    "forward": ([before("    return output(dropout(",
                        '    flor::log("embedding_norm", embedding->weight.norm().item<double>());\n')], {}, EPOCHS,
                ["embedding_norm"]),
    "changed": ([("if (step % log_every == 0)", "if (0 == step % log_every)"), behind(SCHEDULE, "    " + WEIGHT)], {},
                EPOCHS, ["weight_norm"]),
    "unrestored": ([*COUNTING, behind(SCHEDULE, '    flor::log("seen", seen);\n')], {}, EPOCHS, ["seen"]),
    "unrestored-complete": ([*COUNTING, GUARD, behind(SCHEDULE, '    flor::log("seen", seen);\n')], {}, EPOCHS, ["seen"]),
    "function": ([before("  return loss_of(net, windows(text, starts",
                         '  flor::log("windows", starts.numel());\n')], {}, 0, ["windows"]),
}


def write(name, source, target):
    text = pathlib.Path(source).read_text()
    replacements, files = (BASES[name[:-5]], {}) if name.endswith(".base") else EDITS[name][:2]
    for old, new in replacements:
        if text.count(old) != 1:
            sys.exit(f"edit {name}: '{old}' stands {text.count(old)} times in {source}")
        text = text.replace(old, new)
    target = pathlib.Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    for file, content in files.items():
        (target.parent / file).parent.mkdir(exist_ok=True)
        (target.parent / file).write_text(content)


def check(name, flor, program, store):
    _, _, expected, probes = EDITS[name]
    arguments = SMALL["char_lm"]
    sequential = run([program] + arguments)
    said = run([flor, "replay", "recorded", "--launcher", "local", "--workers", "2", "--", program] + arguments)
    run_id = os.path.basename(os.readlink(os.path.join(store, ".names", str(os.getuid()), "recorded")))
    verdict = verdict_of(store, run_id)
    executed, skipped = (sum(unit[did] for unit in verdict["units"]) for did in ("executed", "skipped"))
    if verdict["verdict"] != "identical" or executed != expected or skipped + executed < EPOCHS:
        sys.exit(f"{name}: {verdict['verdict']}, {executed} executed ({expected} expected), {skipped} skipped\n{said}")
    names = ["loss", "validation_loss"] + probes
    joined = run([flor, "log", "recorded", "--format", "jsonl"])
    compare(f"{name}, {executed} blocks executed", printed_rows(sequential, names), logged_rows(joined, names))


def main():
    if sys.argv[1] == "--names":
        print(";".join([*EDITS, *(f"{name}.base" for name in BASES)]), end="")
    elif sys.argv[1] == "--write":
        write(*sys.argv[2:])
    else:
        bin_dir, variants = sys.argv[1:3]
        flor = os.path.join(bin_dir, "flor")
        for variable in ("FLOR_REDIS", "SLURM_CONF"):
            os.environ.pop(variable, None)
        for name in EDITS:
            with tempfile.TemporaryDirectory(prefix="flor-edits-") as store:
                os.environ["FLOR_STORE"] = store
                recorded = (os.path.join(variants, f"char_lm.{name}.base") if name in BASES
                            else os.path.join(bin_dir, "char_lm"))
                run([flor, "record", "--name", "recorded", "--every", "1", "--", recorded] + SMALL["char_lm"])
                check(name, flor, os.path.join(variants, f"char_lm.{name}"), store)


if __name__ == "__main__":
    main()
