"""Tells cheaply that the default generators of `random` and `numpy.random` are as they were: their bytes in memory are. Each iteration of a main
loop notes their states, and most draw nothing from them. To ask for one gives 624 objects, which takes a tenth of a millisecond each time where a
step of training has emptied the processor's caches."""
import array
import ctypes
import functools
import random
import sys

_HEAD = object.__basicsize__  # bytes of the header, which are left out: the count of references changes


def memory_of_random():
    """Returns what is another value wherever the state of the generator of `random` is another one. None where memory does not show the state."""
    inst = random._inst
    return (_memory_of(inst), repr(inst.gauss_next)) if type(inst) is random.Random and _shows_random() else None


def memory_of_numpy(numpy_random):
    """As memory_of_random(), for the generator of the functions of `numpy.random`."""
    inst = getattr(numpy_random.get_state, "__self__", None)
    bits = getattr(inst, "_bit_generator", None)
    is_known = type(inst) is numpy_random.RandomState and type(bits) is numpy_random.MT19937 and _shows_numpy(numpy_random)
    return (_memory_of(inst), _memory_of(bits)) if is_known else None


def _memory_of(value):
    return ctypes.string_at(id(value) + _HEAD, type(value).__basicsize__ - _HEAD)


# What an interpreter or a library keeps where is its own matter, so it is tried out on a generator of our own.
@functools.lru_cache(None)
def _shows_random():
    one = random.Random(1)
    return _shows(lambda: _memory_of(one), one.random, lambda: one.getstate()[1][:-1])


@functools.lru_cache(None)
def _shows_numpy(numpy_random):
    one = numpy_random.RandomState(1)
    # Normal numbers are made in pairs. The second one changes no word: it waits in the memory of the RandomState.
    return _shows(lambda: _memory_of(one) + _memory_of(one._bit_generator), one.standard_normal, lambda: one.get_state()[1])


def _shows(memory, draw, words):
    """Does the memory contain all words, does each draw change it, and not reading it alone?"""
    if sys.implementation.name != "cpython":
        return False
    seen = set()
    for _ in range(4):
        draw()
        before = memory()
        if array.array("I", words()).tobytes() not in before or memory() != before:
            return False
        seen.add(before)
    return len(seen) == 4
