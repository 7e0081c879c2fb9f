"""Which loops a resumed recording can begin in the middle: over what gives the same elements again, whatever the program did with the
first ones. Elements are taken, and passed over."""
import operator
import sys

from ._loop import begins_anywhere

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
    if type(sampler) is data.RandomSampler:  # one with replacement draws again and again
        return not sampler.replacement or sampler.generator is None
    return type(sampler) in (data.SequentialSampler, data.SubsetRandomSampler, data.WeightedRandomSampler,
                             data.distributed.DistributedSampler)
