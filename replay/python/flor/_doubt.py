"""Which iterations of main loops were not looked at (_seen.py), as the record tells it. They are in doubt until the next look sees what
they changed."""
import collections

from . import _library
from ._program import LEFT

_BEGUN, _IN_DOUBT, _SEEN = "*0", "*?", "*!"  # stand for paths in the record
_loops = collections.Counter()  # how many main loops of a name there were


class Doubt:
    """Is told of the looks at one execution of a main loop. `loop`, `line`: its name and its place in the program."""

    def __init__(self, flor, loop, line):
        self._flor, self._line, self._is_so = flor, line, False
        # Each has a name of its own: what is seen of a later loop tells nothing of this one.
        self._place = f"@loop:{loop}#{_loops[loop]}"
        _loops[loop] += 1

    def begin(self):
        """Call behind the first look. What an earlier attempt left in doubt is executed again."""
        self._note(_BEGUN)

    def note(self, is_so):
        """Is what happens from now on in doubt, with what has happened since the last look?"""
        if is_so != self._is_so:
            self._note(_IN_DOUBT if is_so else _SEEN)
        self._is_so = is_so

    def warn(self):
        """Tells that the doubt lasts: the last look at the loop failed."""
        _library.warn(f"the last iterations of the loop in line {self._line} could not be looked at: replays begin at the program's "
                      "start, and a resumed recording behind the last iteration that was")

    def _note(self, mark):
        self._flor.flor_note_unheld(self._place.encode(), mark.encode(), False)


def settled(seen):
    """Returns (block, path) of what was seen to change without these marks, and ("", "*") where a loop is still in doubt: not all its
    iterations were watched. Which blocks may be left is asked of the present text."""
    in_doubt = collections.Counter()
    for block, path in seen:
        in_doubt[block] = 0 if path == _BEGUN else in_doubt[block] + (path == _IN_DOUBT) - (path == _SEEN)
    changed = [one for one in seen if one[1] not in (_BEGUN, _IN_DOUBT, _SEEN, LEFT)]
    return changed + ([("", "*")] if any(count > 0 for count in in_doubt.values()) else [])
