"""Which checkpoints hold which gradients, and what happens where the program uses one that a checkpoint leaves out (_left_out.py).

A gradient is left out once the program was seen to clear it between two checkpoints, as long as it goes on doing that. Where it is seen to
use one that was left out, further ones are held. One that was left out stays so until it is cleared: a process that goes on from that
checkpoint does not know it, and could compare no later state that has it. So what is held is also decided once for an iteration."""
import functools
import sys
import weakref

from ._left_out import asking_of, watch
from ._library import library

_seen = {"used": False}
_known = {}  # by the ids of parameters


class _Known:
    """Of a parameter: `names` of those whose checkpoints met its gradient, and of them those that have left it `out` since it was cleared; was
    it seen to be cleared behind one of them? `decision`: is it held in this iteration? None: not decided."""

    def __init__(self, parameter):
        self.parameter, self.names, self.out, self.is_cleared, self.decision = weakref.ref(parameter), set(), set(), False, None


def _known_of(parameter):
    found = _known.get(id(parameter))
    if found is None or found.parameter() is not parameter:
        found = _known[id(parameter)] = _Known(parameter)
    return found


def is_held(name, parameter):
    """Does a checkpoint of a block, or of an iteration (""), hold a parameter's gradient, where the text does not read any behind a block?"""
    known = _known_of(parameter)
    if known.decision is None:
        asking = asking_of(parameter)
        known.is_cleared = known.is_cleared or not known.names <= asking
        known.out = known.out if known.out <= asking else set()
        known.decision = not known.out and (_seen["used"] or not known.is_cleared or name in asking)
    return known.decision


def begin_iteration():
    """What is held is decided anew."""
    for key, known in list(_known.items()):
        known.decision = None
        if known.parameter() is None:
            del _known[key]


def watch_all(name, gradients):
    """In a recording, watches the gradients of parameters from a checkpoint on that a block, or an iteration (""), has taken. `gradients`:
    (parameter, whether it is held)."""
    if library.flor_recording():
        for parameter, is_so in gradients:
            watch(parameter, name, functools.partial(_use, name, is_so))
            known = _known_of(parameter)
            known.names.add(name)
            known.out.update(() if is_so else (name,))


def _use(name, is_so):
    from ._block import note

    _seen["used"] = True
    if is_so:
        return
    note(library, name, "gradients", True, f"block {name} leaves gradients that are used behind it, and its checkpoints do not have them: replays and "
         "a resumed recording execute the block" if name else "an iteration leaves gradients that are used behind it, and its checkpoints do not have "
         "them: replays and a resumed recording begin at the program's start")


def unknown(name):
    """Ends the replay, or the resumed recording, of a program that uses gradients that a restore of a block, or of an iteration (""), left
    unknown."""
    what = f"{_place()}: the program uses gradients that {f'block {name}' if name else 'an iteration'} left, and the checkpoint that was restored " \
        "does not have them"
    library.flor_note_unheld(name.encode(), b"gradients", 1)
    library.flor_cannot_go_on(what.encode("utf-8", "replace"))
    raise RuntimeError(what)


def _place():
    """Returns the innermost line of the user's own that runs."""
    from ._runtime import is_users_file

    frame = sys._getframe(2)
    while frame is not None and not is_users_file(frame.f_code.co_filename):
        frame = frame.f_back
    return "the program" if frame is None else f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"
