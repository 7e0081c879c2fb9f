"""Variables that each iteration of a main loop seems to bind anew, by an inner loop or a `with` that may not come to it. A checkpoint holds
them as far as it can. What it cannot hold, as what a tensor was computed from, is missed only by an iteration that keeps the object."""
import weakref

from . import _held
from ._program import bound_in

_MOST = 64  # items of a container


class Rebound:
    """Of a main loop that is about to begin. Keeps no value alive."""

    def __init__(self, program, loop, places):
        self._program, self._loop, self._places = program, loop, places
        self._at_entry = {name for name, _ in bound_in(loop.body) if places.is_set(name)} if loop is not None else set()
        self._likely, self._kept, self._lacking = {}, set(), {}

    def may_lack_graph(self, path):
        """May the checkpoint that is being taken lack the way to what a variable was computed from?"""
        return self._is_likely(path, False) and self._note(path)

    def may_lack(self, path):
        """May that checkpoint lack the variable? Not if a restore would leave the value from in front of the loop, nor if it is read behind the
        loop, where nothing binds it anew."""
        return path not in self._at_entry and self._is_likely(path, True) and self._note(path)

    def kept(self):
        """Returns the paths that a checkpoint lacks and that the iteration behind it, which ends now, did not bind anew."""
        kept = [path for path, before in self._lacking.items() if before & _identity(self._places.get(path))]
        self._kept.update(kept)
        self._lacking.clear()
        return kept

    def _is_likely(self, path, and_behind):
        known = (path, and_behind)
        if known not in self._likely:
            is_name = self._loop is not None and "." not in path and ":" not in path
            self._likely[known] = is_name and not _held.is_passed_on(self._program, self._loop, path, and_behind, is_sure=False)
        return self._likely[known] and path not in self._kept

    def _note(self, path):
        self._lacking[path] = _identity(self._places.get(path))
        return True


def _identity(value):
    """Returns what tells an object from others: weak references to it or to its items, else where it is."""
    items = value.values() if type(value) is dict else value if type(value) in (list, tuple) else [value]
    references = set()
    for item in list(items)[:_MOST]:
        try:
            references.add(_Same(item))
        except TypeError:
            pass
    return references or {id(value)}


class _Same:
    """Refers weakly to an object, and is equal to another one that refers to the same living object."""

    def __init__(self, value):
        self._reference, self._hash = weakref.ref(value), id(value)

    def __hash__(self):
        return self._hash

    def __eq__(self, other):
        value = self._reference()
        return value is not None and isinstance(other, _Same) and value is other._reference()
