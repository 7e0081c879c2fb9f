"""What happens where the program uses gradients that a checkpoint leaves out (_left_out.py)."""
import functools
import sys

from ._left_out import watch
from ._library import library


def watch_all(name, parameters):
    """In a recording, watches the gradients of parameters that a checkpoint of a block, or of an iteration (""), left out."""
    if library.flor_recording():
        for parameter in parameters:
            watch(parameter, functools.partial(_note, name))


def _note(name):
    from ._block import note

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
        what += "; to execute everything: flor replay --probe all --prove none --workers 1"
    library.flor_cannot_go_on(what.encode("utf-8", "replace"))
    raise RuntimeError(what)


def _place():
    """Returns the innermost line of the user's own that runs."""
    from ._runtime import is_users_file

    frame = sys._getframe(2)
    while frame is not None and not is_users_file(frame.f_code.co_filename):
        frame = frame.f_back
    return "the program" if frame is None else f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"
