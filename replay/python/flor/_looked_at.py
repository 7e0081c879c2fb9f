"""What a look (_seen.py) has to know of a class: found once a look, and not for each of its objects."""
import sys
import types

from ._contents import HOLDERS
from ._frames import is_of_flor
from ._roots import is_of_loader, is_users_module
from ._settable import OF_LOGGERS

# Objects of these packages are never looked at: what a logger or a progress bar keeps for itself is no state.
NO_STATE = {*OF_LOGGERS, "threading", "_thread", "socket", "subprocess", "weakref", "_weakref",
            "pyarrow"}  # whose tables do not change, and would be copied to be read
NOT_LOOKED_AT = {"ArgumentParser"}  # classes whose objects have many parts, and no state
_TYPES = tuple(getattr(types, name) for name in ("GenericAlias", "UnionType") if hasattr(types, name))  # list[int], int | None


class Kind:
    """`name`: the class's. `is_of_loader`: is it one of torch's loaders? `names_types`: do its objects name types, which nothing changes?
    `is_passed_over`: are its objects never looked at? `is_local`: did a function of the program define it?"""

    __slots__ = ("name", "is_of_loader", "names_types", "is_passed_over", "is_local")

    def __init__(self, value):
        kind = type(value)
        self.name, self.is_of_loader = kind.__qualname__, is_of_loader(value)
        self.names_types = kind.__module__ == "typing" or kind in _TYPES
        self.is_passed_over = issubclass(kind, types.ModuleType) or is_of_flor(value) or kind.__name__ in NOT_LOOKED_AT or \
            kind.__module__.split(".")[0] in NO_STATE and not issubclass(kind, HOLDERS)
        self.is_local = "<locals>" in kind.__qualname__ and is_users_module(sys.modules.get(kind.__module__))
