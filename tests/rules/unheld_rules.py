"""What blocks change and do not hold, and what the main loop carries and its guard does not hold: said at record, by
`flor show`, by `flor check --complete`, and by `flor probes` for the log statements that read it.

The programs of this folder have a front end of their own, which the analysis does not read. Here they name another
source in its stead: one that a user could have written.
"""
import json
import os
import re
import shutil

import harness
from harness import Case

SOURCE = """#include <flor/flor.h>

int main() {
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  Meter meter;
  double best = 100;
  auto state = flor::checkpointing(net, optimizer);
  for (int64_t epoch : flor::loop("epoch", 6)) {
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      meter.update(train_step(net, optimizer));
      flor::log("loss", meter.last());
    }
    const double score = evaluate(net);
    if (score < best) {
      best = score;
      flor::log("best", best);
    }
  }
}
"""
METER = ("block train changes meter (best.cpp:11) and neither it nor flor::checkpointing holds it: a later question about "
         "it runs the program from its start")
BEST = ("the main loop carries best (best.cpp:16) and flor::checkpointing does not hold it: a later question about it runs "
        "the program from its start")
FORGOTTEN = "best (best.cpp:16) is carried from iteration to iteration and the guard does not hold it"


class Unheld(Case):
    def setUp(self):
        super().setUp()
        self.renamed = self.path("train")
        self.write(SOURCE)
        with open(harness.PROGRAM, "rb") as file:
            image = file.read()
        # The names that the compiler left in the program, whatever they are relative to.
        image = re.sub(rb"[^\0]*tests/rules/program/\w+\.cpp\0", lambda path: b"best.cpp".ljust(len(path[0]), b"\0"), image)
        with open(self.renamed, "wb") as file:
            file.write(image)
        shutil.copymode(harness.PROGRAM, self.renamed)

    def write(self, text):
        with open(self.path("best.cpp"), "w") as file:
            file.write(text)
        os.utime(self.path("best.cpp"), (0, 0))  # older than the program

    def said(self, stderr):
        return [line[6:] for line in stderr.splitlines() if line.startswith("flor: ") and "hold" in line]

    def test_record_says_once_what_is_not_held_before_the_program_starts(self):
        run = self.record(self.renamed, "best", "--best=never")
        self.assertEqual(self.said(run.done.stderr), [BEST, METER])
        lines = run.done.stderr.splitlines()
        begin = next(line for line in lines if line.startswith("flor: recording run " + run.id))
        self.assertLess(lines.index("flor: " + METER), lines.index(begin))

    def test_the_library_says_it_where_no_flor_record_does(self):
        env = {"FLOR_RECORD": "1", "FLOR_EVERY": "1", "FLOR_BIN": harness.BIN}
        # Its stderr stays open until the last process that may write to it ends.
        done = self.execute([self.renamed, "best", "--best=never"], env=env)
        self.assertEqual(self.said(done.stderr), [BEST, METER])
        # Of a program that a script starts, too.
        done = self.flor("record", "--", "/bin/sh", "-c", f"{self.renamed} best --best=never")
        self.assertEqual(self.said(done.stderr), [BEST, METER])

    def test_the_library_is_silent_where_there_is_no_flor(self):
        os.mkdir(self.path("empty"))
        done = self.execute([self.renamed, "best", "--best=never"],
                            env={"FLOR_RECORD": "1", "PATH": self.path("empty"), "FLOR_BIN": self.path("empty")})
        self.assertEqual(self.said(done.stderr), [])

    def test_a_resumed_recording_does_not_say_it_again(self):
        unless = self.path("unless")
        run = self.record(self.renamed, "train", "--guard", "--throw=3", "--unless=" + unless, code=1)
        self.assertEqual(self.said(run.done.stderr), [BEST, METER])
        with open(unless, "w"):
            pass
        done = self.flor("record", "--resume", run.id, "--", self.renamed, "train", "--guard", "--throw=3",
                         "--unless=" + unless, code=None)
        self.assertEqual(self.said(done.stderr), [])

    def test_show_lists_it(self):
        run = self.record(self.renamed, "best", "--best=never")
        text = self.flor("show", run.id).stdout
        self.assertIn(f"hint: {BEST}\nhint: {METER}\n", text)
        shown = json.loads(self.flor("show", run.id, "--json").stdout)
        self.assertEqual(shown["unheld"], [
            {"block": "train", "name": "meter", "file": "best.cpp", "line": 11},
            {"block": "", "name": "meter", "file": "best.cpp", "line": 11},
            {"block": "", "name": "best", "file": "best.cpp", "line": 16}])

    def test_what_is_held_is_not_said(self):
        self.write(SOURCE.replace("optimizer);\n  for", "optimizer, best, meter);\n  for")
                   .replace('"train", net, optimizer}', '"train", net, optimizer, meter}'))
        run = self.record(self.renamed, "best", "--best=never", "--remember")
        self.assertEqual(self.said(run.done.stderr), [])
        self.assertEqual(json.loads(self.flor("show", run.id, "--json").stdout)["unheld"], [])
        self.flor("check", "--complete", run.id, "--", self.renamed, "best", "--best=never", "--remember")

    def test_of_many_ten_are_said(self):
        names = [f"meter{k}" for k in range(14)]
        self.write(SOURCE.replace("  Meter meter;\n", "".join(f"  Meter {name};\n" for name in names)).replace(
            "      meter.update(train_step(net, optimizer));\n", "".join(f"      {name}.update(1);\n" for name in names)))
        run = self.record(self.renamed, "best", "--best=never", flags=("--name", "many"))
        lines = [line for line in run.done.stderr.splitlines() if "hold" in line or "more" in line]
        self.assertEqual(len(lines), 11)
        self.assertEqual(lines[-1], "flor: … and 5 more (flor show many)")
        self.assertEqual(self.flor("show", run.id).stdout.count("hint: "), 15)

    def test_rule_12_a_forgotten_variable_is_found_in_the_sources(self):
        program = [self.renamed, "best", "--best=never"]
        run = self.record(*program)
        found = self.flor("check", "--complete", run.id, "--", *program, code=3).stdout
        self.assertIn("epoch 2 to 3 is the same resumed and pseudoresumed", found)
        self.assertIn(f"run {run.id}: {FORGOTTEN}\n", found)
        found = json.loads(self.flor("check", "--complete", run.id, "--json", "--", *program, code=3).stdout)
        self.assertEqual((found["complete"], [check["same"] for check in found["checks"]]), (False, [True, True]))
        self.assertIn({"block": "", "name": "best", "file": "best.cpp", "line": 16}, found["unheld"])

    def test_probes_says_what_executes_before_anything_starts(self):
        run = self.record(self.renamed, "best", "--best=never")
        probe = '    flor::log("mean", meter.mean());\n    const double score'
        self.write(SOURCE.replace("    const double score", probe))
        before = os.listdir(run.path)
        decision = json.loads(self.flor("probes", run.id, "--json", "--", self.renamed).stdout)
        self.assertEqual(list(decision), ["all", "execute", "lead_in", "from_start", "probes", "reasons"])
        self.assertEqual((decision["all"], decision["execute"], decision["from_start"]), (False, ["train"], True))
        mean = decision["probes"][0]
        self.assertEqual(list(mean), ["name", "file", "line", "block", "inputs", "withheld"])
        self.assertEqual((mean["name"], mean["file"], mean["line"], mean["block"], mean["withheld"]),
                         ("mean", os.path.realpath(self.path("best.cpp")), 14, "", ""))
        meter = [one for one in mean["inputs"] if one["name"] == "meter"]
        self.assertEqual([list(one) for one in meter], [["name", "held", "why"]])
        self.assertFalse(meter[0]["held"])
        self.assertRegex(meter[0]["why"], r"^block train changes it \(best.cpp:1\d\) and does not hold it$")
        # The recorded program, as it is today.
        text = self.flor("probes", run.id).stdout
        self.assertIn("best.cpp:14 mean: block train executes\n", text)
        self.assertRegex(text, r"  not held  meter.*: block train changes it \(best.cpp:1\d\) and does not hold it\n")
        self.assertEqual(before, os.listdir(run.path))

    def test_probes_refuses_in_one_line(self):
        run = self.record(self.renamed, "best", "--best=never")
        os.remove(self.renamed)
        os.mkdir(self.path("empty"))
        for words in ([], ["nope"], ["--between", self.path("best.cpp"), self.path("nope")],
                      ["--between", self.path("empty"), self.path("empty")],
                      ["--between", self.path("best.cpp"), self.directory], [run.id], [run.id, "--", "/bin/sh"],
                      [run.id, "--", self.renamed], [run.id, "--between", self.path("best.cpp"), self.path("best.cpp")]):
            done = self.flor("probes", *words, code=2)
            self.assertEqual((done.stdout, done.stderr.count("\n"), done.stderr[:6]), ("", 1, "flor: "), done.stderr)
