"""The variables that a look at a program begins with, and which of their members are places of their own (_seen.py)."""
import collections
import enum
import inspect
import sys
import types

from ._attributes import dict_of, slots_of
from ._frames import is_of_flor, locals_of
from ._kinds import is_pythons_own
from ._settable import is_settable

CONTAINERS = (dict, list, tuple, set, frozenset, collections.deque)


def roots_of(frame, modules):
    """Returns the variables that a frame can see, and those of the `modules` other than its own, as {name: value}. A variable of the
    frame's module that a local one hides is named as that of another module: "module:name"."""
    own, code = frame.f_globals, frame.f_code
    local = {*code.co_varnames, *code.co_cellvars, *code.co_freevars} if code.co_flags & inspect.CO_OPTIMIZED else ()
    roots = {f"{own.get('__name__')}:{name}" if name in local else name: value for name, value in list(own.items())}
    roots.update(locals_of(frame))
    for module in modules:
        if vars(module) is not own:
            roots.update({f"{module.__name__}:{name}": value for name, value in list(vars(module).items())})
    return {name: value for name, value in roots.items() if not is_pythons_own(name.rpartition(":")[2]) and
            not isinstance(value, types.ModuleType) and not is_of_flor(value)}


def root_of(path):
    """Returns the variable that a path begins with: "x" of "x.member", "package.module:x" of "package.module:x.member"."""
    module, colon, name = path.rpartition(":")
    return module + colon + name.partition(".")[0]


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
