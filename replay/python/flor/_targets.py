"""Which object of the program a recorded one is (_origins.py says how that was marked)."""
import builtins
import collections
import copy
import os
import random
import sys

from . import _leaves
from ._anew import MADE_ANEW
from ._kinds import KEPT, name_of_kind
from ._objects import _numpy, _torch
from ._origins import place_in, place_of, view_of
from ._settable import is_settable


class Misfit(Exception):
    """Recorded state does not fit the objects that the program has."""


class Targets:
    """`marks`: {name: mark} of one state. `origins`: the Origins of that state and those of the main loop. Raises Misfit."""

    def __init__(self, marks, origins, writing):
        if origins is None:
            raise Misfit("where objects were is not known here")
        self._marks, self._writing = marks, writing
        self._here, self._first = origins
        self._filled = {}  # by id: the name under which an object was saved, and the object

    first = property(lambda self: self._first, doc="The Origins of the main loop.")

    def of(self, name, node, live, objects, shape):
        """Returns the name under which an object was saved, and the object to restore into: the one that it was when the loop or
        block began; None for a new one. `live`: what is at its place now. `objects`: what was restored before, by names."""
        moved = name + _leaves.MOVED
        if moved in self._marks:
            name, live = moved, self._moved(moved, node, live, objects, shape)
        elif self._here.knows(place_of(name)):
            live = self._here.get(place_of(name))
        is_model = "like" in (self._marks.get(name) or {}) and not self._writing  # of the object that will be made
        if live is not None and not is_model and not isinstance(live, tuple):
            first = self._filled.setdefault(id(live), (name, live))[0]
            if first != name:
                raise Misfit(f"{name} and {first} are one object here")
        return name, live

    def _moved(self, name, node, live, objects, shape):
        mark = self._marks[name]
        if mark is None:
            origins, place = place_in(name, self._marks, self._here, self._first)
            return _anew(node, live, objects, origins and origins.factory_at(place))
        if "like" in mark:
            like = self._first.get(mark["like"])
            return copy.deepcopy(like) if self._writing else like
        if "in" in mark:
            whole = objects.get(mark["in"])
        else:
            origin = mark.get("at", mark.get("of"))
            if not self._first.knows(origin):
                raise Misfit(f"{name} was {origin}, which is not there")
            whole = self._first.get(origin)
        if isinstance(whole, KEPT):
            raise Misfit(f"{name} was {mark}, which is no object of data")
        if whole is None or "at" in mark:
            return whole
        try:
            return view_of(whole, mark, node, shape)
        except (TypeError, ValueError, RuntimeError):
            raise Misfit(f"{name} was {mark}, which is no view of that object here") from None


def _anew(node, live, objects, factory):
    """Returns an object of the recorded kind that is no other's. None: it is made of its values alone. `factory`: that of a defaultdict
    which was at its place."""
    torch, numpy = _torch(), _numpy()
    kind = next(iter(node))
    if kind == "optimizer" and name_of_kind(type(live)) == node[kind]:
        optimizer = copy.copy(live)
        optimizer.state = collections.defaultdict(dict)
        optimizer.param_groups = [{"params": [objects.get(name) for name in group]} for group in node["trains"]]
        return optimizer
    if kind == "generator":
        return torch.Generator(live.device if isinstance(live, torch.Generator) else "cpu")
    if kind == "random":
        return random.Random()
    if kind == "numpy_generator":
        return copy.deepcopy(live) if isinstance(live, (numpy.random.Generator, numpy.random.RandomState)) else None
    if kind == "dict" and node[kind] == "collections.defaultdict":
        is_there = factory is None and type(live) is collections.defaultdict
        return collections.defaultdict(live.default_factory if is_there else factory)
    if kind in ("dict", "list") and node[kind] not in MADE_ANEW and name_of_kind(type(live)) == node[kind]:
        return copy.copy(live)
    if kind == "object" and name_of_kind(type(live)) == node[kind]:
        return object.__new__(type(live))
    return None


def shape_of(node, loaded):
    """Returns the shape of a recorded tensor or array; of anything else None."""
    if "tensor" not in node:
        return node.get("shape")
    shape = list(loaded[node["tensor"]].shape) if node["tensor"] in loaded else []
    return shape[:-1] if node["complex"] else shape


def refuse_unsettable(name, live):
    """Raises Misfit for what decides which code runs, or which files are written: a record, which may be another user's, sets data alone."""
    if not isinstance(live, tuple) and not is_settable(type(live)):
        raise Misfit(f"{name} is a {name_of_kind(type(live))}, which no record sets")
    of_process = (os.environ, getattr(os.environ, "_data", None), sys.path, sys.modules, sys.meta_path, sys.path_hooks, vars(builtins))
    if isinstance(live, KEPT) or any(live is one for one in of_process) or isinstance(live, dict) and "__builtins__" in live:
        raise Misfit(f"{name} belongs to the process here, and is not restored")


def element_at(live, index, keys):
    values = list(live.keys() if keys else live) if isinstance(live, dict) else []
    return values[index] if index < len(values) else None


def item_of(live, key):
    try:
        return live.get(key) if isinstance(live, dict) else None
    except TypeError:
        return None


def immutable(name, place, known, values):
    """Returns a tuple or a frozenset of the place's type with these values: the place itself where it has them."""
    if len(known) == len(values) and all(a is b for a, b in zip(known, values)):
        return place
    fields = getattr(type(place), "_fields", None) if isinstance(place, tuple) else None
    if fields is None:
        return type(place)(values)
    if len(fields) != len(values):
        raise Misfit(f"{name} has {len(values)} items in the record, and is a {name_of_kind(type(place))} here, which has {len(fields)}")
    return tuple.__new__(type(place), values)
