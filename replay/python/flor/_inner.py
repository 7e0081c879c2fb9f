"""The modules that an object with state_dict() has. Its state has their values as a rule, but neither flags nor attributes."""
import collections
import sys
import types

from ._attributes import dict_of, slots_of
from ._settable import is_of_loggers

_MOST = 200_000  # objects that are searched for modules
_NEVER = (str, bytes, bytearray, int, float, complex, bool, type(None), type, types.FunctionType, types.MethodType, types.BuiltinFunctionType,
          types.ModuleType)
_CONTAINERS = (list, tuple, set, frozenset, collections.deque)


def modules_in(value, must=False):
    """Returns the outermost modules that an object refers to by attributes, lists, dicts and objects of its own, the nearest first. Raises
    TypeError where there is too much to look through and all `must` be found."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "nn") or type(value).__module__.startswith("torch."):
        return []
    never = (*_NEVER, torch.Tensor, torch.optim.Optimizer, torch.Generator)
    found, seen, todo = [], set(), collections.deque([value])
    while todo and len(seen) < _MOST:
        one = todo.popleft()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, torch.nn.Module):
            found.append(one)
            seen.update(id(part) for part in one.modules())
        else:
            todo.extend(item for item in _parts_of(one) if not isinstance(item, never))
    if todo and must:
        raise TypeError(f"an object of type {type(value).__qualname__} refers to too many others")
    return found


def _parts_of(value):
    if isinstance(value, dict):
        return list(dict.values(value))
    if isinstance(value, _CONTAINERS):
        return list(value)
    return [] if is_of_loggers(type(value)) else [*(dict_of(value) or {}).values(), *(item for _, item in slots_of(value))]


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
