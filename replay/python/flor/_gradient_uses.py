"""Which checkpoints hold gradients, and what happens where the program uses some that a checkpoint leaves out (_left_out.py).

The first checkpoints of a block, or of an iteration, hold them. Where the program was seen to clear them all before it used any,
twice, the further ones leave them out: all that a checkpoint has is then needed. Where it was seen to use some, all hold them from then on."""
import functools
import sys

from ._left_out import watch
from ._library import library


_ENOUGH = 2
_seen = {"used": False}
_cleared = {}  # by the name of a block, or "": how many checkpoints were taken, behind each of which the gradients were not used


def are_held(name):
    """Does the next checkpoint of a block, or of an iteration (""), hold gradients, where the text shows none that must be held?"""
    return _seen["used"] or _cleared.get(name, 0) <= _ENOUGH


def watch_all(name, parameters, is_held):
    """In a recording, watches the gradients of parameters from a checkpoint on that has been taken. `is_held`: does it have them?"""
    if library.flor_recording():
        _cleared[name] = _cleared.get(name, 0) + 1
        for parameter in parameters:
            watch(parameter, functools.partial(_use, name, is_held))


def _use(name, is_held):
    from ._block import note

    _seen["used"] = True
    if is_held:
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
    if library.flor_replaying():
        what += "; a new replay with --probe all --prove none --workers 1 executes everything in one go"
    library.flor_cannot_go_on(what.encode("utf-8", "replace"))
    raise RuntimeError(what)


def _place():
    """Returns the innermost line of the user's own that runs."""
    from ._runtime import is_users_file

    frame = sys._getframe(2)
    while frame is not None and not is_users_file(frame.f_code.co_filename):
        frame = frame.f_back
    return "the program" if frame is None else f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"
