"""What a block, or an iteration of the main loop, really changes: seen while it is recorded, not read from the text.

Before and after each execution everything that can be reached from the frame, from the modules of the user, and from what
their functions and classes keep, is fingerprinted. What changed, and is no object of the block or the guard, is noted in
the record; a replay of an edited program looks whether it is read (_held.py).

Bounded: one look takes at most a second, all of them together a share of the training. Where that is not enough, the record
says so, and such a block executes in each replay with a probe outside of it. Of a large tensor the version and samples
count, of an array above a GiB samples. A file that is mapped to be read only is not read."""
import array
import bisect
import collections
import hashlib
import itertools
import mmap
import sys
import time
import types

from . import _leaves, _plain
from ._attributes import dict_of, is_filled, slots_of
from ._contents import HOLDERS, contents_of, of_sparse, version_of
from ._files import UNKNOWN
from ._frames import locals_of
from ._imported import only_defined
from ._inner import Late as _Late, modules_in
from ._interrupts import is_programs
from ._left_out import plain_of
from ._looked_at import Kind
from ._kinds import KEPT, is_stateful
from ._roots import CONTAINERS, base_of, is_of_loader, is_users_module, members_of, root_of, roots_of
from ._samples import digests_of
from ._settings import settings
from ._unsaved import added_to, default_generators, identity_of, unsaved_of
from ._words import Words

_SECONDS = 1.0  # for one look
_LARGE = 64 << 20  # bytes, above which nothing is copied to be read
_SAMPLED, _SAMPLES = 1 << 20, 16  # bytes of a tensor, whose version tells of most writes, and samples of a larger one
_WHOLE, _MANY = 1 << 30, 4096  # the same of an array
_CLASS = ":@class"  # ends the path of a class that a function defines, and which no variable may have
_DEEPEST, _TEXT = 100, 1 << 16  # _TEXT: characters, bytes, or bits of a number
# Packages whose objects stand for threads, files and the like: no state.
_OF_THE_MACHINE = {"_thread", "threading", "_io", "io", "_queue", "queue", "multiprocessing", "_multiprocessing", "socket",
                   "_socket", "logging", "weakref", "_weakref", "concurrent", "torch", "numpy", "tqdm", "tensorboard", "builtins", "_csv", "_abc"}
_OF_WORKERS = {"multiprocessing." + name for name in "queues context process pool synchronize popen_fork popen_forkserver popen_spawn_posix".split()}
_doubts = itertools.count()
_SIMPLE = (bool, int, float, complex, str, bytes, type(None), type(...))
_SIMPLE_KINDS = frozenset(_SIMPLE)


class Prints(dict):
    """{path: fingerprint}. `referred`: {path of a variable or member: path of an object that is held, which refers to its value}."""

    def __init__(self):
        super().__init__()
        self.referred = {}

    def owner_of(self, path):
        """Returns the path of an object that is held and refers to what is at a path, or to the object that it is a member of; or None."""
        return self.referred.get(path) or self.referred.get(root_of(path))


def fingerprints(frame, held, modules, slots=frozenset(), moved_from=None):
    """Returns Prints, {path: fingerprint} of what can be reached: "x" and "x.member" of variables, "module:x" of the `modules`
    other than the frame's own. `held`: objects whose content is left out, by whatever way it is reached. `slots`: paths whose
    values may be any others. `moved_from`: tells where an object was before; another one in a variable is a change, whatever it
    holds. None where the time is not enough."""
    out = Prints()
    try:
        roots = roots_of(frame, modules)
        look = _Look(held, slots, moved_from, roots, out.referred)
        for name, value in roots.items():
            look.add(out, name, value)
        look.add_local_classes(out)
        out["process:@settings"] = look.fingerprint(settings())
    except _Late:
        return None
    return out


def changed(before, after):
    """Returns the paths that differ. A variable that only came or went does not count: its name shows in the text. A member does.
    Nor do functions and classes of a module that was imported since."""
    if before is None or after is None:
        return []
    defined = only_defined(before, after)
    return sorted(path for path in {**before, **after} if before.get(path) != after.get(path) and path not in defined and
                  (path in before and path in after or ("." in path or ":" in path) and not path.endswith(_CLASS)))


class _Held:
    """`which`: the object of a name, or None where it may be any. `unsaved`: what a checkpoint does not have of it; None of an object that
    the variable was bound to since, and which has that for itself."""

    def __init__(self, which, unsaved):
        self._which, self._unsaved = which, unsaved

    def __eq__(self, other):
        return isinstance(other, _Held) and self._which == other._which and (None in (self._unsaved, other._unsaved) or self._unsaved == other._unsaved)


class _Look:
    def __init__(self, held, slots, moved_from, roots, referred=None):
        self._moved_from = moved_from
        self._end = time.monotonic() + _SECONDS
        self._has_loader, self._is_unsaved = False, False  # what is being looked at
        # Values of variables and members. Each is compared by itself, so it is left out where another object refers to it.
        self._roots = roots
        self._with_path = {}
        for name, value in roots.items():
            self._with_path.setdefault(id(value), name)
            for member, item in (members_of(value) or {}).items():
                self._with_path.setdefault(id(item), f"{name}.{member}")
        self._referred, self._owner = {} if referred is None else referred, None  # as in Prints, and the object that is looked at
        self._slots = slots
        self._kinds = {}  # class → Kind
        self._known = {}  # digests of memory
        self._held, self._pointers, self._alive = set(), {}, []
        self._local_classes = []
        self._inner = {}  # id of a held object → the modules, optimizers and the like that are held with it
        for value in [*default_generators(), *held]:
            self._found = self._inner.setdefault(id(value), [])
            self._hold(value)
        self._starts = sorted(self._pointers)

    def _hold(self, value, depth=0):
        """Leaves out an object of a block or guard with all that is saved with it, also where it is reached otherwise."""
        if time.monotonic() > self._end:
            raise _Late
        if isinstance(value, _SIMPLE) or id(value) in self._held or depth > _DEEPEST or callable(value) and dict_of(value) is None:
            return
        if isinstance(value, KEPT):
            return  # a function, a class or a module of Python, of which a checkpoint has the name alone
        self._held.add(id(value))
        self._alive.append(value)
        self._kind_of(value)
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Tensor):
            if value.layout == torch.strided and value.numel() > 0:
                size = max(value.numel() * value.element_size(), self._pointers.get(value.data_ptr(), 0))
                self._pointers[value.data_ptr()] = size
            return
        if torch is not None and isinstance(value, torch.nn.Module):
            self._found.append(value)
            parts = [*value.parameters(), *value.buffers()]
            self._held.update(id(part) for part in value.modules())
            self._alive.extend(value.modules())
        elif torch is not None and isinstance(value, torch.optim.Optimizer):
            self._found.append(value)
            parts = [value.state, *value.state.values(), *[{**group, "params": None} for group in value.param_groups]]
        elif is_stateful(value):
            self._found.append(value)
            parts = [value.state_dict(), *modules_in(value, self._end)]
        elif isinstance(value, dict):
            parts = list(value.values())
        elif isinstance(value, (list, tuple, set, frozenset, collections.deque)):
            parts = list(value)
        else:
            parts = list((dict_of(value) or {}).values())
        for part in parts:
            self._hold(part, depth + 1)

    def _covers(self, begin, size):
        """Do tensors that are held lie in all of this memory, together?"""
        end = begin + size
        while 0 < begin < end:
            step = self._pointers.get(begin)
            if step is None:
                index = bisect.bisect(self._starts, begin) - 1
                step = self._starts[index] + self._pointers[self._starts[index]] - begin if index >= 0 else 0
            if step <= 0:
                return False
            begin += step
        return begin >= end > 0

    def add(self, out, name, value):
        if name in self._slots or id(value) in self._held:
            out[name] = self._of_held(name, value)
            return
        members = members_of(value)
        place = None if self._moved_from is None or isinstance(value, _SIMPLE) else self._moved_from(name, value)
        if members is None:
            out[name] = (self.fingerprint(value), place, self._unsaved(name, value))
        else:
            self._kind_of(value)
            # Members of its class are members of it.
            out[name] = (self.fingerprint(None if type(value) in self._local_classes else type(value)), place)
            for member, item in members.items():
                path = f"{name}.{member}"
                is_held = path in self._slots or id(item) in self._held
                out[path] = self._of_held(path, item) if is_held else (
                    self.fingerprint(item, has_loader=is_of_loader(value)), None, self._unsaved(path, item))

    def _unsaved(self, path, value):
        """Returns what _of_held() would say if the value were held, where a checkpoint might not have all of it; else None."""
        torch = sys.modules.get("torch")
        if torch is None or not isinstance(value, (torch.nn.Module, torch.optim.Optimizer)) and not is_stateful(value):
            return None
        return _Look([value], {path}, self._moved_from, self._roots, self._referred)._of_held(path, value)

    def _kind_of(self, value):
        """Returns what there is to know of its class. One that a function defines is noted."""
        known = self._kinds.get(type(value))
        if known is None:
            known = self._kinds[type(value)] = Kind(value)
            if known.is_local:
                self._local_classes.append(type(value))
        return known

    def add_local_classes(self, out):
        """What a class has that a function defines, or what its methods and properties keep, is no part of its objects."""
        for kind in self._local_classes:  # which may be more by then
            out.setdefault(kind.__qualname__ + _CLASS, []).append(self.fingerprint(kind, True))

    def _of_held(self, path, value):
        """Another object of this name is a change, where it is no slot; and so is what a module has and no checkpoint holds."""
        is_slot = path in self._slots
        if is_slot and self._moved_from is not None and self._moved_from(path, value) is not None:
            return _Held(None, None)
        unsaved = [part for inner in self._inner.get(id(value)) or [value] for part in unsaved_of(inner, is_slot or inner is not value)]
        self._owner = path
        print_of = self.fingerprint(unsaved, True)
        self._owner = None
        return _Held(None if is_slot else id(value), print_of)

    def fingerprint(self, value, is_unsaved=False, has_loader=False):
        words, self._seen, self._visited = Words(), {}, []
        self._put = words.put
        self._is_unsaved, self._has_loader = is_unsaved, has_loader
        self._deep = [value]  # what is left to be looked at, such as the rest of a long linked list
        while self._deep:
            self._feed(self._deep.pop(), 0)
        return words.digest()

    def _feed(self, value, depth):
        if time.monotonic() > self._end:
            raise _Late
        if type(value) in _SIMPLE_KINDS or isinstance(value, _SIMPLE):
            return self._feed_simple(value)
        is_compared = self._is_unsaved and id(value) in self._with_path
        if is_compared:
            self._note_reference(self._with_path[id(value)])
        if is_compared or id(value) in self._held:
            return self._put("held")
        if id(value) in self._seen:
            return self._put("same", self._seen.get(id(value)))
        if depth > _DEEPEST:
            return self._deep.append(value)
        self._seen[id(value)] = len(self._seen)
        self._visited.append(value)
        kind = self._kind_of(value)
        self._put(kind.name)
        self._has_loader |= kind.is_of_loader
        if kind.names_types:
            return self._put(repr(value))
        if kind.is_passed_over:
            return None
        plain = _plain.digest_of(value)
        if plain is not None:
            self._put(plain)
        elif not self._feed_memory(value):
            for part in self._parts(value):
                self._feed(part, depth + 1)
        return None

    def _feed_simple(self, value):
        if isinstance(value, (str, bytes)) and len(value) > _TEXT or isinstance(value, int) and value.bit_length() > _TEXT:
            return self._put(type(value).__name__, hash(value))  # Python keeps it with a text
        return self._put(type(value).__name__, value)

    def _feed_memory(self, value):
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        try:
            if torch is not None and isinstance(value, torch.Tensor):
                size = value.numel() * value.element_size()
                for part in added_to(value):
                    self._feed(part, 1)
                if value.layout != torch.strided:
                    self._feed(of_sparse(value), 1)
                    return True
                if self._covers(value.data_ptr(), size):
                    self._put("held")
                    return True
                self._put(list(value.shape), str(value.dtype), value.requires_grad)
                self._feed(plain_of(value.grad) if value.is_leaf else None, 1)
                if size > _SAMPLED or value.device.type != "cpu":
                    self._put(version_of(value))
                if value.device.type != "cpu":
                    step = max(1, value.numel() // 1024)
                    self._put(value.detach().reshape(-1)[::step].tolist() if value.is_contiguous() else value.data_ptr())
                elif size <= _LARGE or value.is_contiguous():
                    self._put(self._digest(value, lambda: _leaves.of_tensor("", value)))
                return True
            if numpy is not None and isinstance(value, numpy.ndarray) and not value.dtype.hasobject:
                self._put(value.shape, value.dtype.str)
                if isinstance(value, numpy.ma.MaskedArray):
                    self._feed(numpy.ma.getmaskarray(value), 1)
                if _leaves.is_in_file(value) and not value.flags.writeable:
                    return True  # a data set, which may be larger than the memory
                is_readable = value.flags.c_contiguous or value.nbytes <= _LARGE
                self._put(self._digest(value, lambda: _leaves.of_memory(value)) if is_readable else self._doubt())
                return True
            if isinstance(value, (array.array, mmap.mmap)):
                with memoryview(value) as memory:
                    is_mapped = isinstance(value, mmap.mmap)
                    self._put(self._doubt() if is_mapped and not memory.readonly else len(memory), mmap.mmap.tell(value) if is_mapped else 0)
                    if not is_mapped:
                        self._put(hashlib.blake2b(memory, digest_size=16).digest())
                return True
        except (TypeError, RuntimeError, ValueError):
            self._put(version_of(value) if torch is not None and isinstance(value, torch.Tensor) else None)  # quantized and the like
            return True
        return False

    def _digest(self, value, leaf_of):
        if id(value) not in self._known:
            leaf = leaf_of()
            is_tensor = type(leaf.owner).__module__.split(".")[0] == "torch"
            whole, many = (_SAMPLED, _SAMPLES) if is_tensor else (_LARGE if _leaves.is_in_file(value) else _WHOLE, _MANY)
            self._known[id(value)] = (digests_of(leaf, whole, many), value)
        return self._known[id(value)][0]

    def _parts(self, value):
        if isinstance(value, dict):
            keys = collections.OrderedDict.__iter__(value) if isinstance(value, collections.OrderedDict) else dict.keys(value)
            yield from list(keys)  # the first has an order of its own
            yield from list(dict.values(value))
        elif isinstance(value, (list, tuple, set, frozenset, collections.deque)):
            kind = next(kind for kind in CONTAINERS if isinstance(value, kind))
            yield from list(kind.__iter__(value))  # not by a method of a subclass
        if isinstance(value, (dict, list, tuple, set, frozenset, collections.deque)):
            yield dict_of(value)
        elif isinstance(value, types.FunctionType):
            self._put(*identity_of(value))
            yield from [part for part in (value.__defaults__, value.__kwdefaults__, value.__dict__) if part]
            cells = zip(value.__code__.co_freevars, value.__closure__ or ())
            yield from [cell.cell_contents for name, cell in cells if is_filled(cell) and not self._is_root(name, cell.cell_contents)]
        elif isinstance(value, type):
            yield from (value.__module__, value.__qualname__)
            if value.__module__ in sys.modules and is_users_module(sys.modules[value.__module__]):
                yield from [item for name, item in sorted(vars(value).items()) if not name.startswith("__")]
        elif isinstance(value, types.GeneratorType):
            yield from (value.gi_frame.f_lasti, locals_of(value.gi_frame), value.gi_yieldfrom) if value.gi_frame else ()
        else:
            yield from self._parts_of_object(value)

    def _is_root(self, name, value):
        """Is it a variable that is compared by itself, and a class refers to it?"""
        is_one = self._is_unsaved and self._roots.get(name, self) is value
        if is_one:
            self._note_reference(name)
        return is_one

    def _note_reference(self, path):
        """An object that is held computes with what it refers to, as a network with a queue that it was given."""
        if self._owner is not None:
            self._referred.setdefault(path, self._owner)

    def _parts_of_object(self, value):
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Generator):
            yield value.get_state()
        elif (contents := contents_of(value)) is not None:
            yield self._doubt() if contents is UNKNOWN else contents
            yield dict_of(value) if not isinstance(value, HOLDERS) else None
        elif type(value).__module__ == "multiprocessing.connection":
            yield self._doubt()  # to a process with a state of its own, as a simulator's
        elif type(value).__module__ == "multiprocessing.queues" and not self._has_loader:
            yield self._doubt()
        elif type(value).__module__ in _OF_WORKERS:
            return  # a process, or a queue of a data loader
        else:
            yield dict_of(value)
            yield from (item for _, item in slots_of(value))
            if dict_of(value) is None or type(value).__reduce__ is not object.__reduce__:
                yield self._reduced(value)

    def _reduced(self, value):
        """Returns what Python would pickle of an object: an iterator's position, a generator's state. Of a class that the user
        wrote, it asks the class that this one is made from, and runs none of the user's code. What cannot be told counts as changed,
        but for what belongs to the machine."""
        kind = base_of(value)
        try:
            if kind is type(value):
                return value.__reduce_ex__(2)
            return None if kind.__reduce__ is object.__reduce__ else kind.__reduce__(value)
        except Exception as problem:
            if is_programs(problem):
                raise
            return self._doubt() if type(value).__module__.split(".")[0] not in _OF_THE_MACHINE else None

    def _doubt(self):
        """Returns what equals nothing: the value counts as changed."""
        return ("unknown", next(_doubts))
