"""Variables that each iteration of a main loop seems to bind anew, by an inner loop or a `with` that may not come to it. A checkpoint holds
them as far as it can. What it cannot hold, as what a tensor was computed from, is missed only by an iteration that keeps the object."""
import weakref

from . import _held
from ._program import bound_in

LACKED = "-"  # begins what a recording notes of a variable that its checkpoints lack
_MOST = 64  # items of a container


class Rebound:
    """Of a main loop that is about to begin. Keeps no value alive."""

    def __init__(self, program, loop, places):
        self._program, self._loop, self._places = program, loop, places
        self._at_entry = {name for name, _ in bound_in(loop.body) if places.is_set(name)} if loop is not None else set()
        self._likely, self._kept = {}, set()
        self._dropped = set()  # variables that are in no checkpoint from some moment on
        self._graphs, self._lacking = set(), {}  # what the next checkpoint and the last one lack

    def may_lack_graph(self, path, and_behind=False):
        """May a checkpoint lack the way to what a variable was computed from? `and_behind`: not if it is read behind the loop."""
        if self._is_likely(path, and_behind):
            self._graphs.add(path)
        return path in self._graphs

    def may_lack(self, path):
        """May the checkpoints from now on lack the variable? Not if a restore would leave the value from in front of the loop, nor if it is
        read behind the loop, where nothing binds it anew."""
        if path not in self._at_entry and self._is_likely(path, True):
            self._dropped.add(path)
        return path in self._dropped

    def taken(self, paths):
        """Call where a checkpoint is taken, of these paths. Returns the names of the variables that it lacks."""
        dropped = self._dropped - set(paths)
        lacking = {path for path in dropped | self._graphs if self._places.is_set(path)}
        self._lacking = {path: _identity(self._places.get(path)) for path in lacking}
        return sorted(dropped)

    def kept(self):
        """Returns the paths that the checkpoint in front of the iteration that ends now lacks, if there was one, and that this iteration
        did not bind anew."""
        if not self._lacking and not self._graphs:
            return []  # asked at each step
        kept = [path for path, before in self._lacking.items() if before & _identity(self._places.get(path))]
        self._kept.update(kept)
        self._dropped -= self._kept
        self._graphs, self._lacking = set(), {}
        return kept

    def _is_likely(self, path, and_behind):
        known = (path, and_behind)
        if known not in self._likely:
            is_name = self._loop is not None and "." not in path and ":" not in path
            self._likely[known] = is_name and not _held.is_passed_on(self._program, self._loop, path, and_behind, is_sure=False)
        return self._likely[known] and path not in self._kept


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
