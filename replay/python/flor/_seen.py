"""What a block, or an iteration of the main loop, really changes: seen while it is recorded, not read from the text.

Before and after each execution everything that can be reached from the frame, from the modules of the user, and from what
their functions and classes keep, is fingerprinted. What changed, and is no object of the block or the guard, is noted in
the record; a replay of an edited program looks whether it is read (_held.py).

Bounded: one look takes at most a second, all of them together a share of the training. Where that is not enough, the record
says so, and such a block executes in each replay with a probe outside of it. Of a large tensor the version and samples
count, of a very large array its address."""
import collections
import ctypes
import hashlib
import sys
import time
import types

from . import _leaves
from ._library import library
from ._objects import Saver

_SECONDS = 1.0  # for one look
_SHARE, _AT_LEAST = 0.01, 1.0  # of the time since the first one, and seconds, for all looks
_LARGE = 64 << 20  # bytes of an array
_SAMPLED, _SAMPLE, _SAMPLES = 1 << 20, 4096, 16  # bytes of a tensor, whose version tells of most writes
_DEEPEST = 100
_SIMPLE = (bool, int, float, complex, str, bytes, type(None), type(...))


class _Late(Exception):
    """There is no time left."""


class Budget:
    """The time that looks may take."""

    def __init__(self):
        self._begun, self._spent = time.monotonic(), 0.0

    def look(self, frame, held, modules):
        """As fingerprints(); None also where no time is left for one more."""
        begun = time.monotonic()
        if self._spent > max(_AT_LEAST, _SHARE * (begun - self._begun)):
            return None
        try:
            return fingerprints(frame, held, modules)
        finally:
            self._spent += time.monotonic() - begun


def fingerprints(frame, held, modules):
    """Returns {path: fingerprint} of what can be reached: "x" and "x.member" of variables, "module:x" of the `modules`
    other than the frame's own. `held`: objects whose content is left out, by whatever way it is reached. None where the
    time is not enough."""
    look = _Look(held)
    out = {}
    try:
        for variables in (frame.f_globals, frame.f_locals):
            for name, value in list(variables.items()):
                look.add(out, name, value)
        for module in modules:
            if vars(module) is not frame.f_globals:
                for name, value in list(vars(module).items()):
                    look.add(out, f"{module.__name__}:{name}", value)
    except _Late:
        return None
    return out


def changed(before, after):
    """Returns the paths that differ, without those of new or removed variables: their names show in the text."""
    if before is None or after is None:
        return []
    return sorted(path for path in before if path in after and before[path] != after[path])


class _Look:
    def __init__(self, held):
        self._end = time.monotonic() + _SECONDS
        self._known = {}  # digests of memory
        self._saver = Saver()
        self._held = {id(value) for value in held}
        for value in held:
            try:
                self._saver.save("", value)
            except TypeError:
                continue  # a recording with it ends anyway
            modules = getattr(value, "modules", None)
            self._held.update({id(part) for part in modules()} if callable(modules) else ())
        self._held.update(id(value) for value in self._saver.alive)
        self._pointers = {leaf.pointer for leaf in self._saver.leaves.values() if leaf.size > 0}

    def add(self, out, name, value):
        if name.startswith("__") or isinstance(value, types.ModuleType) or _is_of_flor(value):
            return
        if id(value) in self._held:
            out[name] = ("held", id(value))  # another object of this name is a change
            return
        members = _members(value)
        if members is None:
            out[name] = self._fingerprint(value)
        else:
            out[name] = self._fingerprint(type(value))  # members of its class are members of it
            for member, item in members.items():
                is_held = id(item) in self._held
                out[f"{name}.{member}"] = ("held", id(item)) if is_held else self._fingerprint(item)

    def _fingerprint(self, value):
        self._hash, self._seen, self._alive = hashlib.blake2b(digest_size=16), {}, []
        self._feed(value, 0)
        return self._hash.digest()

    def _put(self, *words):
        self._hash.update(repr(words).encode("utf-8", "surrogatepass"))

    def _feed(self, value, depth):
        if time.monotonic() > self._end:
            raise _Late
        if isinstance(value, _SIMPLE):
            return self._put(type(value).__name__, value)
        if id(value) in self._held:
            return self._put("held")
        if id(value) in self._seen or depth > _DEEPEST:
            return self._put("same", self._seen.get(id(value)))
        self._seen[id(value)] = len(self._seen)
        self._alive.append(value)
        self._put(type(value).__qualname__)
        if isinstance(value, types.ModuleType) or _is_of_flor(value):
            return None
        if not self._feed_memory(value):
            for part in self._parts(value):
                self._feed(part, depth + 1)
        return None

    def _feed_memory(self, value):
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        try:
            if torch is not None and isinstance(value, torch.Tensor):
                size = value.numel() * value.element_size()
                if value.layout == torch.strided and value.data_ptr() in self._pointers:
                    self._put("held")
                    return True
                self._put(list(value.shape), str(value.dtype), value.requires_grad)
                if size > _SAMPLED:
                    self._put(value._version)
                if size <= _LARGE or value.is_contiguous():
                    self._put(self._digest(value, lambda: _leaves.of_tensor("", value)))
                return True
            if numpy is not None and isinstance(value, numpy.ndarray) and not value.dtype.hasobject:
                self._put(value.shape, value.dtype.str)
                self._put(value.ctypes.data) if value.nbytes > _LARGE else self._put(self._digest(
                    value, lambda: _leaves.of_array("", value)))
                return True
        except (TypeError, RuntimeError):
            return True  # sparse and the like: nothing to look at
        return False

    def _digest(self, value, leaf_of):
        if id(value) not in self._known:
            leaf = leaf_of()
            is_tensor = type(leaf.owner).__module__.split(".")[0] == "torch"
            if not is_tensor or leaf.size <= _SAMPLED:
                parts = [(0, leaf.size)]
            else:
                parts = [((leaf.size - _SAMPLE) * i // (_SAMPLES - 1), _SAMPLE) for i in range(_SAMPLES)]
            text = ctypes.create_string_buffer(33)
            digests = []
            for begin, size in parts:
                library.flor_digest(leaf.pointer + begin, size, text)
                digests.append(text.value)
            self._known[id(value)] = (digests, value)
        return self._known[id(value)][0]

    def _parts(self, value):
        if isinstance(value, dict):
            yield from value.keys()
            yield from value.values()
        elif isinstance(value, (list, tuple, set, frozenset, collections.deque)):
            yield from list(value)
        elif isinstance(value, types.FunctionType):
            yield from (value.__defaults__, value.__kwdefaults__, value.__dict__)
            yield from [cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell)]
        elif isinstance(value, type):
            if value.__module__ in sys.modules and _is_users(sys.modules[value.__module__]):
                yield from [item for name, item in sorted(vars(value).items()) if not name.startswith("__")]
        elif isinstance(value, types.GeneratorType):
            yield from (value.gi_frame.f_lasti, value.gi_frame.f_locals) if value.gi_frame else ()
        else:
            yield from self._parts_of_object(value)

    @staticmethod
    def _parts_of_object(value):
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Generator):
            yield value.get_state()
        elif callable(getattr(type(value), "cache_info", None)):
            yield tuple(value.cache_info())  # of functools.lru_cache
        elif type(value).__module__ == "builtins" or getattr(value, "__dict__", None) is None:
            yield _reduced(value)
        else:
            yield vars(value)
            if type(value).__reduce__ is not object.__reduce__:
                yield _reduced(value)


def _reduced(value):
    """Returns what Python would pickle of an object: an iterator's position, a generator's state. Of a class that the user
    wrote, it runs no code."""
    if _is_users(sys.modules.get(type(value).__module__)):
        return None
    try:
        return value.__reduce_ex__(2)
    except Exception:
        return None


def _members(value):
    """Returns the attributes of an object of a class of the user, whose members a program names one by one."""
    torch = sys.modules.get("torch")
    if isinstance(value, type) or callable(value) or not hasattr(value, "__dict__"):
        return None
    if torch is not None and isinstance(value, torch.nn.Module):
        return None
    return dict(vars(value)) if _is_users(sys.modules.get(type(value).__module__)) else None


def _is_filled(cell):
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _is_of_flor(value):
    return type(value).__module__.split(".")[0] == "flor"


def _is_users(module):
    from ._runtime import is_users

    return module is not None and is_users(module)
