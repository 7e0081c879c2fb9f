"""What a signal handler of the program raises while Flor works. It is the program's, and is raised where that goes on.

Python runs such a handler between any two steps, also in a function that Flor calls. So an exception there may be Flor's own,
or KeyboardInterrupt, SystemExit or any other one from a handler. Python would show it and drop it at the very entry of a call
from C, where no `try` has begun, and where a generator of Flor's is closed because its loop was left."""
import atexit
import functools
import signal
import sys
import threading
import traceback
import types

_kept = []  # (thread, exception): Python runs handlers in its main thread, and there they belong


def is_programs(problem):
    """Does an exception come from a signal handler of the program?"""
    if not isinstance(problem, Exception):
        return True
    handlers = _handlers()
    trace = problem.__traceback__
    while trace is not None and trace.tb_frame.f_code not in handlers:
        trace = trace.tb_next
    return trace is not None


def keep(problem):
    _kept.append((threading.get_ident(), problem))


def raise_kept():
    """Raises what was kept of this thread. Call it where the program goes on."""
    if not _kept:
        return
    own = next((one for one in _kept if one[0] == threading.get_ident()), None)
    if own is not None:
        _kept.remove(own)
        raise own[1]


def watch():
    """Call once: keeps what is raised at the entry of a callback."""
    inner = sys.unraisablehook

    def hook(unraisable):
        if _is_of_flor(unraisable) and unraisable.exc_value is not None and is_programs(unraisable.exc_value):
            keep(unraisable.exc_value)
        else:
            inner(unraisable)

    sys.unraisablehook = hook
    atexit.register(_show_rest)


# The names of what Flor calls so: callbacks, and the generator of a loop. Python shows a name, or gives what has it.
_NAMES = ("called_by_flor", "iterate_as_flor")


def _is_of_flor(unraisable):
    return getattr(unraisable.object, "__name__", "") in _NAMES or any(name in (unraisable.err_msg or "") for name in _NAMES)


def _show_rest():
    """Where the program ended before it could go on."""
    while _kept:
        problem = _kept.pop(0)[1]
        traceback.print_exception(None, problem, problem.__traceback__)


def _handlers():
    found = (signal.getsignal(number) for number in signal.valid_signals())
    return {code for code in map(_code_of, found) if code is not None}


def _code_of(handler):
    while isinstance(handler, (functools.partial, types.MethodType)):
        handler = handler.func if isinstance(handler, functools.partial) else handler.__func__
    if not callable(handler):
        return None
    return getattr(handler, "__code__", None) or getattr(getattr(type(handler), "__call__", None), "__code__", None)
