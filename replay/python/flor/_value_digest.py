"""A digest of what a variable refers to: of numbers, tensors, arrays and sizes, also within objects, containers, modules and optimizers;
not of texts. Of what is large samples count, which are taken without a copy. Calls no code of the program (_own_start.py)."""
import argparse
import collections
import hashlib
import itertools
import pathlib
import sys
import types

from . import _interrupts, _leaves
from ._attributes import dict_of, slots_of
from ._kinds import KEPT
from ._machine_names import names_of_machine
from ._roots import is_of_loader, is_users_module
from ._settable import is_of_loggers

_MOST, _MOST_OF_MODELS = 5_000, 50_000  # objects of a variable; tensors, arrays and modules, too
_LONG, _SAMPLE, _SAMPLE_OF_FILE, _LARGE = 64, 4096, 64, 1 << 31  # items; elements; those of a file; numbers that are rather addresses
_NUMBERS = (bool, int, float, complex)
_TEXTS = (str, bytes, bytearray, pathlib.PurePath)
_DICTS, _LISTS, _SETS = (dict,), (list, tuple, collections.deque), (set, frozenset)
_BUILTIN = frozenset((dict, list, tuple, set, frozenset))
_DATA = (argparse.Namespace, types.SimpleNamespace)
_OF_THE_NODE = frozenset(("prefetch_factor", "pin_memory", "timeout"))  # of a loader; its elements are the same


class Digest:
    """`samples`: by the ids of tensors and arrays, which several variables may refer to. `sources`: the paths of the program's files."""

    def __init__(self, samples, sources):
        self._samples, self._sources, self._digest = samples, sources, hashlib.blake2b(digest_size=16)
        self.count, self.is_whole, self._names = 0, True, {}

    def text(self):
        return self._digest.hexdigest().encode()

    def take(self, name, value, path):
        """`path`: of the file that names it. What computes comes before data, however much that is: of modules, optimizers and tensors
        all is taken."""
        seen, first, waiting = set(), collections.deque([(name, value, path, True)]), collections.deque()
        while first or waiting:
            name, value, path, counts = (first or waiting).popleft()
            if not isinstance(value, _NUMBERS) and value is not None:
                if id(value) in seen:
                    continue
                if len(seen) >= _MOST and (len(seen) >= _MOST_OF_MODELS or not _is_of_model(value)):
                    self.is_whole = False
                    continue
                seen.add(id(value))
            try:
                # Of what comes from the process or its machine only tensors count: a network may be moved to a device of it.
                counts = counts and name not in self._names_of(path)
                is_first = type(value) not in _BUILTIN and _is_of_model(value)
                for inner, item, place in self._take_one(value, counts):
                    is_data = not is_first and isinstance(item, (*_DICTS, *_LISTS, *_SETS))
                    is_setting = is_of_loader(value) and (is_of_loader(item) or isinstance(item, _NUMBERS))  # wherever it comes from
                    (waiting if is_data else first).append((inner, item, place or path, counts or is_setting))
            except Exception as problem:
                if _interrupts.is_programs(problem):
                    raise
                # An object may do anything. This one is compared no worse than without.

    def _names_of(self, path):
        if path not in self._names:
            self._names[path] = names_of_machine(path, self._sources)
        return self._names[path]

    def _take_one(self, value, counts):
        """Returns what it refers to: (name, value, the file that names it or None)."""
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        if value is None or type(value) in _NUMBERS:
            if counts:
                self._put(*_comparable([value]))
        elif type(value) in _BUILTIN:
            return self._take_dict(value, counts) if type(value) is dict else self._take_items(value, counts)
        elif torch is not None and type(value) in (torch.Tensor, torch.nn.Parameter):
            self._put(self._sampled_once(value, _sample_of_tensor))
        elif numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
            self._put(self._sampled_once(value, _sample_of_array))
        elif isinstance(value, type) and is_users_module(sys.modules.get(value.__module__)):
            path = sys.modules[value.__module__].__file__
            return [(key, item, path) for key, item in vars(value).items() if not key.startswith("__")]
        elif isinstance(value, (*_TEXTS, *KEPT)):
            return []
        else:
            if counts:
                self._put(type(value).__qualname__)
            return self._take_parts(value, counts)
        return []

    def _take_parts(self, value, counts):
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.nn.Module):
            return [("", value.__dict__.get(kind), None) for kind in ("_parameters", "_buffers", "_modules")]
        if torch is not None and isinstance(value, torch.optim.Optimizer):
            return [("", value.__dict__.get(kind), None) for kind in ("param_groups", "state")]
        own = _attributes_of(value)
        if isinstance(value, _DICTS):
            return [*own, *self._take_dict(value, counts)]
        if isinstance(value, (*_LISTS, *_SETS)):
            return [*own, *self._take_items(value, counts)]
        return own

    def _take_dict(self, value, counts):
        if counts:
            self._put(type(value).__qualname__)
            numbers = [key for key in itertools.islice(dict.keys(value), _SAMPLE) if type(key) in _NUMBERS]
            self._put(len(value), *_comparable(numbers))
        return [(key if type(key) is str else "", item, None) for key, item in itertools.islice(dict.items(value), _SAMPLE)]

    def _take_items(self, value, counts):
        count = len(value)
        if counts:
            self._put(type(value).__qualname__, count)
        if isinstance(value, _SETS):
            return self._take_set(value, counts)
        kind = next(kind for kind in _LISTS if isinstance(value, kind))
        sample = list(itertools.islice(kind.__iter__(value), 0, None, max(count // _SAMPLE, 1)))
        if all(item is None or type(item) in _NUMBERS or isinstance(item, str) for item in sample):
            if counts:
                self._put(*_comparable(item for item in sample if not isinstance(item, str)))
            return []
        return [("", item, None) for item in sample[::max(len(sample) // _LONG, 1)]]

    def _take_set(self, value, counts):
        """Of numbers alone: others have no order that another process would have."""
        items = list((set if isinstance(value, set) else frozenset).__iter__(value)) if len(value) <= _SAMPLE else ()
        if counts:
            self._put(*_comparable(sorted(item for item in items if type(item) in (bool, int, float))))
        return [("", items[0], None)] if len(items) == 1 else []

    def _put(self, *parts):
        self.count += 1
        for part in parts:
            self._digest.update(part if isinstance(part, bytes) else f"{part!r};".encode("utf-8", "backslashreplace"))

    def _sampled_once(self, value, sample):
        if id(value) not in self._samples:
            self._samples[id(value)] = hashlib.blake2b(repr(sample(value)).encode(), digest_size=16).digest(), value
        return self._samples[id(value)][0]


def _is_of_model(value):
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    return torch is not None and isinstance(value, (torch.nn.Module, torch.optim.Optimizer, torch.Tensor)) or \
        numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic))


def _attributes_of(value):
    """Returns what an object of the program's own classes, or one that is data alone, has: (name, value, the file of its class)."""
    kind = type(value)
    if kind.__module__ in ("builtins", "collections"):
        return []
    module = sys.modules.get(kind.__module__)
    if not is_users_module(module) and not is_of_loader(value) and not isinstance(value, _DATA) and \
            (is_of_loggers(kind) or not isinstance(value, (*_DICTS, *_LISTS))):
        return []
    if is_of_loader(value):  # names of torch's, which no file of the program gives
        return [("", item > 0 if key == "num_workers" and _has_fixed_elements(value) else item, None)
                for key, item in (dict_of(value) or {}).items() if key not in _OF_THE_NODE]
    # Members of another module's class are named by the file that names the object.
    path = getattr(module, "__file__", None) if is_users_module(module) else None
    slots = [(key, item) for key, item in slots_of(value) if not key.startswith("__")] if is_users_module(module) else []
    return [(key, item, path) for key, item in [*(dict_of(value) or {}).items(), *slots]]


def _has_fixed_elements(loader):
    """Do a loader's workers draw nothing, so that their number changes no element, as long as there are any? What is of the program's may
    draw. Without workers, and of a generator that others may use, the samplers draw at other times."""
    torch, data = sys.modules["torch"], sys.modules["torch.utils.data"]
    if type(loader) is not data.DataLoader:
        return False
    dataset, own = loader.dataset, [loader.sampler, loader.batch_sampler, getattr(loader.batch_sampler, "sampler", None), loader.collate_fn]
    while type(dataset) is data.Subset:
        dataset = dataset.dataset
    return type(dataset) in (data.TensorDataset, torch.Tensor, list, tuple) and \
        all(one is None or _module_of(one).startswith("torch.utils.data") for one in own) and \
        all(getattr(one, "generator", None) is None for one in (loader, *own))


def _module_of(value):
    return value.__module__ if isinstance(value, types.FunctionType) else type(value).__module__


def _comparable(values):
    return [value for value in values if value is None or value != value or abs(value) < _LARGE]


def _places(shape, count, most, xp):
    """Returns the indices of samples of an array, by dimensions."""
    places = xp.arange(0, count, max(count // most, 1))
    indices = []
    for size in reversed(shape):
        indices.append(places % size)
        places = places // size
    return tuple(reversed(indices))


def _sample_of_tensor(value):
    torch = sys.modules["torch"]
    if value.layout is not torch.strided or value.is_quantized or value.device.type == "meta":
        return (str(value.dtype), tuple(value.shape))
    value = value.detach()
    if value.is_contiguous():
        sample = value.view(-1)[::max(value.numel() // _SAMPLE, 1)]
    else:
        sample = value[tuple(place.to(value.device) for place in _places(value.shape, value.numel(), _SAMPLE, torch))]
    sample = sample.resolve_conj().resolve_neg().cpu().contiguous()
    return str(value.dtype), tuple(value.shape), hashlib.blake2b(sample.view(torch.uint8).numpy()).digest()


def _sample_of_array(value):
    numpy = sys.modules["numpy"]
    if value.dtype.kind not in "biufc":
        return value.dtype.kind, value.shape
    most = _SAMPLE_OF_FILE if _leaves.is_in_file(value) else _SAMPLE
    value = numpy.ndarray.view(value, numpy.ndarray) if isinstance(value, numpy.ndarray) else numpy.asarray(value)
    is_flat = value.flags.c_contiguous
    sample = value.reshape(-1)[::max(value.size // most, 1)] if is_flat else value[_places(value.shape, value.size, most, numpy)]
    return value.dtype.str, value.shape, hashlib.blake2b(sample.tobytes()).digest()
