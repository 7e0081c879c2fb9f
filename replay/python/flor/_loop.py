"""flor.loop: a loop that can be recorded and replayed."""
import collections
import ctypes
import dis
import functools
import sys

from . import _chance, _failure, _group, _interrupts
from ._block import Looks, Uses, guarded, here as this_thread
from ._gradient_uses import settle
from ._runtime import start
from ._while import Conditions

_CONTAINER, _RANGE, _ONE_PASS = 0, 1, 2  # FLOR_CONTAINER, …
_EXHAUSTED, _EARLY, _UNWOUND = 0, 1, 2
_WIDEST = 1 << 63


def loop(name, iterable):
    """Iterates over `iterable` as a loop of this name, and yields its elements.

        for epoch in flor.loop("epoch", range(epochs)):

    The loop's value in rows is the number itself for a range of step 1, else the element's position, from 0. The main
    loop of a program is the outermost one that took longest, each execution by itself: a replay divides its iterations among
    workers. A replay skips iterations: those of a range at once, those of a list or the like by taking its elements. Over
    anything else, as a loader that shuffles, a main loop is replayed and resumed from its first iteration.

    Returns a generator: nothing happens before the first iteration, and it has no len().

    Outside Flor it is a plain loop. Call it on the thread that trains."""
    return iterate(start(), name, iterable, sys._getframe(1))


def iterate(flor, name, iterable, caller, watch=None):
    """As loop(), in a frame. `watch`: None, or what is told of its open(), of the begin() and end() of each iteration and of its close(). Its
    `passing`: None, or the elements of a loop that begins in the middle (_passing.py)."""
    is_range = isinstance(iterable, range) and iterable.step == 1 and -_WIDEST <= iterable.start and iterable.stop < _WIDEST
    begin = iterable.start if is_range else 0
    if is_range:
        end = max(iterable.stop, begin)
    else:
        end = _length(iterable)
    begins = begins_anywhere(iterable) or (watch is not None and watch.passing is not None)
    over_what = _RANGE if is_range else _CONTAINER if begins else _ONE_PASS
    return iterate_as_flor(flor, name.encode(), over_what, begin, end, None if is_range else iterable, caller, watch)


def begins_anywhere(iterable):
    """Are its elements the same, wherever one begins? What draws numbers or counts where it is asked for one is begun anew."""
    if type(iterable).__module__.split(".")[0] == "tqdm":
        return begins_anywhere(iterable.iterable)
    if type(iterable) in (enumerate, zip, reversed):
        return all(map(begins_anywhere, _sources_of(iterable)))
    return type(iterable) in _FIXED


_FIXED = {Conditions, range, list, tuple, dict, str, bytes, collections.deque, *(type(make()) for make in (
    {}.keys, {}.values, {}.items, [].__iter__, [].__reversed__, ().__iter__, range(0).__iter__, range(1 << 70).__iter__, {}.__iter__,
    {}.keys().__iter__, {}.values().__iter__, {}.items().__iter__, "".__iter__, "ä".__iter__))}


def _sources_of(iterable):
    """Returns the iterators inside of an enumerate, zip or reversed."""
    return iterable.__reduce__()[1][:1] if type(iterable) is not zip else iterable.__reduce__()[1]


def _length(iterable):
    """Returns how many elements there are, or -1. Asks no class of the user's, which could do anything, as draw a number."""
    if type(iterable) in (list, tuple, range, dict, set):
        return len(iterable)
    if type(iterable).__module__.split(".")[0] == "tqdm":
        return iterable.total if isinstance(iterable.total, int) else -1
    data = sys.modules.get("torch.utils.data")
    if data is None or type(iterable) is not data.DataLoader or isinstance(iterable.dataset, data.IterableDataset):
        return -1
    of_torch = all(type(one).__module__.startswith("torch.") for one in (iterable.sampler, iterable.batch_sampler) if one is not None)
    return len(iterable) if of_torch else -1


def iterate_as_flor(flor, name, over_what, begin, end, iterable, caller, watch):
    loops = this_thread.__dict__.setdefault("loops", [])
    how, is_open, is_range, passing = _EARLY, False, over_what == _RANGE, None if watch is None else watch.passing
    try:
        if watch is not None:
            watch.open()
        _group.note(flor)
        with _chance.entry(caller):
            loops.append(name)
            is_open = True  # no signal handler runs between this and the call
            flor.flor_enter_loop(name, over_what, begin, end)
        if watch is None and len(loops) == 1:
            watch = Looks(flor, caller, name.decode()) if guarded and flor.flor_active() and flor.flor_recording() else Uses()
        _interrupts.raise_kept()
        if isinstance(iterable, Conditions):
            yield from iterable.elements(flor, watch)
        elements = passing.elements() if passing is not None else None if is_range else iter(iterable)
        known = begin if passing is None else begin + passing.count
        here, value, is_outermost = begin, ctypes.c_int64(), len(loops) == 1
        while True:
            comes = here < known
            if passing is not None:
                elements = passing.elements()  # a restore may have begun others
            element, over = (here, here >= end) if is_range else (None, False) if comes else _next_of(elements)
            if comes:
                passing.be_at(here - begin)
            if is_outermost or _group.is_time(here - begin):
                _group.note(flor)
            goes_on = flor.flor_next(not over, here, value)
            _interrupts.raise_kept()
            while goes_on and not is_range and here < value.value and not over and not comes:
                element = None
                element, over = _next_of(elements)
                here += 1
            # A replay may go back from the end of a range.
            if not goes_on or over and not is_range:
                how = _EXHAUSTED
                break
            here = value.value
            flor.flor_begin(here)
            if watch is not None:
                watch.begin()
            _interrupts.raise_kept()
            if comes and not is_range:
                element, over = _next_of(passing.elements())
                if over:
                    how = _EXHAUSTED
                    break
            passed, element = [here if is_range else element], None
            yield passed.pop()  # which the program may drop before the next one is made
            if watch is not None:
                watch.end()
            here += 1
    except GeneratorExit:
        is_over = isinstance(iterable, Conditions) and iterable.is_over
        how = _EXHAUSTED if is_over else _EARLY if _is_left_by_break(caller) else _UNWOUND
        raise
    except BaseException:
        how = _UNWOUND
        raise
    finally:
        code, caller = caller.f_code, None
        try:
            if is_open and how == _UNWOUND and len(loops) == 1 and flor.flor_replaying():
                _failure.defer(code, functools.partial(_leave, flor, how, watch))
            elif is_open:
                _leave(flor, how, watch)
            elif watch is not None:
                watch.close()
        finally:
            watch = None
            if is_open:
                loops.pop()
    _interrupts.raise_kept()


def _leave(flor, how, watch):
    try:
        settle()
    finally:
        try:
            flor.flor_leave_loop(how)
        finally:
            if watch is not None:
                watch.close()


def _next_of(elements):
    try:
        return next(elements), False
    except StopIteration:
        return None, True


def _is_left_by_break(frame):
    """Python drops the iterator of a loop that is left. At a break or return an instruction does it, else the
    interpreter that looks for an exception's handler."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return 0 <= at < len(code) and dis.opname[code[at]] in ("POP_TOP", "POP_ITER")
