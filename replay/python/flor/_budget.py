"""The time that looks at the program's objects may take (_seen.py)."""
import os
import time

from ._interrupts import is_programs
from ._library import library
from ._seen import fingerprints

# All looks may take this share of the time since the first one; where blocks are looked at the second one, as an execution without looks has no
# checkpoint. Together the first ones may take more, so many seconds, as what changes, most programs change at once. Where the user wants more
# checkpoints than the policy takes, all looks may take the last number of seconds: they come in front of checkpoints.
_SHARE, _WITH_BLOCKS, _FIRST, _AT_LEAST, _IF_MORE = 0.005, 0.02, 40, 1.0, 10.0
_WANTS_MORE = {"FLOR_EVERY", "FLOR_STEP_SECONDS"}


class Budget:
    """The time that looks may take."""

    def __init__(self):
        self._begun, self._spent, self._count, self.charged = time.monotonic(), 0.0, 0, 0.0
        self._share = _SHARE
        self._wants_more = bool(_WANTS_MORE & os.environ.keys())

    def look(self, frame, held, modules, slots=frozenset(), must=False, moved_from=None):
        """As fingerprints(), with functions that return `held` and `modules`; None also where an object raised an exception, or where
        no time is left for one more and it is not one that `must` be."""
        return self.spend(lambda: fingerprints(frame, held(), modules(), slots, moved_from), must)

    def expect_blocks(self):
        """From now on blocks are looked at, too."""
        self._share = _WITH_BLOCKS

    def has_time(self):
        """Is time left for one more look? Costs little: it is asked at each step."""
        at_least = _IF_MORE if self._wants_more else _AT_LEAST if self._count < _FIRST else 0
        return self._spent <= max(at_least, self._share * (time.monotonic() - self._begun))

    def spend(self, call, must):
        """Returns what a call returns that looks at objects; or None, as look()."""
        if not must and not self.has_time():
            return None
        before = self.charged
        self._count += 1
        try:
            return self.charge(call)
        except Exception as problem:
            if is_programs(problem):
                raise
            return None  # objects may do anything when they are looked at; training goes on
        finally:
            self._spent += self.charged - before

    def charge(self, call):
        """Returns what a call returns. Its time is a cost of the recording, and is not limited."""
        begun = time.monotonic()
        try:
            return call()
        finally:
            took = time.monotonic() - begun
            self.charged += took
            library.flor_spent(took)
