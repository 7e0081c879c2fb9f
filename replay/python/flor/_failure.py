"""The end of a replay whose program is wrong: a name that does not exist, say, in the log statement that was just added.

An exception that leaves the main loop would be met by further tries: a file server may be away for a minute. What no try can
cure ends the replay at once, with its place. Python has left the loop when it shows the exception, so that the end of the loop
is told only then."""
import os
import sys
import traceback

from ._interrupts import is_programs
from ._library import library

_FAULTS = (NameError, AttributeError, TypeError, SyntaxError, NotImplementedError)
# What another try may cure, whoever asked for it.
_PASSING = (OSError, MemoryError, EOFError)
_OF_THE_MACHINE = ("cuda", "cudnn", "nccl", "out of memory", "allocate", "dataloader worker")  # in a RuntimeError of torch
_ends = []  # of loops that an exception has left
_loops = set()  # file and function of each


def defer(code, end):
    """`end`: tells the end of the main loop, in a function's `code`, that an exception has just left."""
    _loops.add((code.co_filename, code.co_name))
    _ends.append(end)


def in_turn(end):
    """Tells an end now, or behind those that wait."""
    if _ends:
        _ends.append(end)
    else:
        end()


def tell_ends():
    """Call before anything else is told."""
    while _ends:
        _ends.pop(0)()


def show_by(inner):
    """Returns an excepthook that shows an exception by `inner`, and ends the replay where the program is wrong."""

    def show(kind, value, trace):
        inner(kind, value, trace)
        reject_fault(kind, value, trace)
        tell_ends()

    return show


def reject_fault(kind, value, trace):
    from ._runtime import is_users_file

    if is_programs(value):
        return  # of a signal handler
    own = [frame for frame in traceback.extract_tb(trace) if is_users_file(frame.filename)]
    if issubclass(kind, _FAULTS) or (_may_last(kind, value) and _is_of_what_was_added(own)):
        library.flor_reject(_line_of(kind, value, own).encode("utf-8", "replace"))


def _may_last(kind, value):
    text = str(value).lower()
    return issubclass(kind, Exception) and not issubclass(kind, _PASSING) and not any(word in text for word in _OF_THE_MACHINE)


def _is_of_what_was_added(frames):
    """Does a line that the recorded text does not have stand among them, in the main loop or in what that calls?"""
    from ._recorded import Recorded

    at = next((index for index, frame in enumerate(frames) if (frame.filename, frame.name) in _loops), len(frames))
    try:
        recorded = Recorded(os.path.realpath(sys.modules["__main__"].__file__))
        return any(frame.line and frame.line not in map(str.strip, recorded.read(os.path.realpath(frame.filename)).splitlines())
                   for frame in frames[at:])
    except Exception:
        return False  # without the record's sources it is not known


def _line_of(kind, value, own):
    place = f"{os.path.basename(own[-1].filename)}:{own[-1].lineno}: " if own else ""
    text = " ".join(str(value).split())
    return f"{place}{kind.__name__}: {text}"


def watch():
    """Call once, where a replay begins."""
    sys.excepthook = show_by(sys.excepthook)
