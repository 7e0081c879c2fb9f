"""The rules of docs/semantics.md, tested with `flor record` and `flor replay` on programs without LibTorch.

    rules_test.py PROGRAM BIN [MODULE | MODULE.CLASS | MODULE.CLASS.TEST …]

README.md lists which test stands for which rule.
"""
import os
import sys
import unittest

sys.dont_write_bytecode = True  # the folder belongs to the sources

import harness  # noqa: E402

MODULES = ["state", "places", "loops", "skipping", "endings", "processes", "verdicts", "files", "damage", "recordings", "tiers",
           "retention", "resuming", "terminated", "fencing", "requeue", "inside", "proof", "unheld", "planted", "flags"]


def main():
    harness.PROGRAM, harness.BIN = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    names = sys.argv[3:] or MODULES
    suite = unittest.defaultTestLoader.loadTestsFromNames(
        [name.replace(name.split(".")[0], name.split(".")[0] + "_rules", 1) for name in names])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)


if __name__ == "__main__":
    main()
