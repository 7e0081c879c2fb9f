"""The time that looks at the program's objects may take (_seen.py)."""
import time

from ._interrupts import is_programs
from ._library import library
from ._seen import fingerprints

_SHARE = 0.005  # of the time since the first look: so long may all looks take
_FIRST, _AT_LEAST = 40, 1.0  # looks that may take more than that, and how many seconds: what changes, most programs change at once


class Budget:
    """The time that looks may take."""

    def __init__(self):
        self._begun, self._spent, self._count, self.charged = time.monotonic(), 0.0, 0, 0.0

    def look(self, frame, held, modules, slots=frozenset(), must=False, moved_from=None):
        """As fingerprints(), with functions that return `held` and `modules`; None also where an object raised an exception, or where
        no time is left for one more and it is not one that `must` be."""
        return self.spend(lambda: fingerprints(frame, held(), modules(), slots, moved_from), must)

    def spend(self, call, must):
        """Returns what a call returns that looks at objects; or None, as look()."""
        at_least = _AT_LEAST if self._count < _FIRST else 0
        if not must and self._spent > max(at_least, _SHARE * (time.monotonic() - self._begun)):
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
