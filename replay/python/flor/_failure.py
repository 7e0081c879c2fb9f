"""The end of a replay whose program is wrong: a name that does not exist, say, in the log statement that was just added.

An exception that leaves the main loop would be met by further tries: a file server may be away for a minute. What no try can
cure ends the replay at once, with its place. Python has left the loop when it shows the exception, so that the end of the loop
is told only then."""
import os
import sys
import traceback

from ._library import library

_FAULTS = (NameError, AttributeError, TypeError, SyntaxError, NotImplementedError)
_ends = []  # of loops that an exception has left


def defer(end):
    """`end`: tells the end of the main loop, that an exception has just left."""
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
    if issubclass(kind, _FAULTS):
        library.flor_reject(_line_of(kind, value, trace).encode("utf-8", "replace"))


def _line_of(kind, value, trace):
    from ._runtime import is_users_file

    own = [frame for frame in traceback.extract_tb(trace) if is_users_file(frame.filename)]
    place = f"{os.path.basename(own[-1].filename)}:{own[-1].lineno}: " if own else ""
    text = " ".join(str(value).split())
    return f"{place}{kind.__name__}: {text}"


def watch():
    """Call once, where a replay begins."""
    sys.excepthook = show_by(sys.excepthook)
