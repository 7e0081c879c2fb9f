"""What a checkpoint says of objects that are not where they were, and what it cannot hold since no restore could make or find it.

A restore has the objects that there were when the main loop or the block began (_origins.py). It makes containers, tensors, and objects of the
program's own classes (_anew.py). Of all else, as an optimizer or a data loader that the loop makes, the saver says so at once."""
import collections
import sys
import types

from . import _leaves, _library
from ._anew import Classes
from ._groups import added_to
from ._kinds import KEPT, name_of_kind
from ._origins import memory_of, place_in, place_of, whole_of


class Marker:
    """Gives the objects of a state their names, and marks those that are not where they were. `here`: the Origins of the block
    or of the main loop whose state it is; `first`: those of the main loop. `is_alone`: one object is tried, and others may be saved later
    that it refers to."""

    def __init__(self, here, first, is_alone=False):
        self._is_alone = is_alone
        self.marks = {}
        self._here, self._first = here, first
        self._memories = {}  # of what is saved: {memory: (name, tensor)}
        self._classes = Classes()

    def place(self, name, value):
        """Returns the name to save an object under. Raises TypeError where no restore could make it."""
        if self._here.get(place_of(name)) is not value:
            name += _leaves.MOVED
            self.marks[name] = self._mark(value)
        self.saw(name, value)
        return name

    def saw(self, name, value):
        memory = memory_of(value)
        if memory is not None:
            self._memories.setdefault(memory, (name, value))

    def is_id(self, number):
        """Is a number the id of an object of the program?"""
        return self._here.is_id(number) or self._first.is_id(number)

    def _mark(self, value):
        origin = self._first.name_of(value)
        if origin is not None:
            return {"at": origin}
        memory = memory_of(value)
        if memory in self._memories:
            return self._within(value, *self._memories[memory])
        origin = self._first.with_memory_of(value) if memory is not None else None
        if origin is not None:
            return {"of": origin, **_view_in(self._first.get(origin), value)}
        torch = sys.modules.get("torch")
        if torch is None or not isinstance(value, torch.nn.Module):
            return None
        origin = self._first.like(value)
        if origin is None:
            raise TypeError(f"there was no module like this one, of type {type(value).__qualname__}")
        return {"like": origin}

    @staticmethod
    def _within(value, name, whole):
        """A view of a tensor that is saved, too. Where that will be a copy with no room for it, the view becomes one of its own."""
        if memory_of(value)[0] == "array" or whole.dtype != value.dtype or not whole.is_contiguous():
            return None
        begin = value.storage_offset() - whole.storage_offset()
        end = begin + sum((size - 1) * step for size, step in zip(value.shape, value.stride()))
        return {"in": name, "offset": begin, "stride": list(value.stride())} if 0 <= begin <= end < whole.numel() else None

    def refuse_unmade(self, name, value):
        """Raises TypeError where an object is new, or a part of one, and no restore could make it."""
        mark = self.marks.get(name, self)
        if isinstance(value, collections.defaultdict):
            origins, place = self._place_in(name)
            is_there = origins is not None and origins.kind_at(place) is type(value) and origins.factory_at(place) is value.default_factory
            if not is_there and not self._classes.can_make(value, None):
                raise TypeError(f"{name}: what it makes its values by cannot be found again")
        elif isinstance(mark, dict) and ("of" in mark or "in" in mark):
            if not self._classes.can_be_view(value):
                raise TypeError(f"{name}: a view of type {name_of_kind(type(value))} cannot be made again")
        elif mark is None or isinstance(value, (tuple, frozenset)):
            origins, place = self._place_in(name)
            if not self._classes.can_make(value, origins and origins.kind_at(place)):
                raise TypeError(f"{name}: an object of type {name_of_kind(type(value))} that the loop makes cannot be made again")

    def refuse_unknown(self, name, value):
        """Raises TypeError where a function, a class or a member of an enumeration could not be found again, of which a record has the name."""
        origins, place = self._place_in(name)
        if not isinstance(value, KEPT):
            is_found = self._classes.enumeration(name_of_kind(type(value))) is type(value) or \
                origins is not None and origins.kind_at(place) is type(value)
        elif origins is None:
            is_found = False
        elif isinstance(value, (types.FunctionType, type)) or isinstance(getattr(value, "__self__", None), types.ModuleType):
            is_found = origins.get(place) is value if origins.knows(place) else not origins.would_know(place)
        else:
            is_found = True
        if not is_found:
            raise TypeError(f"{name}: {value!r} was not there")

    def refuse_other_parameters(self, name, optimizer, trains, leaves):
        """Returns the parameters of groups that the loop has added (_groups.py). Raises TypeError where a restore would find an optimizer with
        other parameters. Warns where it could not add the groups: what was saved before counts, and a restore refuses the rest.
        `trains`: the names under which they are saved, by groups. `leaves`: all that is saved by now, by names."""
        is_own = [parameter.startswith(f"{name}.parameter.") for group in trains for parameter in group]
        if self.marks.get(name, self) is None:  # it will be made of parameters that are restored before
            if any(is_own) and not self._is_alone:
                raise TypeError(f"{name}: it has parameters of no module that is held")
            return None
        origin = self._first.name_of(optimizer)
        if origin is None or self._first.is_whole or self._is_alone or not self._first.knows(f"{origin}.param_groups"):
            return None  # or the groups belong to another optimizer, around which this one is
        at = [[f"{origin}.param_groups.{number}.params.{index}" for index in range(len(group))] for number, group in enumerate(trains)]
        added = added_to(optimizer, origin, self._first)
        if added is None and self._here is self._first:
            _library.warn(f"{place_of(name)} has other groups of parameters than when the loop began: no process that starts anew can restore "
                          "what is saved from now on, and it goes on from a checkpoint before")
            return None
        others = {self._first_name(leaf) for leaf in leaves if not leaf.startswith(f"{name}.parameter.")} if any(is_own) else ()
        for place, parameter, own in zip(sum(at, []), sum(trains, []), is_own):
            was = self._first.first_name(place)
            if was is not None and (was in others if own else self._here is self._first and self._first_name(parameter) != was):
                raise TypeError(f"{name}: one of its parameters was another when the loop began")
        return added

    def _first_name(self, name):
        origins, place = self._place_in(name)
        return None if origins is None else self._first.first_name(place)

    def _place_in(self, name):
        return place_in(name, self.marks, self._here, self._first)


def _view_in(whole, view):
    if memory_of(view)[0] == "array":
        owner = whole_of(whole)
        if not owner.flags.c_contiguous:
            raise TypeError("its memory is not in the order of C")
        return {"offset": view.__array_interface__["data"][0] - owner.__array_interface__["data"][0], "stride": list(view.strides)}
    if whole.dtype != view.dtype or whole.is_conj() != view.is_conj():
        raise TypeError("it shows the memory of a tensor of another type")
    return {"offset": view.storage_offset(), "stride": list(view.stride())}
