"""Which checkpoints hold gradients, and what happens where the program uses some that a checkpoint leaves out (_left_out.py).

The first ones that find some hold them. As soon as the program is seen to clear those, and to have used none before, further ones leave
them out. Where it is seen to use some, all hold them from then on. So it holds for all blocks and for the iterations at once: the
digest of an iteration has no gradients that the checkpoint of a block in it left out."""
import functools
import sys
import weakref

from ._left_out import watch, watch_of
from ._library import library

_seen = {"used": False, "cleared": False}
_first = []  # references to the parameters whose gradients the first checkpoint holds


def are_held():
    """Do checkpoints hold gradients now, where the text shows none that must be held?"""
    _seen["cleared"] = _seen["cleared"] or any(_is_cleared(reference()) for reference in _first)
    return _seen["used"] or not _seen["cleared"]


def _is_cleared(parameter):
    return parameter is not None and watch_of(parameter.grad) is None


def watch_all(name, parameters, is_held):
    """In a recording, watches the gradients of parameters from a checkpoint on that a block, or an iteration (""), has taken. `is_held`:
    does it have them?"""
    if library.flor_recording():
        for parameter in parameters:
            watch(parameter, name, functools.partial(_use, name, is_held))
        _first.extend([weakref.ref(parameter) for parameter in parameters] if not _first else [])


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
