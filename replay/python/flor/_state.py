"""The objects of a block or guard, as Flor sees them."""
import ctypes
import enum
import functools
import sys

from . import _library
from ._gradient_uses import begin_anew, settle, unknown, watch_all
from ._library import library
from ._leaves import Loaded, name_of
from ._objects import Saver
from ._restore import Misfit, Restorer

# A value of these types never changes. To restore one, Flor would have to set the caller's variable.
_IMMUTABLE = (bool, int, float, complex, str, bytes, tuple, frozenset, type(None))


class State:
    """Holds the objects of a block, or of a guard (""), by their names, until close(). Raises TypeError where one cannot be restored in
    place."""

    def __init__(self, objects, of=""):
        self._of = of
        numpy = sys.modules.get("numpy")
        immutable = (*_IMMUTABLE, enum.Enum, *([numpy.generic] if numpy is not None else []))
        for name, value in objects.items():
            if isinstance(value, immutable):
                which = f"object {name} (from 0)" if name.isdigit() else name
                raise TypeError(f"{which} is of type {type(value).__name__}, which cannot be restored in place: put it into a "
                                "dict, a list or an object, and give that")
        self._objects = objects
        self._leaves = {}  # alive until the next save()
        self._calls = _library.StateCalls(None, _library.ask(self._save), _library.tell(self._check),
                                          _library.tell(self._restore), _library.Tell())
        self.handle = library.flor_new_state(self._calls)

    def close(self):
        library.flor_free_state(self.handle)
        self.handle = None
        self._calls = None  # it refers to this object

    def _save(self, answer):
        self._leaves = {}  # so that memory has one text of a state, not two
        saver = Saver()
        for name, value in self._objects.items():
            saver.save(name_of(name), value)
        self._leaves = saver.leaves
        put_leaves(answer, saver.leaves)
        watch_all(self._of, saver.gradients, False)

    def _check(self, tensors, answer):
        try:
            self._visit(loaded_of(tensors), False)
        except Misfit as misfit:
            library.flor_fail(answer, str(misfit).encode())

    def _restore(self, tensors, _answer):
        settle()
        self._visit(loaded_of(tensors), True)

    def _visit(self, loaded, writing):
        restorer = Restorer(loaded, writing, used=functools.partial(unknown, self._of))
        for name, value in self._objects.items():
            restorer.restore(name_of(name), value)
        restorer.finish()
        begin_anew(self._of, restorer.restored, False)


def put_leaves(answer, leaves):
    for name, leaf in leaves.items():
        shape = (ctypes.c_int64 * len(leaf.shape))(*leaf.shape)
        library.flor_put_buffer(answer, _library.Buffer(name.encode(), leaf.dtype.encode(), shape, len(leaf.shape), leaf.is_own,
                                                        leaf.pointer, leaf.size, *leaf.hint))


def loaded_of(tensors):
    """Returns recorded state as {name: Loaded}, valid during the call."""
    out = {}
    buffer = _library.Buffer()
    for index in range(library.flor_tensors_count(tensors)):
        library.flor_tensors_at(tensors, index, buffer)
        out[buffer.name.decode()] = Loaded(buffer)
    return out
