"""Of which objects a statement `x.append(…)` reads nothing: x is one of Python's own containers."""
import ast
import collections

from ._attributes import dict_of
from ._frames import locals_of

_OWN = (list, dict, set, bytearray, collections.deque, collections.OrderedDict, collections.defaultdict, collections.Counter)
_MAPPINGS = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter)
_MOST = 10000  # elements that are looked at for x[i].append(…)


def anything(_node):
    """Where no frame shows what an object is, and the text alone decides."""
    return True


def adds_in(frame):
    """Returns a function: is what an expression of the program leads to, in a frame, one of Python's own containers for sure? A method of
    another class may read what it changes."""
    variables = []

    def adds(node):
        if not variables:
            variables.append({**frame.f_globals, **locals_of(frame)})
        values = _values_at(node, variables[0])
        return bool(values) and all(type(value) in _OWN for value in values)

    return adds


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
