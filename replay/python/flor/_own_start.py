"""Records what a program's variables hold in front of its first loop, where it loads files and its loop saves some: it may go on by itself
with what an earlier attempt saved, as with the number of its first epoch. A resumed recording would restore what iterations pass on, and
leave the rest as the program loaded it. So a digest of each variable is recorded with the states of the generators (_chance.py), and the
core refuses to resume where one differs."""
import base64
import collections
import functools
import hashlib
import json
import os
import sys

from . import _interrupts, _library
from ._program import program_of
from ._reports import CLOCKS, names_given
from ._roots import members_of
from ._saved_files import is_reading, is_writing

NAME = "value of "
_MOST, _LONG, _SAMPLE, _LARGE = 20000, 64, 4096, 1 << 31  # objects; items of a container; elements; numbers that are rather addresses
_ROWS = 2000  # of the file of generators: the entry of the first loop is among the first
# What belongs to the process or its machine, and differs in each attempt.
_OF_THE_PROCESS = CLOCKS | {"platform", "socket", "getpass", "getpid", "getppid", "environ", "getenv", "gethostname", "cpu_count", "tempfile", "mkdtemp",
                            "device_count", "get_device_properties", "Popen", "id"}
_asked = {"is_so": False}


def ask():
    """The text of the program shows that it loads files in front of the loop that begins now, which saves some."""
    _asked["is_so"] = True


def found(roots, frame):
    """Returns {"value of NAME": digest} of the variables of a frame, {} where the program loads no files."""
    if not _asked["is_so"] and not _loads_and_saves(frame.f_code.co_filename):
        return {}
    seen, out = set(), {}
    for name, value in roots.items():
        digest = _Digest(seen)
        digest.take(name.rpartition(":")[2], value, frame.f_code.co_filename)
        if digest.count:
            out[NAME + name.replace(":", ".").encode("utf-8", "backslashreplace").decode()] = digest.text()
    _warn_of_others(out)
    return out


@functools.lru_cache(None)
def _loads_and_saves(path):
    program = program_of(path)
    calls = program.calls() if program is not None else ()
    return any(map(is_writing, calls)) and any(map(is_reading, calls))


@functools.lru_cache(None)
def _of_the_process(path):
    program = program_of(path)
    return names_given(list(program.parents), _OF_THE_PROCESS) if program is not None else set()


class _Digest:
    """Of what a variable refers to and no other one did. Calls no code of the program."""

    def __init__(self, seen):
        self._seen, self._digest, self.count = seen, hashlib.blake2b(digest_size=16), 0

    def text(self):
        return self._digest.hexdigest().encode()

    def take(self, name, value, path):
        """`path`: of the file that names it."""
        waiting = collections.deque([(name, value, path, True)])
        while waiting and len(self._seen) < _MOST:
            name, value, path, counts = waiting.popleft()
            if not isinstance(value, (int, float, complex, type(None))):
                if id(value) in self._seen:
                    continue
                self._seen.add(id(value))
            try:
                # Of what comes from the process or its machine only tensors count: a network may be moved to a device of it.
                counts = counts and name not in _of_the_process(path)
                waiting.extend((inner, item, place or path, counts) for inner, item, place in self._take_one(value, counts))
            except Exception as problem:
                if _interrupts.is_programs(problem):
                    raise
                # An object may do anything. This one is compared no worse than without.

    def _take_one(self, value, counts):
        """Returns what it refers to: (name, value, the file that names it or None)."""
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        if value is None or type(value) in (bool, int, float, complex):
            if counts and (value is None or value != value or abs(value) < _LARGE):
                self._put(value)
        elif torch is not None and type(value) in (torch.Tensor, torch.nn.Parameter):
            self._put_tensor(torch, value)
        elif numpy is not None and (type(value) is numpy.ndarray or isinstance(value, numpy.generic)):
            self._put(value.dtype.str, value.shape, _sampled(value.reshape(-1)).tobytes() if value.dtype.kind in "biufc" else "")
        elif torch is not None and isinstance(value, torch.nn.Module):
            return [("", value.__dict__.get(kind), None) for kind in ("_parameters", "_buffers", "_modules")]
        elif torch is not None and isinstance(value, torch.optim.Optimizer):
            return [("", value.__dict__.get(kind), None) for kind in ("param_groups", "state")]
        elif type(value) in (dict, collections.OrderedDict, collections.defaultdict):
            if counts:
                self._put(len(value), _sampled([key for key in value if type(key) in (str, int)]))
            return [(key if type(key) is str else "", item, None) for key, item in list(value.items())[:_SAMPLE]]
        elif type(value) in (list, tuple, set, frozenset, collections.deque):
            return self._take_items(value, counts)
        else:
            kind = sys.modules.get(type(value).__module__)
            return [(name, item, getattr(kind, "__file__", None)) for name, item in (members_of(value) or {}).items()]
        return []

    def _take_items(self, value, counts):
        items = list(value) if type(value) in (list, tuple, collections.deque) else sorted(map(repr, value)) if all(map(_is_plain, value)) else []
        sample = _sampled(items)
        is_plain = all(map(_is_plain, sample))
        if counts:
            self._put(len(items), *(sample if is_plain else ()))
        return [] if is_plain else [("", item, None) for item in items[:_LONG]]

    def _put(self, *parts):
        self.count += 1
        for part in parts:
            self._digest.update(part if isinstance(part, bytes) else repr(part).encode("utf-8", "backslashreplace"))

    def _put_tensor(self, torch, value):
        if value.layout is not torch.strided or value.is_quantized or value.device.type == "meta":
            return
        sample = _sampled(value.detach().reshape(-1)).cpu().contiguous()
        self._put(str(value.dtype), tuple(value.shape), sample.view(torch.uint8).numpy().tobytes())


def _is_plain(value):
    return value is None or type(value) in (bool, int, float, str)


def _sampled(values):
    return values[::max(len(values) // _SAMPLE, 1)]


def _warn_of_others(present):
    """Tells the user who asked for a resumption why the core refuses it, and what to do."""
    if not os.environ.get("FLOR_RESUME") or not present:
        return
    try:
        recorded = _recorded(os.path.join(os.environ.get("FLOR_STORE", ""), os.environ["FLOR_RESUME"], "generators.jsonl"))
    except (OSError, ValueError, KeyError):
        return  # the core says what is wrong with it
    others = [name[len(NAME):] for name, digest in present.items() if recorded.get(name, digest) != digest]
    if others:
        _library.warn(f"in front of its loop the program has other values than when it was recorded ({', '.join(others[:5])}"
                      f"{', …' if len(others) > 5 else ''}): it seems to begin with files that its earlier attempt saved. Move these files away "
                      "to let Flor resume, or start the program without --resume")


def _recorded(path):
    states, handle = {}, os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, encoding="utf-8") as file:
        for _, line in zip(range(_ROWS), file):
            row = json.loads(line)
            if "bytes" in row:
                states[row["digest"]] = row["bytes"]
            elif any(name.startswith(NAME) for name in row):
                return {name: base64.b64decode(states[digest]) for name, digest in row.items() if name.startswith(NAME)}
    return {}
