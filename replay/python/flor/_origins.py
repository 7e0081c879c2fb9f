"""Which objects there were when a main loop or a block began, and where.

A variable may be bound to another of them later (`cur = choices[1]`, `a, b = b, a`), or to a view of one (`row = data[3]`).
Restoring must then bind it to the same object, and write into no other. So a checkpoint says of each object that is not where
it was at the beginning: where that one was, or that it is new (_marker.py)."""
import collections
import enum
import sys
import types
import weakref

from . import _leaves, _plain
from ._attributes import dict_of, is_filled, slots_of
from ._leaves import label, storage_of
from ._looked_at import NO_STATE, NOT_LOOKED_AT

MARKS = _leaves.VOLATILE + "@origins"  # the leaf with {name: mark}; no digest has it
_SIMPLE = (bool, int, float, complex, str, bytes, type(None), types.ModuleType, types.MethodType)
_MOST = 500_000  # objects


class TooMany(Exception):
    """To remember all objects would take too much memory."""


class _Strong:
    """In place of a weak reference, which a list or dict cannot have."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __call__(self):
        return self.value


def _weak(value):
    """Returns a weak reference, or None where there can be none. Of a tensor that PyTorch may swap in place there must be none:
    torch.utils.swap_tensors() refuses one with weak references, as Module.to() does for subclasses of tensors."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor) and hasattr(torch.utils, "swap_tensors"):
        if type(value) not in (torch.Tensor, torch.nn.Parameter) or torch.__future__.get_swap_module_params_on_conversion():
            return None
    try:
        return weakref.ref(value)
    except TypeError:
        return None


class Origins:
    """The objects that can be reached from `roots`, pairs of a name and a value; each by the name under which a Saver
    would save it: "net", "choices.1", "run.best". `is_whole`: without the parts of modules and optimizers. Keeps nothing alive but
    lists and dicts, until the next prune(). Raises TooMany."""

    def __init__(self, roots, is_whole=False):
        self._by_name, self._by_id, self._strong, self._of_memory = {}, {}, [], None
        self._factories = {}  # of defaultdicts, which may be gone, by their first names
        self.is_whole = is_whole
        self.extend(roots)

    def extend(self, roots):
        """Remembers more objects, before anything has changed."""
        waiting = collections.deque(roots)
        while waiting:
            if len(self._by_name) > _MOST:
                raise TooMany
            name, value = waiting.popleft()
            if (not isinstance(value, _SIMPLE) or isinstance(value, enum.Enum)) and self._is_new(name, value):
                waiting.extend(self._parts_of(name, value))

    def _is_new(self, name, value):
        known = self._by_id.get(id(value))
        if known is None:
            known = (name, _weak(value) or _Strong(value), type(value))
            if isinstance(known[1], _Strong):
                self._strong.append(known[1])
            self._by_id[id(value)] = self._by_name[name] = known
            if isinstance(value, collections.defaultdict):
                self._factories[name] = value.default_factory
            return True
        self._by_name.setdefault(name, known)
        return False

    def knows(self, name):
        """Was there an object of this name?"""
        return self._known(name) is not None

    def get(self, name):
        """Returns the object of this name, or None where it is gone."""
        known = self._known(name)
        return known[1]() if known else None

    def kind_at(self, name):
        """Returns the class of the object of this name, also where that is gone; None where there was none."""
        known = self._known(name)
        return known and known[2]

    def factory_at(self, name):
        """Returns what the defaultdict of this name makes its values by, also where that is gone; None where there was none."""
        return self._factories.get(self.first_name(name))

    def would_know(self, name):
        """Would an object that is now a part of another one be known if it had been there?"""
        outer = name.rpartition(".")[0]
        return not outer or any(place == name for place, _ in self._parts_of(outer, self.get(outer)))

    def first_name(self, name):
        """Returns the first name of the object of this name, also where that is gone; None where there was none."""
        known = self._known(name)
        return known and known[0]

    def _known(self, name):
        """An object may have several names, and what belongs to it is known by the first: "self.net" by "run.net"."""
        known, cut = self._by_name.get(name), len(name)
        while known is None:
            cut = name.rfind(".", 0, cut)
            outer = self._by_name.get(name[:cut]) if cut > 0 else None
            if cut <= 0 or outer and outer[0] == name[:cut]:
                return None
            known = outer and self._known(outer[0] + name[cut:])
        return known

    def name_of(self, value):
        """Returns the first name of an object that was there, or None."""
        known = self._by_id.get(id(value))
        return known[0] if known and value is not None and known[1]() is value else None

    def is_id(self, number):
        """Is a number the id of one of these objects, which still lives?"""
        known = self._by_id.get(number)
        return known is not None and id(known[1]()) == number

    def moved_from(self, name, value):
        """Returns None where an object is in its place, or belongs to none; else where it was, or "new"."""
        if isinstance(value, (tuple, frozenset, type, types.FunctionType)) or self.get(name) is value:
            return None
        return self.name_of(value) or "new"

    def with_memory_of(self, value):
        """Returns the name of a tensor or array that was there, and whose memory this one shares; or None."""
        if self._of_memory is None:
            self._of_memory = {}
            for name, reference, _ in self._by_id.values():
                memory = memory_of(reference())
                if memory is not None:
                    self._of_memory.setdefault(memory, []).append((name, reference))
        memory = memory_of(value)
        # Memory that was freed may have been given out again.
        return next((name for name, reference in self._of_memory.get(memory, ()) if memory_of(reference()) == memory), None)

    def like(self, module):
        """Returns the name of a module that was there, of the same class and with parts of the same shapes; or None."""
        for name, reference, _ in self._by_id.values():
            other = reference()
            if type(other) is type(module) and _shape_of(other) == _shape_of(module):
                return name
        return None

    def prune(self):
        """Lets go of lists and dicts that nothing else refers to."""
        for strong in self._strong:
            if sys.getrefcount(strong.value) <= 2:  # this one's, and the call's
                strong.value = None
        self._strong = [strong for strong in self._strong if strong.value is not None]

    def _parts_of(self, name, value):
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, (torch.Tensor, torch.Generator)):
            return []
        if torch is not None and isinstance(value, (torch.nn.Module, torch.optim.Optimizer)) and self.is_whole:
            return []
        if torch is not None and isinstance(value, torch.nn.Module):
            return _parts_of_module(name, value)
        if _plain.is_plain(value):
            return []
        if isinstance(value, dict):
            return [(f"{name}.{label(key, index)}", item) for index, (key, item) in enumerate(list(dict.items(value)))
                    if type(item) not in _SIMPLE]
        if isinstance(value, (list, tuple, collections.deque)):
            return [(f"{name}.{index}", item) for index, item in enumerate(list(value)) if type(item) not in _SIMPLE]
        if isinstance(value, types.FunctionType):
            return [*((f"{name}.@cell{index}", cell.cell_contents) for index, cell in enumerate(value.__closure__ or ()) if is_filled(cell)),
                    (f"{name}.@defaults", value.__defaults__)]
        if isinstance(value, type) and not _is_looked_into(value) or type(value).__module__.split(".")[0] in ("flor", *NO_STATE):
            return []
        if type(value).__name__ in NOT_LOOKED_AT:
            return []
        attributes = [*(dict_of(value) or {}).items(), *slots_of(value)]
        return [(f"{name}.{key}", item) for key, item in attributes if not key.startswith("__")]


def _parts_of_module(name, module):
    own = vars(module)
    parts = [(f"{name}.{key}", part) for kind in ("_parameters", "_buffers", "_modules") for key, part in own[kind].items()]
    # Of the outermost module a Saver has two points.
    return parts + [(f"{name}{points}@plain.{key}", item) for key, item in own.items() if key not in ("_parameters", "_buffers", "_modules")
                    for points in (".", "..")]


def _is_looked_into(kind):
    from ._runtime import is_users

    module = sys.modules.get(kind.__module__)
    return module is not None and is_users(module)


def memory_of(value):
    """Returns what tells the memory of a tensor or array from any other, while it lives; a view has that of the whole. None: it has none
    that could be told."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        try:
            if value.layout != torch.strided or value.numel() == 0:
                return None
            return ("tensor", storage_of(value).data_ptr(), str(value.device))
        except (RuntimeError, NotImplementedError):
            return None
    if numpy is not None and isinstance(value, numpy.ndarray) and value.size > 0:
        return ("array", id(whole_of(value)))
    return None


def whole_of(array):
    """Returns the array whose memory a view shows."""
    numpy = sys.modules["numpy"]
    while isinstance(array.base, numpy.ndarray):
        array = array.base
    return array


def _shape_of(module):
    """Returns the tensors' names, shapes and types, and what other attributes the parts have."""
    tensors = [*module.named_parameters(), *module.named_buffers()]
    return [(name, tuple(tensor.shape), tensor.dtype) for name, tensor in tensors], [sorted(vars(part)) for part in module.modules()]


def place_of(name):
    """Returns the place of an object that is saved under a name."""
    return name.lstrip(_leaves.VOLATILE + "@")


def place_in(name, marks, here, first):
    """Returns where a restore looks for what is saved under a name: in which Origins, of the state or of the main loop, and at what place;
    (None, "") where it is a part of an object that it makes."""
    cut = name.rfind(_leaves.MOVED + ".")
    end = cut + len(_leaves.MOVED)
    rest = name[end if cut >= 0 else 0:]
    rest = rest[:-len(_leaves.MOVED)] if rest.endswith(_leaves.MOVED) else rest
    if cut < 0:
        mark = marks.get(name) or {}
        return (first, mark["at"]) if "at" in mark else (here, place_of(rest))
    mark = marks.get(name[:end]) or {}
    return (first, mark["at"] + rest) if "at" in mark else (None, "")


def view_of(whole, mark, node, shape):
    """Returns the view that a mark tells of, as it was made when its state was saved: an array in an array, a tensor in a tensor.
    Raises TypeError, ValueError or RuntimeError where it tells of none. A record, which may be another user's, must make no array of
    objects: the bytes of the whole would be their pointers. And no view of other memory: NumPy and PyTorch compute where it lies in 64
    bits, which may overflow."""
    numpy, torch, kind = sys.modules.get("numpy"), sys.modules.get("torch"), next(iter(node))
    if kind == "array" and numpy is not None and isinstance(whole, numpy.ndarray):
        dtype = numpy.dtype(str(node.get("dtype")))
        owner = whole_of(whole)
        if not dtype.hasobject:
            _refuse_other_memory(shape, mark["stride"], mark["offset"], dtype.itemsize, owner.nbytes)
            return numpy.ndarray(shape, dtype, owner.reshape(-1).view(numpy.uint8), mark["offset"], mark["stride"])
    if kind == "tensor" and torch is not None and isinstance(whole, torch.Tensor):
        begin = mark["offset"] + (whole.storage_offset() if "in" in mark else 0)
        _refuse_other_memory(shape, mark["stride"], begin, 1, storage_of(whole).nbytes() // whole.element_size())
        return whole.detach().as_strided(shape, mark["stride"], begin)
    raise TypeError("it is no view of this object")


def _refuse_other_memory(shape, strides, begin, size, end):
    """Raises ValueError unless each element, of `size`, lies in memory from 0 to `end`, as Python's integers say, which have any size."""
    if len(shape) != len(strides) or not all(type(one) is int for one in (begin, *shape, *strides)) or min(shape, default=0) < 0:
        raise ValueError("its place is no number")
    ways = [(count - 1) * stride for count, stride in zip(shape, strides)] if 0 not in shape else []
    first = begin + sum(way for way in ways if way < 0)
    last = begin + sum(way for way in ways if way > 0)
    if first < 0 or last + size > end + (size if 0 in shape else 0):
        raise ValueError("it lies outside of this object's memory")
