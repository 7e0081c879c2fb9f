"""What an object holds that is no attribute of it: of a file in memory, a queue, a weak dictionary, a sparse tensor and the like."""
import functools
import gc
import hashlib
import io
import queue
import sys
import threading
import types
import weakref

from ._files import UNKNOWN, position_of

# Of packages whose objects are else never looked at: they hold values of the program's.
HOLDERS = (weakref.WeakKeyDictionary, weakref.WeakValueDictionary, threading.local)
_MOST = 1 << 30  # bytes, above which nothing is read
_CACHED = type(functools.lru_cache(lambda: None))


def contents_of(value):
    """Returns what the object holds, as a list; UNKNOWN where that cannot be told, and None for all other objects."""
    kind = type(value)
    if isinstance(value, (io.BytesIO, io.StringIO)):
        return [] if value.closed else _of_memory_file(value)
    if kind.__module__ == "_io" and isinstance(value, io.IOBase):
        position = position_of(value)
        return UNKNOWN if position is UNKNOWN else [position]
    if kind is memoryview:
        return _of_view(value)
    if kind is queue.SimpleQueue:
        return [] if value.empty() else UNKNOWN
    if isinstance(value, HOLDERS):
        return list(vars(value).items()) if isinstance(value, threading.local) else [list(value.keys()), list(value.values())]
    if isinstance(value, weakref.WeakSet):
        return list(value)
    if kind is types.MappingProxyType:
        return gc.get_referents(value)  # of it: its own methods may be the program's
    if kind.__module__ == "numpy":
        return _of_iterator(value)
    if kind is property:
        return [value.fget, value.fset, value.fdel]
    if kind is _CACHED or callable(getattr(kind, "cache_info", None)):
        return [tuple(value.cache_info())]
    return None


def _of_memory_file(file):
    if isinstance(file, io.StringIO):
        return [file.getvalue(), file.tell()]
    with file.getbuffer() as view:
        return UNKNOWN if view.nbytes > _MOST else [hashlib.blake2b(view, digest_size=16).digest(), file.tell()]


def _of_view(view):
    try:
        return [view.obj, view.shape, view.strides, view.format]
    except ValueError:
        return []  # it was released


def _of_iterator(value):
    """Returns what is left of an iterator of numpy's, which does not tell it to pickle; None of any other object."""
    numpy = sys.modules["numpy"]
    if isinstance(value, numpy.flatiter):
        return [value.base, value.index]
    if isinstance(value, numpy.broadcast):
        return [[one.base for one in value.iters], value.index]
    return UNKNOWN if isinstance(value, numpy.nditer) else None  # of which nothing tells whether it has begun


def version_of(tensor):
    """Returns the counter that most writes increase; None of a tensor that has none."""
    return None if tensor.is_inference() else tensor._version


def of_sparse(tensor):
    """Returns the dense tensors that hold the values of one that is not strided, and its version."""
    torch, parts = sys.modules["torch"], [str(tensor.layout), list(tensor.shape), version_of(tensor)]
    with torch.no_grad():
        if tensor.layout == torch.sparse_coo:
            parts += [tensor._indices(), tensor._values()]
        elif tensor.layout in [getattr(torch, name, None) for name in ("sparse_csr", "sparse_bsr")]:
            parts += [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
        elif tensor.layout in [getattr(torch, name, None) for name in ("sparse_csc", "sparse_bsc")]:
            parts += [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]
    return parts
