"""What the objects are that a program calls methods of, so far as that tells what it reads of them."""
import ast
import collections
import sys
import types

from ._attributes import dict_of
from ._frames import locals_of

_OWN = (list, dict, set, bytearray, collections.deque, collections.OrderedDict, collections.defaultdict, collections.Counter)
_MAPPINGS = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter)
_OF_SLOTS = (types.MemberDescriptorType, type(collections.namedtuple("_", "a").a))
_PLAIN = (object.__getattribute__, type.__getattribute__, types.ModuleType.__getattribute__)
_MOST = 10000  # elements that are looked at for x[i].append(…)


class ByText:
    """Where no frame shows what an object is, and the text alone decides."""

    def only_adds(self, _receiver):
        return True

    def runs_code(self, program, attribute):
        return attribute.attr in program.methods


class InFrame:
    """Nodes of the program's tree are evaluated, as far as they are names, members and elements, in a frame."""

    def __init__(self, frame):
        self._frame, self._variables = frame, None

    def _values(self, node):
        if self._variables is None:
            self._variables = {**self._frame.f_globals, **locals_of(self._frame)}
        return _values_at(node, self._variables)

    def only_adds(self, receiver):
        """Is it for sure one of Python's own containers, of which a statement `x.append(…)` reads nothing? A method of another class may
        read what it changes."""
        values = self._values(receiver)
        return bool(values) and all(type(value) in _OWN for value in values)

    def runs_code(self, program, attribute):
        """Is `x.scale` a method or a property, or does the class of x make it, which may read all of x?"""
        values = self._values(attribute.value)
        if not values:
            return attribute.attr in program.methods
        return any(_is_code(value, attribute.attr) for value in values)


def _is_code(value, name):
    kind = type(value)
    if kind.__getattribute__ not in _PLAIN:
        return True
    if name in (dict_of(value) or ()):
        return False
    found = _in_class(kind, name)
    if found is None:
        return _in_class(kind, "__getattr__") not in (None, _of_modules())
    return hasattr(type(found), "__get__") and not isinstance(found, _OF_SLOTS)


def _in_class(kind, name):
    return next((vars(one)[name] for one in kind.__mro__ if name in vars(one)), None)


def _of_modules():
    """Returns the __getattr__ of torch's modules, which finds parameters and modules within."""
    torch = sys.modules.get("torch")
    return vars(torch.nn.Module)["__getattr__"] if torch is not None and hasattr(torch, "nn") else None


def _values_at(node, variables):
    """Returns all values that an expression may lead to; none where one is not known."""
    if isinstance(node, ast.Name):
        return [variables[node.id]] if node.id in variables else []
    if not isinstance(node, (ast.Attribute, ast.Subscript)):
        return []
    step = _members(node.attr) if isinstance(node, ast.Attribute) else _elements(node.slice)
    found = [step(value) for value in _values_at(node.value, variables)]
    return [value for values in found for value in values] if all(found) else []


def _members(name):
    def members(value):
        own = dict_of(value) or {}
        return [own[name]] if name in own else []
    return members


def _elements(index):
    def elements(value):
        if type(value) not in (*_MAPPINGS, list, tuple, collections.deque) or len(value) > _MOST:
            return []
        if not isinstance(index, ast.Constant):
            return list(value.values() if type(value) in _MAPPINGS else value)
        try:
            return [dict.__getitem__(value, index.value) if type(value) in _MAPPINGS else value[index.value]]
        except (LookupError, TypeError):
            return []
    return elements
