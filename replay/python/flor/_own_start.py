"""Records what a program's variables hold in front of its first loop, where it loads files and its loop saves some: it may go on by itself
with what an earlier attempt saved, as with the number of its first epoch. A resumed recording would restore what iterations pass on, and
leave the rest as the program loaded it. So a digest of each variable (_value_digest.py) is recorded with the states of the generators
(_chance.py), and the core refuses to resume where one differs."""
import base64
import functools
import json
import os
import sys

from . import _library
from ._program import program_of
from ._runtime import users_modules
from ._saved_files import is_reading, is_writing
from ._value_digest import Digest

NAME = "value of "
_ROWS = 2000  # of the file of generators: the entry of the first loop is among the first
_asked = {"is_so": False}


def ask():
    """The text of the program shows that it loads files in front of the loop that begins now, which saves some."""
    _asked["is_so"] = True


def found(roots, frame):
    """Returns {"value of NAME": digest} of the variables of a frame, {} where the program loads no files."""
    if not _asked["is_so"] and not _loads_and_saves(frame.f_code.co_filename):
        return {}
    samples, out, cut = {}, {}, []
    sources = tuple(sorted(module.__file__ for module in users_modules()))
    for name, value in roots.items():
        # Of each variable by itself: a file may bring others, and none must hide what this one holds.
        digest = Digest(samples, sources)
        digest.take(name.rpartition(":")[2], value, _file_of(name, frame))
        shown = name.replace(":", ".").encode("utf-8", "backslashreplace").decode()
        if digest.count:
            out[NAME + shown] = digest.text()
        if not digest.is_whole:
            cut.append(shown)
    _warn_of_others(out, cut)
    return out


def _file_of(name, frame):
    module = sys.modules.get(name.rpartition(":")[0])
    return getattr(module, "__file__", None) or frame.f_code.co_filename


@functools.lru_cache(None)
def _loads_and_saves(path):
    program = program_of(path)
    calls = program.calls() if program is not None else ()
    return any(map(is_writing, calls)) and any(map(is_reading, calls))


def _warn_of_others(present, cut):
    """Tells the user who asked for a resumption why the core refuses it, and what to do. `cut`: variables that refer to too much."""
    if not os.environ.get("FLOR_RESUME") or not present:
        return
    try:
        recorded = _recorded(os.path.join(os.environ.get("FLOR_STORE", ""), os.environ["FLOR_RESUME"], "generators.jsonl"))
    except (OSError, ValueError, KeyError):
        return  # the core says what is wrong with it
    others = [name[len(NAME):] for name, digest in present.items() if recorded.get(name, digest) != digest]
    if others:
        _library.warn(f"in front of its loop the program has other values than when it was recorded ({_listed(others)}): it seems to begin "
                      "with files that its earlier attempt saved. Move these files away to let Flor resume, or start the program without "
                      "--resume")
    elif cut and recorded:
        _library.warn("not all that the program refers to in front of its loop was compared with what it was when it was recorded, since it "
                      f"is too much ({_listed(cut)}). If the program begins with files that its earlier attempt saved, start it without "
                      "--resume")


def _listed(names):
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")


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
