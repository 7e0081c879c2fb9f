"""What a main loop iterates over that is a `while` in the program (_rewrite.py)."""
import ctypes

from . import _group, _interrupts

CONDITION = "@condition"  # stands for a path in the record: the condition of the main loop may change something (_conditions.py)


class Conditions:
    """Gives itself, again and again. Each time the program says by goes_on() whether the condition of its `while` holds: where the
    program itself evaluates it, at the loop's entry and behind each iteration."""

    def __init__(self):
        self._flor = self._watch = None
        self._here, self.is_over = 0, False

    def elements(self, flor, watch):
        """Yields this object; `watch` as in _loop.iterate()."""
        self._flor, self._watch = flor, watch
        while True:
            yield self
            if watch is not None:
                watch.end()
            self._here += 1

    def goes_on(self, condition):
        """Begins an iteration, where the condition holds or Flor goes on with a later iteration. Returns whether it does."""
        holds, value = bool(condition), ctypes.c_int64()
        _group.note(self._flor)
        self.is_over = not self._flor.flor_next(holds, self._here, value)
        _interrupts.raise_kept()
        if self.is_over:
            return False
        self._here = value.value
        self._flor.flor_begin(self._here)
        if self._watch is not None:
            self._watch.begin()
        _interrupts.raise_kept()
        return True
