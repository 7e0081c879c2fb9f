"""What kind of object a value is, as far as its class tells that."""
import collections
import types
import weakref

from ._interrupts import is_programs
from ._settable import is_of_loggers

# Functions, classes and modules: with the objects of loggers, they stay what they are in the program that runs.
KEPT = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type, property,
        weakref.ref)
# What a defaultdict may make its values by, and a record can name.
FACTORIES = {"None": None, **{kind.__name__: kind for kind in (list, dict, set, tuple, int, float, bool, str, collections.deque,
                                                              collections.OrderedDict, collections.Counter)}}


def name_of_kind(kind):
    return f"{kind.__module__}.{kind.__qualname__}"


def is_pythons_own(name):
    """Is it a name that Python itself gives a meaning, such as `__class__` or `__builtins__`?"""
    return name.startswith("__") and name.endswith("__")


def is_stateful(value):
    kind = type(value)  # not of the object, whose own code would run
    return callable(getattr(kind, "state_dict", None)) and callable(getattr(kind, "load_state_dict", None))


def attributes_of(value):
    """Returns the attributes of a plain object, those of __slots__ too, or None where it has none."""
    slots = [name for kind in type(value).__mro__ for name in _slots(kind) if hasattr(value, name)]
    if not slots and not hasattr(value, "__dict__"):
        return None
    return {**getattr(value, "__dict__", {}), **{name: getattr(value, name) for name in slots}}


def _slots(kind):
    slots = kind.__dict__.get("__slots__", ())
    names = [name for name in ((slots,) if isinstance(slots, str) else slots) if name not in ("__dict__", "__weakref__")]
    private = f"_{kind.__name__.lstrip('_')}"
    return [private + name if name.startswith("__") and not name.endswith("__") else name for name in names]


def kept_name(value):
    """Returns what tells a function, class or module from others; of an object of a logger its class."""
    if not isinstance(value, KEPT):
        return name_of_kind(type(value))
    return getattr(value, "__qualname__", getattr(value, "__name__", name_of_kind(type(value))))


def is_kept(value):
    """Does it stay what it is in the program that runs?"""
    return isinstance(value, KEPT) or is_of_loggers(type(value))


def kept_module(value):
    module = getattr(value if isinstance(value, KEPT) else type(value), "__module__", None)
    return module if isinstance(module, str) else ""


def is_whole_object(value):
    """Do the attributes hold all that there is? Python itself refuses to pickle an object with more: a file, a lock; or has it a way
    of its own: a functools.partial."""
    if type(value).__reduce__ is not object.__reduce__ and not isinstance(type(value).__reduce__, types.FunctionType):
        return False
    try:
        object.__reduce_ex__(value, 2)
    except Exception as problem:
        if is_programs(problem):
            raise
        return False
    return True


def factory_of(value):
    """Returns the name of what a defaultdict makes its values by: of a class or function of the program's its full name, which may lead to
    none (_anew.py). None where it has no name."""
    factory = value.default_factory
    known = next((name for name, kind in FACTORIES.items() if kind is factory), None)
    return name_of_kind(factory) if known is None and isinstance(factory, (type, types.FunctionType)) else known
