"""What commands say to flags and values that they cannot use."""
import os

from harness import Case
import harness

TABLE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support", "settings.table")
REPLAY = ("epochs", "probe")


def setting_values():
    """Key, value, and whether that is one."""
    with open(TABLE) as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return [(key, value, verdict == "yes") for key, verdict, value in rows]


class Refused(Case):
    def said(self, *words):
        """The one line of a command that refuses its flags."""
        done = self.flor(*words, code=2)
        self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)
        return done.stderr

    def test_a_number_that_is_none_is_named(self):
        program = ("--", harness.PROGRAM, "train")
        for value in ("0", "-1", "x", "1.5", "99999999999999999999"):
            with self.subTest(value=value):
                self.assertEqual(self.said("replay", "any", "--every=" + value, *program),
                                 f"flor: --every: '{value}' is no whole number from 1 (see flor replay --help)\n")
        for value in ("-1", "x", "1.5"):
            with self.subTest(value=value):
                self.assertIn("every is a number from 1", self.said("record", "--every=" + value, *program))
        self.assertEqual(self.said("export", "any", "--epoch", "last"), "flor: --epoch: 'last' is no whole number "
                         "(see flor export --help)\n")

    def test_a_store_that_is_not_there_has_no_runs_to_list(self):
        store = self.environment["FLOR_STORE"]
        self.assertIn(f"there is no store {store}; ", self.said("runs"))
        self.assertIn("there is no store", self.said("runs", "--json", "--store", self.path("mistyped")))
        self.record("train")
        self.assertIn("completed", self.flor("runs").stdout)

    def test_the_commands_take_what_srun_takes(self):
        """A value that is taken leads to the next refusal: of a program, a run or an epoch that is not there."""
        run = self.record("train")
        for key, value, fits in setting_values():
            with self.subTest(key=key, value=value):
                if key in REPLAY:
                    program = (harness.PROGRAM, "train") if key == "epochs" else (harness.PROGRAM, "train", "--outer")
                    flags = ("--dry-run", "--launcher", "local", f"--{key}={value}")
                    done = self.flor("replay", run.id, *flags, "--", *program, code=None)
                    # A block or an epoch that the record does not have is another matter.
                    unknown = "are outside of the record" if key == "epochs" else "the record has no block"
                    if fits:
                        self.assertTrue(done.returncode == 0 or unknown in done.stderr, done.stderr)
                    else:
                        self.assertEqual(done.returncode, 2, done.stderr)
                else:
                    done = self.flor("record", f"--{key}={value}", "--", self.path("no-such-program"), code=None)
                    self.assertEqual("no-such-program" in done.stderr, fits, done.stderr)

    def test_a_flor_conf_that_cannot_be_used_is_warned_about_once(self):
        os.makedirs(self.path("flor"))
        conf = self.path("flor/flor.conf")
        with open(conf, "w") as file:
            file.write("epsilom = 0.5\nevery = 1\nkeep 3\n")
        done = self.execute([self.program(), "train"], env={"FLOR_RECORD": "1"})
        warnings = [line for line in done.stderr.splitlines() if "warning" in line]
        self.assertEqual(warnings, [
            f"flor: warning: {conf}, line 1: 'epsilom' is passed over: there is no such setting (misspelled?)",
            f"flor: warning: {conf}, line 3: 'keep 3' is passed over: a setting is written as `key = value`"])
        self.assertEqual(self.newest_run().manifest()["policy"]["every"], 1)
