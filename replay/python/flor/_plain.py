"""Large lists and dicts of plain values, as the file names and classes of a data set: read in a few calls, where a walk in Python would take
seconds. What changes in one is seen all the same."""
import hashlib
import itertools
import marshal

_VALUES = frozenset((bool, int, float, complex, str, bytes, type(None)))
_NUMBERS = frozenset((bool, int, float, complex))
_ROWS = (tuple, list)
_LARGE = 256  # elements, below which a walk is quick


def is_plain(value):
    """Is it a large list, tuple, dict or set of numbers, texts and tuples of these, none of which is an object of its own?"""
    items = _items_of(value)
    if items is None:
        return False
    kinds = set(map(type, items))
    if tuple not in kinds:
        return kinds <= _VALUES
    return kinds <= {*_VALUES, tuple} and _kinds_in(items) <= _VALUES


def digest_of(value):
    """Returns what tells the content of a large list, tuple or dict of plain values, or of tuples and lists of these, from another one; or
    None where it is no such thing."""
    items = _items_of(value)
    if items is None or isinstance(value, (set, frozenset)):
        return None
    kinds = set(map(type, items))
    inner = _kinds_in(items) if not kinds.isdisjoint(_ROWS) else set()
    if not kinds <= {*_VALUES, *_ROWS} or not inner <= _VALUES:
        return None
    has_twins = not _NUMBERS.isdisjoint(kinds | inner) and (-2 in items or bool(inner) and -2 in _inner(items))
    rows = [tuple(item) if type(item) is list else item for item in items] if list in kinds else items
    keys = (hash(tuple(value)), -2 in value and _digest_of(list(value))) if type(value) is dict else None
    return len(items), keys, _digest_of(rows) if has_twins else hash(tuple(rows)), _places_of(kinds, items), _places_of(inner, _inner(items))


def _digest_of(values):
    """Tells -1 and -2 apart, which have one hash."""
    return hashlib.blake2b(marshal.dumps(values, 2), digest_size=16).digest()


def _places_of(kinds, items):
    """Returns where each type is, as far as equal values of two types have one hash: 1, 1.0 and True have, and a list and a tuple here."""
    names = sorted(kind.__name__ for kind in kinds)
    is_clear = len(kinds & _NUMBERS) < 2 and not kinds >= {*_ROWS}
    return names if is_clear else [*names, hash(tuple(map(id, map(type, items))))]


def _items_of(value):
    if type(value) not in (list, tuple, dict, set, frozenset) or len(value) < _LARGE:
        return None
    if type(value) is dict:
        return list(value.values()) if set(map(type, value)) <= _VALUES else None
    return value


def _inner(items):
    if set(map(type, items)) <= {*_ROWS}:
        return itertools.chain.from_iterable(items)
    return itertools.chain.from_iterable(item for item in items if type(item) in _ROWS)


def _kinds_in(items):
    return set(map(type, _inner(items)))
