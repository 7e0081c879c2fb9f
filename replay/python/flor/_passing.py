"""Loops over what gives the same elements again, whatever the program did with the first ones, as a loader of torch that shuffles. Such a
loop begins in the middle: its elements are begun as they were, and those in front of the place are taken and passed over."""
import ctypes
import hashlib
import json
import operator
import sys

from ._leaves import VOLATILE, of_bytes
from ._library import library
from ._loop import begins_anywhere
from ._restore import Misfit
from ._slots import SlotState
from ._state import loaded_of

_PLACE = VOLATILE + "@place"  # the leaf that says where the loop is, and what had been drawn at its entry; no digest has it

_SIZED = (range, list, tuple, dict, str, bytes)


def count_of(iterable):
    """Returns how many elements there are; None where they may be other ones the next time, or where that is not known."""
    if _is_progress_bar(iterable):
        return count_of(iterable.iterable)
    if type(iterable) in (enumerate, zip):
        counts = [count_of(one) for one in _sources_of(iterable)]
        return min(counts) if counts and None not in counts else None
    if type(iterable) in _SIZED:
        return len(iterable)
    if begins_anywhere(iterable):
        count = operator.length_hint(iterable, -1)
        return count if count >= 0 else None
    return _count_of_loader(iterable)


def generators_of(iterable):
    """Returns the generators of torch that choose the elements and do not belong to a module."""
    if _is_progress_bar(iterable):
        return generators_of(iterable.iterable)
    if type(iterable) in (enumerate, zip):
        return [found for one in _sources_of(iterable) for found in generators_of(one)]
    sampler = getattr(iterable, "_index_sampler", None)
    samplers = [iterable, sampler, getattr(sampler, "sampler", None)]
    return [one.generator for one in samplers if getattr(one, "generator", None) is not None]


def _is_progress_bar(iterable):
    return type(iterable).__module__.split(".")[0] == "tqdm" and hasattr(iterable, "iterable")


def _sources_of(iterable):
    """Returns the iterators inside of an enumerate or zip."""
    words = iterable.__reduce__()[1]
    return words[:1] if type(iterable) is enumerate else words


def _count_of_loader(iterable):
    """Of a loader of torch, or of its iterator that nothing was taken from: its samplers choose all elements when the first one is
    asked for. Workers that live on from epoch to epoch have drawn numbers before."""
    data = sys.modules.get("torch.utils.data")
    if data is None:
        return None
    module = data.dataloader
    is_begun = type(iterable) in (module._SingleProcessDataLoaderIter, module._MultiProcessingDataLoaderIter)
    if is_begun:
        fits = iterable._dataset_kind == data._DatasetKind.Map and not iterable._persistent_workers and iterable._num_yielded == 0
    else:
        fits = type(iterable) is data.DataLoader and not isinstance(iterable.dataset, data.IterableDataset) and \
            not iterable.persistent_workers
    return len(iterable) if fits and _is_fixed(data, iterable._index_sampler) else None


def _is_fixed(data, sampler):
    if type(sampler) is data.BatchSampler:
        return _is_fixed(data, sampler.sampler)
    if type(sampler) is data.RandomSampler and sampler.generator is not None:  # which others may use between two draws
        return not sampler.replacement and sampler.num_samples <= len(sampler.data_source)
    if type(sampler) is data.RandomSampler:
        return True
    return type(sampler) in (data.SequentialSampler, data.SubsetRandomSampler, data.WeightedRandomSampler,
                             data.distributed.DistributedSampler)


_OF_DICTS = tuple(type(iter(view)) for view in ({}.keys(), {}.values(), {}.items()))


def _sizes_of(iterable):
    """Returns what the samplers read for each batch."""
    if _is_progress_bar(iterable):
        return _sizes_of(iterable.iterable)
    if type(iterable) in (enumerate, zip):
        return [_sizes_of(one) for one in _sources_of(iterable)]
    if hasattr(iterable, "mapping"):  # a view of a dict
        return len(iterable)
    if type(iterable) in _OF_DICTS:
        return None  # they tell how many are left; and Python itself lets no dict grow meanwhile
    if begins_anywhere(iterable):
        source = iterable if type(iterable) in _SIZED else iterable.__reduce__()[1][0]
        return len(source) if hasattr(source, "__len__") else None
    sampler, sizes = getattr(iterable, "_index_sampler", None), []
    while sampler is not None:
        sizes.append([getattr(sampler, name, None) for name in ("batch_size", "drop_last", "_num_samples", "num_samples")])
        sampler = getattr(sampler, "sampler", None)
    return sizes


class Passing:
    """The elements of a loop, of which `count` are known to come. An element is asked for when its iteration has begun, so that what
    that draws belongs to the iteration; and behind a restore, those in front of the place have been taken."""

    def __init__(self, iterable, count):
        self.iterable, self.count = iterable, count
        self._elements = self._entry = None
        self._sizes = _sizes_of(iterable)
        self._here = self._taken = 0

    def elements(self):
        """Begins the elements, where that is not done. Returns their iterator."""
        self._note_entry()
        if self._elements is None:
            self._elements = iter(self.iterable)
        return self._elements

    def be_at(self, place):
        """`place`: how many iterations are over."""
        self._here = self._taken = place

    def is_as_it_was(self):
        """Do the samplers still make batches as they did at the beginning?"""
        return _sizes_of(self.iterable) == self._sizes

    def is_iterator(self):
        """Does it change by being iterated over?"""
        return type(self.iterable) in (enumerate, zip) or _is_progress_bar(self.iterable)

    def leaf(self):
        self._note_entry()
        entry = self._entry if self.is_as_it_was() else "the loader has changed"
        return {_PLACE: of_bytes(json.dumps({"over": self._here, "entry": entry}).encode())}

    def why_another(self, place):
        """Returns why the recorded place is not one of this loop's, or None."""
        self._note_entry()
        return None if place["entry"] == self._entry else "other random numbers were drawn in front of the loop, or its loader was changed"

    def pass_over(self, place):
        """Takes the elements in front of a recorded place. May be called again after an interruption."""
        self.elements()
        if isinstance(self.iterable, range):
            self._elements, self._taken = iter(self.iterable[place["over"]:]), place["over"]
        while self._taken < place["over"]:
            try:
                next(self._elements)
            except StopIteration:
                raise Misfit(f"there are {self._taken} elements, and the record has {place['over']}") from None
            self._taken += 1

    def _note_entry(self):
        if self._entry is None:
            self._entry = _digest_of_generators(self.iterable)


class PassingState(SlotState):
    """Slots of a loop that begins in the middle. `passing`: its elements, or None where it begins anywhere."""

    passing = None

    def own_leaves(self):
        return {} if self.passing is None else self.passing.leaf()

    def _check(self, tensors, answer):
        loaded, place = self._placed(tensors)
        why = self.passing and self.passing.why_another(place)
        if why is not None:
            library.flor_fail(answer, why.encode())
        else:
            self._check_loaded(loaded, answer)

    def _restore(self, tensors, _answer):
        loaded, place = self._placed(tensors)
        if self.passing is not None:
            self.passing.pass_over(place)
        self._visit(loaded, True)

    def _placed(self, tensors):
        loaded = loaded_of(tensors)
        if self.passing is not None and _PLACE not in loaded:
            raise Misfit("it is a checkpoint of another kind of loop")
        place = loaded.pop(_PLACE, None)
        return loaded, place and json.loads(bytes(place.memory()))


def _digest_of_generators(iterable):
    """Returns what the generators that choose the elements have the same when the loop is entered again."""
    digest, torch = hashlib.blake2b(digest_size=16), sys.modules.get("torch")
    if torch is not None and hasattr(torch, "get_rng_state"):
        for state in [torch.get_rng_state(), *(one.get_state() for one in generators_of(iterable))]:
            digest.update(ctypes.string_at(state.data_ptr(), state.numel()))
    return digest.hexdigest()
