"""What a restore can make where the program has no such object: containers, and objects of the program's own classes. What it could not make is
not saved, so that it is known while the program is recorded."""
import collections
import enum
import random
import types

from ._kinds import factory_of, is_stateful, name_of_kind
from ._objects import _numpy, _torch

# Containers that can be made anew where the program has none at the recorded place.
MADE_ANEW = {name_of_kind(kind): kind for kind in (dict, list, tuple, set, frozenset, collections.deque, collections.OrderedDict, collections.defaultdict,
                                               collections.Counter)}


class Classes:
    """The classes of the user's by their full names. Each is looked for once: a state may have very many objects of one."""

    def __init__(self):
        self._known = {}

    def made_anew(self, name):
        """Returns a new object without its attributes; None if there is no such class."""
        kind = self._named(name)
        return None if kind is None else object.__new__(kind)

    def named_tuple(self, name):
        """Returns an empty tuple of a class that has names for its items; None if there is no such class."""
        kind = self._named(name)
        return tuple.__new__(kind) if kind is not None and issubclass(kind, tuple) and hasattr(kind, "_fields") else None

    def enumeration(self, name):
        kind = self._named(name)
        return kind if kind is not None and issubclass(kind, enum.Enum) else None

    def can_make(self, value, kind_there):
        """Can a restore make such a value where an object of a class `kind_there` is, or None?"""
        torch, numpy, kind = _torch(), _numpy(), type(value)
        if isinstance(value, collections.defaultdict):
            return kind is collections.defaultdict and factory_of(value) is not None
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
        return self._named(name_of_kind(kind)) is kind

    @staticmethod
    def can_be_view(value):
        """Can it be made as a view of other memory? A parameter cannot."""
        torch, numpy, kind = _torch(), _numpy(), type(value)
        if torch is not None and isinstance(value, torch.Tensor):
            return kind is torch.Tensor or kind.__module__ == f"{__package__}._left_out"
        return numpy is not None and kind is numpy.ndarray

    def _named(self, name):
        if name not in self._known:
            self._known[name] = _class_named(name)
        return self._known[name]


def _class_named(name):
    from ._runtime import users_modules

    for module in users_modules():
        kind = module
        if name.startswith(module.__name__ + "."):
            for word in name[len(module.__name__) + 1:].split("."):
                kind = vars(kind).get(word) if isinstance(kind, (type, types.ModuleType)) else None
        if isinstance(kind, type) and name_of_kind(kind) == name:
            return kind
    return None
