"""The variables that a look at a program begins with, and which of their members are places of their own (_seen.py)."""
import collections
import enum
import sys
import types

from ._attributes import dict_of, slots_of
from ._frames import is_of_flor, locals_of
from ._settable import is_settable

CONTAINERS = (dict, list, tuple, set, frozenset, collections.deque)


def roots_of(frame, modules):
    """Returns the variables that a frame can see, and those of the `modules` other than its own, as {name: value}."""
    roots = {**frame.f_globals, **locals_of(frame)}
    for module in modules:
        if vars(module) is not frame.f_globals:
            roots.update({f"{module.__name__}:{name}": value for name, value in list(vars(module).items())})
    return {name: value for name, value in roots.items() if not name.rpartition(":")[2].startswith("__") and
            not isinstance(value, types.ModuleType) and not is_of_flor(value)}


def members_of(value):
    """Returns the attributes of an object whose members are paths of their own: of a class of the user, or a data loader."""
    torch = sys.modules.get("torch")
    if isinstance(value, (type, enum.Enum, *CONTAINERS)) or callable(value) or dict_of(value) is None:
        return None
    if torch is not None and isinstance(value, (torch.nn.Module, torch.Tensor, torch.optim.Optimizer)):
        return None
    is_named = type(value).__module__.startswith("torch.utils.data") or is_users_module(sys.modules.get(type(value).__module__))
    if not is_named or not is_settable(type(value)) or base_of(value).__reduce__ is not object.__reduce__ or any(True for _ in slots_of(value)):
        return None  # it has more than its __dict__
    return dict(dict_of(value))


def base_of(value):
    """Returns the class of an object, or the nearest one that the user did not write."""
    return next((kind for kind in type(value).__mro__ if not is_users_module(sys.modules.get(kind.__module__))), object)


def is_of_loader(value):
    return type(value).__module__.startswith("torch.utils.data")


def is_users_module(module):
    from ._runtime import is_users

    return module is not None and is_users(module)
