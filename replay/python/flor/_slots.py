"""Variables whose values are recorded and restored, where a program names no objects itself.

A *slot* is a place that holds a value: "x", a local variable of the frame or else a global one; "x.member", an attribute of an
object of the user's; "module:x", a variable of another module. Its value is restored in place where that can be, and else put
into the slot: so numbers, texts and new objects can be restored, too."""
import ctypes
import functools
import json
import sys
import types

from . import _interrupts, _lacking, _library, _seen
from ._attributes import dict_of
from ._frames import locals_of
from ._gradient_uses import begin_anew, hold_of_libraries, is_held, settle, unknown, watch_all
from ._imported import import_for
from ._library import library
from ._leaves import MOVED, VOLATILE, name_of, of_bytes, path_in
from ._marker import Marker
from ._kinds import KEPT, is_pythons_own
from ._objects import Saver, order_of
from ._origins import MARKS
from ._restore import Misfit, Restorer
from ._room import NoRoom
from ._runtime import users_modules
from ._settable import is_of_loggers
from ._state import loaded_of, put_leaves

_MISSING = object()
_TREE, _GRADIENT = ".@tree", ".@grad"


class Places:
    """Reads and writes the slots that a frame can see."""

    def __init__(self, frame):
        self._frame = frame

    def slot_of(self, path):
        """Returns the slot that a path of the analysis lies in: `a.b` for a.b.c of an object `a` of the user's, else `a`."""
        words = path.split(".")
        return ".".join(words[:2]) if len(words) > 1 and _seen.members_of(self.get(words[0])) is not None else words[0]

    def get(self, path, missing=None):
        owner, key, _ = self._owner(path)
        if owner is None:
            return missing
        return owner.get(key, missing)

    def is_set(self, path):
        owner, key, _ = self._owner(path)
        return owner is not None and key in owner

    def has(self, path):
        """Is there an object or module of the user's that can have it? Who wrote a record may have named any place of the process, such
        as `sys:path`."""
        module, _, name = path.rpartition(":")
        words = name.split(".")
        if any(is_pythons_own(word) for word in words):
            return False
        if module and not any(one.__name__ == module for one in users_modules()):
            return False
        outer = self.get(path.rpartition(".")[0]) if len(words) > 1 else None
        return self._owner(path)[0] is not None and (len(words) == 1 or _seen.members_of(outer) is not None)

    def set(self, path, value):
        owner, key, is_local = self._owner(path)
        if is_local:
            self._set_local(key, value)
        else:
            owner[key] = value

    def unbind(self, name):
        """Unbinds a variable."""
        variables, _, is_local = self._owner(name)
        if is_local:
            self._set_local(name, _MISSING)
        else:
            del variables[name]

    def _owner(self, path):
        """Returns the dict that holds the slot, of variables or of an object's attributes, or None; the slot's name in it; and
        whether these are local variables."""
        module, colon, name = path.rpartition(":")
        name, dot, member = name.partition(".")
        code = self._frame.f_code
        is_local = not colon and name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
        if colon:
            variables = vars(sys.modules[module]) if module in sys.modules else {}
        else:
            variables = locals_of(self._frame) if is_local else self._frame.f_globals
        if not dot:
            return variables, name, is_local
        return dict_of(variables.get(name)), member, False

    def _set_local(self, name, value):
        variables = self._frame.f_locals
        if sys.version_info >= (3, 13):  # the frame itself is written (PEP 667), and unbinds nothing
            variables[name] = _lacking.Unbound(name) if value is _MISSING else value
            return
        if value is _MISSING:
            del variables[name]
        else:
            variables[name] = value
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(self._frame), ctypes.c_int(value is _MISSING))
        variables.clear()  # it would keep the values alive


class SlotState:
    """The slots of a block or guard, until close(). `paths`: a set, which may grow. `refused`: is called with a path that cannot
    be saved, which is then no slot any more, and the reason. `is_volatile`: may a slot have another value in each execution, as a time? Then
    it is restored, but compared with nothing. `gradients`: are the values of gradients held, too? `passes_on`: None, or may what
    follows compute with a slot, so that the way to what it was computed from must not be cut?"""

    def __init__(self, frame, paths, refused, is_volatile, gradients=False, passes_on=None):
        self.places = Places(frame)
        self.paths, self.of = paths, ""  # the block whose slots they are; "" for a main loop
        self._expected = self._expected_gradients = None
        self._refused, self._is_volatile, self._gradients, self._passes_on = refused, is_volatile, gradients, passes_on
        self._leaves = {}  # alive until the next save()
        self.origins = None  # of the block or loop, and of the main loop: set before anything is saved or restored
        self.knows_all = True  # or only where the objects of known slots were
        self.remember = None  # sets `origins` where they are asked for, as long as no object has changed
        self.must_know = False  # is nothing saved without them?
        self.note_graph = None  # is called with the path of what is saved without the way to what it was computed from
        self.lacks = None  # returns the names of variables that a checkpoint which is taken now, of these paths, lacks
        self._has_marks = True
        self._calls = _library.StateCalls(None, *self.callbacks())
        self.handle = library.flor_new_state(self._calls)

    def callbacks(self):
        return _library.ask(self._save), _library.tell(self._check), _library.tell(self._restore), _library.tell(self._expect)

    def own_leaves(self):
        """Returns what is saved besides the slots. _check() and _restore() must take it away again."""
        return {}

    def close(self):
        library.flor_free_state(self.handle)
        self.handle = self._calls = None  # they refer to this object, as the others may do
        self._refused = self._is_volatile = self._passes_on = self.remember = self.lacks = self.note_graph = None

    def values(self):
        """Returns what the slots hold."""
        found = [self.places.get(path, _MISSING) for path in sorted(self.paths)]
        return [value for value in found if value is not _MISSING]

    def take(self, paths):
        """Makes slots of what the text names, as of `torch.nn.utils.clip_grad_norm_()`: not of modules."""
        for path in paths:
            slot = self.places.slot_of(path)
            value = self.places.get(slot)
            # What changes of an object of the user's is seen, member by member.
            if not isinstance(value, types.ModuleType) and ("." in slot or _seen.members_of(value) is None):
                self.paths.add(slot)

    def add(self, path):
        """Makes it a slot, if its value can be saved. Returns False if not."""
        if ":@" in path:  # a setting of the process
            return False
        try:
            if not self._saved(self._saver(True), path):
                return False
        except NoRoom:
            pass  # it can be saved, at another time
        self.paths.add(path)
        return True

    def end_restore(self):
        """After a restore the slots are those that were restored, and those that were known before."""
        if self._expected is not None:
            self.paths |= self._expected
            self._expected = self._expected_gradients = None
            self._has_marks = True

    def _save(self, answer):
        self._leaves = {}  # so that memory has one text of a state, not two
        self._ask_origins()
        if self.origins is None and self.must_know:
            raise NoRoom("there was no time to remember where the objects were before they changed")
        while True:
            saver = self._saver()
            paths = self.paths if self._expected is None else self._expected
            bad = next((path for path in self._in_order(paths) if not self._saved(saver, path)), None)
            if bad is None:
                break
            paths.discard(bad)
            self._refused(bad)
        if saver.marker is not None:
            saver.leaves[MARKS] = of_bytes(json.dumps(saver.marker.marks).encode())
        lacking = self.lacks(paths) if self.lacks is not None else []
        self._leaves = {**saver.leaves, **_lacking.leaves_of(lacking, saver.graphs), **self.own_leaves()}
        put_leaves(answer, self._leaves)
        watch_all(self.of, saver.gradients)
        hold_of_libraries(saver.optimizers)

    def _ask_origins(self):
        if self.origins is None and self.remember is not None:
            self.remember()

    def unsaved(self):
        """Returns a slot whose value cannot be saved now, or None."""
        saver = self._saver()
        return next((path for path in self._in_order(self.paths) if not self._saved(saver, path)), None)

    def _saver(self, is_alone=False):
        return Saver(True, self._holds_gradient, Marker(*self.origins, is_alone) if self.origins and self._has_marks else None)

    def _holds_gradient(self, name, parameter):
        if self._expected is None and library.flor_recording():
            return self._gradients or is_held(self.of, parameter)
        return self._gradients if self._expected_gradients is None else name + _GRADIENT in self._expected_gradients

    def _in_order(self, paths):
        # A member may belong to another object than the variable had when it is restored.
        paths = [path for path in paths if "." not in path or path.split(".")[0] not in paths]
        return sorted(paths, key=lambda path: (order_of(self.places.get(path)), path))

    def _saved(self, saver, path):
        value = self.places.get(path, _MISSING)
        if isinstance(value, (type, types.ModuleType)) or any(is_pythons_own(word) for word in path.rpartition(":")[2].split(".")):
            return False  # it would stay as it is
        if self._expected is None and is_of_loggers(type(value)):
            return True  # it stays what it is, as a bar that the loop makes: None in a process that goes on
        try:
            saver.has_graph = saver.has_history = False
            if value is not _MISSING:
                saver.save(name_of(path, self._is_volatile(path)), value)
            if saver.has_history and self.note_graph is not None:
                self.note_graph(path)
            # A block that a replay skips lacks it, too.
            return not saver.has_graph or self._passes_on is None or not library.flor_recording() or not self._passes_on(path)
        except NoRoom:
            raise
        except Exception as problem:
            if _interrupts.is_programs(problem):
                raise
            return False

    def _check(self, tensors, answer):
        self._check_loaded(loaded_of(tensors), answer)

    def _check_loaded(self, loaded, answer):
        try:
            self._visit(loaded, False)
        except Misfit as misfit:
            library.flor_fail(answer, str(misfit).encode())

    def _restore(self, tensors, _answer):
        self._visit(loaded_of(tensors), True)

    def _visit(self, loaded, writing):
        if writing:
            settle()
        self._ask_origins()
        import_for(map(path_in, _names_in(loaded)))
        lacking, graphs = _lacking.take_from(loaded)
        restorer = Restorer(loaded, writing, self.origins, functools.partial(unknown, self.of))
        restorer.lost = {name: functools.partial(_lacking.with_lost_graph, path_in(name).partition(MOVED)[0], self.of) for name in graphs}
        alive = self.values()  # also what a variable is bound to no more, as of two that are exchanged
        for name in sorted(_names_in(loaded), key=lambda name: (restorer.order_of(name), path_in(name))):
            path = path_in(name)
            here = self.places.get(path, _MISSING)
            live = None if here is _MISSING else here
            if not self.places.has(path):
                raise Misfit(f"{path} is not there, or is no variable of the program's")
            if name.startswith(VOLATILE) and not self._is_volatile(path):
                raise Misfit(f"{path} has no value of a clock here, and is in no digest of the record")
            value = restorer.value(name, live)
            if value is not live and isinstance(live, KEPT):
                raise Misfit(f"{path} is a function, class or module here")
            if writing and value is not here:  # also None where the variable is not bound yet
                self.places.set(path, value)
        restorer.finish()
        begin_anew(self.of, restorer.restored)
        if writing:
            _lacking.unbind(self.places, lacking, self.of)
        del alive

    def _expect(self, texts, _answer):
        names = _library.texts_of(texts)
        self._has_marks = MARKS in names  # not where there was no time, nor in records of earlier versions
        self._expected = {path_in(name) for name in _names_in(names)}
        self._expected_gradients = {name for name in names if name.endswith(_GRADIENT)}
        self._ask_origins()
        if self.origins and not self.knows_all:
            self.origins[0].extend([(path, self.places.get(path)) for path in self._expected])


def _names_in(names):
    return [name[:-len(_TREE)] for name in names if name.endswith(_TREE)]
