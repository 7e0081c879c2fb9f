"""What commands say to flags and values that they cannot use."""
from harness import Case
import harness


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
                                 f"flor: --every: '{value}' is no whole number from 1\n")
        for value in ("-1", "x", "1.5"):
            with self.subTest(value=value):
                self.assertIn("every is a number from 1", self.said("record", "--every=" + value, *program))
        self.assertEqual(self.said("export", "any", "--epoch", "last"), "flor: --epoch: 'last' is no whole number\n")

    def test_a_store_that_is_not_there_has_no_runs_to_list(self):
        store = self.environment["FLOR_STORE"]
        self.assertIn(f"there is no store {store}; ", self.said("runs"))
        self.assertIn("there is no store", self.said("runs", "--json", "--store", self.path("mistyped")))
        self.record("train")
        self.assertIn("completed", self.flor("runs").stdout)
