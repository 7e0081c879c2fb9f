"""Finds the random state that a program made in front of its first loop: generators of its own, and arrays of indices, as a split of
its data. Without a seed they are others in each process, so that a resumed recording would go on with other data. At the entry of
the loop a digest of each such variable is recorded with the states of the default generators, and the core compares them
(docs/semantics.md, rule 16)."""
import collections
import hashlib
import json
import os
import random
import sys

from . import _interrupts, _own_start
from ._frames import takes_locals
from ._runtime import users_modules
from ._seen import members_of, roots_of

_DEEP, _MOST, _LONG = 4, 5000, 64  # containers in containers; objects that are visited; items of a container
# Indices: how many there are at least, how many are compared, and how much larger than their number they may be.
_FEWEST, _SAMPLE, _SPREAD = 8, 4096, 64
_UNTOUCHED = b"nothing drawn"
_FRESH = 1 << 31  # the first word of a Mersenne Twister that was seeded by chance

_entering = []  # the frame of the loop that is being entered, the first one
_has_entered = False


class entry:
    """A context for the call that enters a loop from a frame. Only the first loop of a process counts."""

    def __init__(self, frame):
        self._frame = frame

    def __enter__(self):
        global _has_entered
        if not _has_entered:
            _entering.append(self._frame)
        _has_entered, self._frame = True, None
        if _entering and os.environ.get("FLOR_RESUME"):
            taken()  # what it warns of comes before the reason of the core

    def __exit__(self, *_):
        _entering.clear()
        taken.known = None


def taken():
    """Returns {"variable NAME": digest}, and what _own_start.py adds, while the first loop is being entered; else {}."""
    if not _entering:
        return {}
    if taken.known is None:
        try:
            roots = _roots(_entering[0])
            taken.known = {**_found(roots), **_own_start.found(roots, _entering[0])}
        except Exception as problem:
            if _interrupts.is_programs(problem):
                raise
            taken.known = {}  # the loop is compared no worse than without
    return taken.known


taken.known = None


def _roots(frame):
    if not takes_locals(frame.f_code):
        return roots_of(frame, users_modules())
    return {f"{module.__name__}:{name}": value for module in users_modules() for name, value in list(vars(module).items())}


def _found(roots):
    out, seen = {}, set()
    waiting = collections.deque((name.replace(":", "."), value, 0) for name, value in roots.items())
    while waiting and len(seen) < _MOST:
        name, value, depth = waiting.popleft()
        if id(value) in seen:
            continue
        seen.add(id(value))
        try:
            digest = _of_generator(value) or _of_indices(value)
            if digest is not None:
                out["variable " + name.encode("utf-8", "backslashreplace").decode()] = digest
            elif depth < _DEEP:
                waiting.extend((f"{name}.{key}", item, depth + 1) for key, item in _items_of(value))
        except Exception as problem:
            if _interrupts.is_programs(problem):
                raise
            # An object may do anything. This one is compared no worse than without.
    return out


def _items_of(value):
    """Returns (name, item) pairs. A subclass of a container is not asked: the program's own code would run."""
    if type(value) in (list, tuple):
        return enumerate(value) if len(value) <= _LONG else ()
    if type(value) is dict:
        return [(key if type(key) in (str, int) else place, item) for place, (key, item) in enumerate(value.items())] if len(value) <= _LONG else ()
    return list((members_of(value) or {}).items())


def _digest(*parts):
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
    return digest.hexdigest().encode()


def _of_generator(value):
    """Returns a digest of a generator's state. All from which nothing was drawn yet have the same one: what they draw in the loop is
    saved and restored. Returns None for what is no generator, and for the default ones, which the core compares."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if isinstance(value, random.Random):
        if type(value) is random.SystemRandom or value is random._inst:
            return None
        version, words, gauss = random.Random.getstate(value)
        return _UNTOUCHED if words[0] == _FRESH and words[-1] == 624 else _digest(version, words, gauss)
    if numpy is not None and hasattr(numpy, "random"):
        if isinstance(value, numpy.random.Generator):
            return _of_bits(numpy, value.bit_generator)
        if isinstance(value, numpy.random.BitGenerator):
            return _of_bits(numpy, value)
        if isinstance(value, numpy.random.RandomState):
            _, words, position, has_gauss, gauss = value.get_state()
            return _UNTOUCHED if words[0] == _FRESH and position in (623, 624) else _digest(words.tobytes(), position, has_gauss, gauss)
    if torch is not None and isinstance(value, torch.Generator) and value is not torch.default_generator:
        return _of_torch(torch, value)
    return None


def _of_bits(numpy, bits):
    sequence = getattr(bits, "seed_seq", None) or getattr(bits, "_seed_seq", None)
    if type(sequence) is numpy.random.SeedSequence:
        first = numpy.random.SeedSequence(sequence.entropy, spawn_key=sequence.spawn_key, pool_size=sequence.pool_size)
        if _plain(type(bits)(first).state) == _plain(bits.state):
            return _UNTOUCHED
    return _digest(_plain(bits.state))


def _plain(state):
    return json.dumps(state, default=lambda words: words.tolist(), sort_keys=True)


def _of_torch(torch, value):
    if value.device.type != "cpu":
        return None
    state = value.get_state()
    is_fresh = torch.equal(torch.Generator().manual_seed(value.initial_seed()).get_state(), state)
    return _UNTOUCHED if is_fresh else _digest(state.numpy().tobytes())


def _of_indices(value):
    """Returns a digest of an array, a tensor or a list that may hold indices: different whole numbers, not much larger than their count,
    and in a list without order. So a list of process ids, times or processors is left out."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    is_list = type(value) in (list, tuple)
    if is_list:
        if len(value) < _FEWEST or type(value[0]) is not int:
            return None
    elif numpy is not None and type(value) is numpy.ndarray:
        if value.dtype.kind not in "iu" or value.ndim != 1:
            return None
    elif torch is None or type(value) is not torch.Tensor or value.dtype not in (torch.int64, torch.int32) or value.ndim != 1 or \
            value.device.type != "cpu":
        return None
    sample = value[::max(len(value) // _SAMPLE, 1)]
    sample = list(sample) if is_list else sample.tolist()
    if len(sample) < _FEWEST or not all(type(item) is int for item in sample) or (is_list and sample in (sorted(sample), list(set(sample)))):
        return None
    is_indices = len(set(sample)) == len(sample) and min(sample) >= 0 and max(sample) < _SPREAD * len(value)
    return _digest(len(value), sample) if is_indices else None
