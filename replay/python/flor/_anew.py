"""What a restore can make where the program has no such object: containers, and objects of the program's own classes. What it could not make is
not saved, so that it is known while the program is recorded."""
import collections
import enum
import functools
import random
import sys
import types

from ._holders import path_of
from ._kinds import FACTORIES, factory_of, is_stateful, name_of_kind
from ._objects import _numpy, _torch
from ._program import program_of

# Containers that can be made anew where the program has none at the recorded place.
MADE_ANEW = {name_of_kind(kind): kind for kind in (dict, list, tuple, set, frozenset, collections.deque, collections.OrderedDict, collections.defaultdict,
                                               collections.Counter)}


class Classes:
    """The classes of the user's by their full names. Each is looked for once: a state may have very many objects of one."""

    def __init__(self):
        self._known = {}

    def made_anew(self, name):
        """Returns a new object without its attributes; None if there is no such class."""
        kind = self._class_named(name)
        return None if kind is None else object.__new__(kind)

    def named_tuple(self, name):
        """Returns an empty tuple of a class that has names for its items; None if there is no such class."""
        kind = self._class_named(name)
        return tuple.__new__(kind) if kind is not None and issubclass(kind, tuple) and hasattr(kind, "_fields") else None

    def enumeration(self, name):
        """Returns an enumeration, also one of a package; None if there is no such class."""
        kind = self._class_named(name) or _in_loaded_module(name)
        return kind if isinstance(kind, type) and issubclass(kind, enum.Enum) else None

    def factory(self, name):
        """Returns what a defaultdict makes its values by, by the name that a record has; None if nothing of that name can be found. Of
        the program's classes and functions only one that its text gives to a defaultdict: a record chooses none to be called."""
        if name in FACTORIES:
            return FACTORIES[name]
        found = self._named(name) if isinstance(name, str) else None
        return found if found is not None and name.rpartition(".")[2] in _factories_of_program() else None

    def can_make(self, value, kind_there):
        """Can a restore make such a value where an object of a class `kind_there` is, or None?"""
        torch, numpy, kind = _torch(), _numpy(), type(value)
        if isinstance(value, collections.defaultdict):
            return kind is collections.defaultdict and self.can_make_values(value)
        if torch is not None and isinstance(value, torch.Tensor):
            return kind in (torch.Tensor, torch.nn.Parameter) or kind.__module__ == f"{__package__}._left_out"
        if torch is not None and isinstance(value, (torch.nn.Module, torch.Generator, torch.Size)) or kind is bytearray or kind is random.Random:
            return True
        if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
            return kind is numpy.ndarray or isinstance(value, numpy.generic)
        if kind is kind_there:
            return True
        if torch is not None and isinstance(value, torch.optim.Optimizer):
            return False
        if is_stateful(value):  # of which a saver decides
            return True
        if isinstance(value, (dict, list, tuple, set, frozenset, collections.deque)):
            return name_of_kind(kind) in MADE_ANEW or self.named_tuple(name_of_kind(kind)) is not None
        return self._class_named(name_of_kind(kind)) is kind

    def can_make_values(self, value):
        """Can what a defaultdict makes its values by be found by its name?"""
        name, factory = factory_of(value), value.default_factory
        return self.factory(name) is factory and (factory is None) == (name == "None")

    @staticmethod
    def can_be_view(value):
        """Can it be made as a view of other memory? A parameter cannot."""
        torch, numpy, kind = _torch(), _numpy(), type(value)
        if torch is not None and isinstance(value, torch.Tensor):
            return kind is torch.Tensor or kind.__module__ == f"{__package__}._left_out"
        return numpy is not None and kind is numpy.ndarray

    def _class_named(self, name):
        found = self._named(name)
        return found if isinstance(found, type) else None

    def _named(self, name):
        if name not in self._known:
            self._known[name] = _in_users_module(name)
        return self._known[name]


def _in_users_module(name):
    """Returns the class or function of the program's of a full name, or None."""
    from ._runtime import users_modules

    return next((found for module in users_modules() if (found := _in_module(module, name)) is not None), None)


def _in_loaded_module(name):
    words = name.split(".")
    modules = [sys.modules.get(".".join(words[:count])) for count in range(len(words) - 1, 0, -1)]
    found = [_in_module(module, name) for module in modules if isinstance(module, types.ModuleType)]
    return next((one for one in found if one is not None), None)


def _in_module(module, name):
    found = module
    if not name.startswith(module.__name__ + "."):
        return None
    for word in name[len(module.__name__) + 1:].split("."):
        found = vars(found).get(word) if isinstance(found, (type, types.ModuleType)) else None
    return found if isinstance(found, (type, types.FunctionType)) and name_of_kind(found) == name else None


def _factories_of_program():
    """Returns the last words of what the program's text gives to a defaultdict."""
    from ._runtime import users_modules

    return {word for module in users_modules() for word in _factories_in(module.__file__)}


@functools.lru_cache(None)
def _factories_in(file):
    program = program_of(file)
    calls = program.calls() if program is not None else []
    given = [path_of(call.args[0]) for call in calls if call.args and (path_of(call.func) or "").split(".")[-1] == "defaultdict"]
    return {path.split(".")[-1] for path in given if path}
