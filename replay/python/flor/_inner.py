"""The modules that an object with state_dict() has. Its state has their values as a rule, but neither flags nor attributes."""
import collections
import functools
import sys
import time
import types

from ._attributes import dict_of, slots_of
from ._plain import is_plain
from ._settable import is_of_loggers

_MOST, _MANY = 200_000, 256  # objects that are searched for modules; items of a container, which are data as a rule
_NEVER = (str, bytes, bytearray, int, float, complex, bool, type(None), type, types.FunctionType, types.MethodType, types.BuiltinFunctionType,
          types.ModuleType)
_ATOMS = frozenset(_NEVER)  # of these very types most values are
_CONTAINERS = (list, tuple, set, frozenset, collections.deque)


class Late(Exception):
    """There is no time left."""


def modules_in(value, end=None):
    """Returns the outermost modules that an object refers to by attributes, lists, dicts and objects of its own, the nearest first, and
    those of large containers last; of very many objects, those that are found by then. What lies behind is compared as other attributes
    are that no checkpoint has (_unsaved.py). Raises Late where the clock is behind `end`."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "nn") or type(value).__module__.startswith("torch."):
        return []
    never = (*_NEVER, torch.Tensor, torch.optim.Optimizer, torch.Generator)
    found, seen, todo, far = [], set(), collections.deque([value]), collections.deque()
    while (todo or far) and len(seen) < _MOST:
        one = (todo or far).popleft()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, torch.nn.Module):
            found.append(one)
            seen.update(id(part) for part in one.modules())
        else:
            parts = _parts_of(one)
            (todo if len(parts) < _MANY else far).extend(item for item in parts if type(item) not in _ATOMS and not isinstance(item, never))
        if end is not None and len(seen) % 1024 == 0 and time.monotonic() > end:
            raise Late
    return found


def _parts_of(value):
    if isinstance(value, dict):
        return [] if is_plain(value) else list(dict.values(value))
    if isinstance(value, _CONTAINERS):
        return [] if is_plain(value) else list(value)
    if _is_of_loggers(type(value)):
        return []
    own = dict_of(value)
    inner = list(own.values()) if own else []
    return inner + [item for _, item in slots_of(value)] if _has_slots(type(value)) else inner


@functools.lru_cache(1024)
def _has_slots(kind):
    return any(isinstance(item, types.MemberDescriptorType) for one in kind.__mro__ for item in vars(one).values())


_is_of_loggers = functools.lru_cache(1024)(is_of_loggers)


def memories_in(state):
    """Returns what tells the memory of each tensor in a state."""
    found, seen, todo = set(), set(), [state]
    while todo:
        one = todo.pop()
        if isinstance(one, sys.modules["torch"].Tensor):
            found.add(memory_of(one))
        elif isinstance(one, (dict, list, tuple)) and id(one) not in seen:
            seen.add(id(one))
            todo.extend(dict.values(one) if isinstance(one, dict) else one)
    return found


def memory_of(tensor):
    """Returns what tells the elements of a tensor from those of others, while it lives."""
    if tensor.layout != sys.modules["torch"].strided:
        return id(tensor)
    return str(tensor.device), tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride()
