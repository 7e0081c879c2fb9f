"""What recording costs the examples of Python, at sizes whose runs take about three quarters of a minute.

    bench/python_examples.py [--pairs 5] [--json FILE] BUILD [NAME…]

Copies each example with larger numbers in it, and measures the copy as `overhead.py --slices 0.05 --clock … --scatter …` does, with the default ε. `mnist_by_hand` is mnist.py with Flor's words written into it: the difference between the two is what it costs that
nothing has to be written. The last line has the mean of the medians of the examples as they are.
"""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile

from overhead import HEAD, add, line, measure, plain, recorded

ROOT = pathlib.Path(__file__).resolve().parent.parent
EPSILON = 0.0667
# Example: (arguments, replaced texts). So that a step takes three milliseconds and more.
EXAMPLES = {
    "mnist": (["--samples", "9000", "--epochs", "20"], []),
    "gpt": (["--steps", "3500", "--width", "128"], []),
    "finetune": ([], [("640), (\"val\", 160", "24000), (\"val\", 6000"), ("num_epochs=6", "num_epochs=20"),
                      ("nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 64)",
                       "nn.Linear(20, 1024), nn.BatchNorm1d(1024), nn.ReLU(), nn.Linear(1024, 1024)"),
                      ("self.head = nn.Linear(64", "self.head = nn.Linear(1024"), ("model.head = nn.Linear(64", "model.head = nn.Linear(1024")]),
    "gan": ([], [("ring(1024)", "ring(40960)"), (" = 4, 64, 6, 0.0005", " = 4, 64, 30, 0.0005"),
                 ("nn.Linear(nz, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2)",
                  "nn.Linear(nz, 512), nn.LeakyReLU(0.2), nn.Linear(512, 512), nn.LeakyReLU(0.2), nn.Linear(512, 2)"),
                 ("nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(32, 1)",
                  "nn.Linear(2, 512), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(512, 1)")]),
    "vae": (["--epochs", "35", "--batch-size", "128"], [("Bars(1024, 0)", "Bars(25600, 0)"), ("(size, 64)", "(size, 4096)"), ("(64, latent)", "(4096, latent)"),
                                 ("(64, latent)", "(4096, latent)"), ("(latent, 64)", "(latent, 4096)"), ("Linear(64, size)", "Linear(4096, size)")]),
}
BY_HAND = [
    ("import torch\n", "import flor\nimport torch\n"),
    ("    for epoch in range(1, args.epochs + 1):\n        train(args, model, train_loader, optimizer, epoch)\n",
     "    with flor.checkpointing(net=model, optimizer=optimizer, scheduler=scheduler):\n"
     "      for epoch in flor.loop(\"epoch\", range(1, args.epochs + 1)):\n"
     "        with flor.skip_block(\"train\", model, optimizer) as block:\n"
     "            if block.step_into():\n"
     "                train(args, model, train_loader, optimizer, epoch)\n"),
    ("in enumerate(loader):\n", "in flor.loop(\"step\", enumerate(loader)):\n"),
    ("            print(f\"Train Epoch", "            flor.log(\"loss\", loss.item())\n            print(f\"Train Epoch"),
    ("    print(f\"Test set", "    flor.log(\"test loss\", test_loss)\n    flor.log(\"accuracy\", accuracy)\n    print(f\"Test set"),
]


def copy_of(name, edits, folder):
    text = (ROOT / f"examples/python/{name}.py").read_text()
    for old, new in edits:
        if text.count(old) < 1:
            sys.exit(f"examples/python/{name}.py has no {old!r}: edit bench/python_examples.py")
        text = text.replace(old, new, 1)
    path = folder / f"{name}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return str(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--json")
    parser.add_argument("build")
    parser.add_argument("names", nargs="*", metavar="NAME")
    asked = parser.parse_args()
    package = os.path.abspath(os.path.join(asked.build, "python"))
    preloaded = [os.path.abspath(os.path.join(asked.build, "lib", f"lib{name}.so")) for name in ("scattered_heap", "running_clock")]
    for library in preloaded:
        if not os.path.exists(library):
            parser.error(f"there is no {library}; scripts/build -DFLOR_BENCH=ON builds it")
    if asked.pairs < 2:
        parser.error(f"--pairs {asked.pairs}: at least two show how far pairs differ")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        print(" " * 14, HEAD, flush=True)
        for name in asked.names or [*EXAMPLES, "mnist_by_hand"]:
            is_by_hand = name.endswith("_by_hand")
            arguments, edits = EXAMPLES[name.removesuffix("_by_hand")]
            program = copy_of("mnist", BY_HAND, pathlib.Path(folder, name)) if is_by_hand else copy_of(name, edits, pathlib.Path(folder, name))
            base = [sys.executable, copy_of(name.removesuffix("_by_hand"), edits, pathlib.Path(folder, "plain")), *arguments]
            settings = {"FLOR_EPSILON": str(EPSILON), "PYTHONPATH": package if is_by_hand else os.path.join(package, "flor-hook")}
            row = measure(plain(base, 1, *preloaded), recorded([sys.executable, program, *arguments], 1, settings, *preloaded), asked.pairs, apart=False, slices=0.05)
            rows.append({"label": f"{name}.py", "threads": 1, "epsilon": EPSILON, "kind": "python examples", **row})
            print(f"{name:>14}", line(f"eps {EPSILON}", row, f"{1 + EPSILON:.4f}"), flush=True)
    as_they_are = [row["median"] for row in rows if not row["label"].endswith("_by_hand.py")]
    if as_they_are:
        print(f"mean of the medians of {len(as_they_are)}: {statistics.mean(as_they_are):.4f}")
    if asked.json:
        add(rows, asked.json)


if __name__ == "__main__":
    main()
