"""What a rewritten program calls (_rewrite.py): loops and blocks whose objects nobody named.

What a block or an iteration changes is seen (_seen.py): before and after it, all that can be reached is looked at. What
changed, and is read elsewhere (_held.py), is a slot from then on (_slots.py), saved in each further checkpoint. What cannot be
saved, or was found too late, is noted in the record; a replay then executes the block, or runs from the start."""
import collections
import importlib.machinery
import random
import sys

from . import _held, _hook, _interrupts, _library
from ._block import budget, here as this_thread, note
from ._loop import begins_anywhere, iterate
from ._frames import takes_locals
from ._holders import clean
from ._program import program_of
from ._read_back import reads_back
from ._rows import row_of
from ._runtime import log_row, start, users_modules
from ._origins import Origins, TooMany
from ._seen import changed, members_of, roots_of
from ._slots import SlotState
from ._steps import steps_of
from ._while import Conditions

__all__ = ["Conditions", "be_main", "loop", "main_loop", "noted", "skip_block"]

_VOLATILE, _QUIET = 1, 2  # FLOR_VOLATILE, FLOR_QUIET
_CONTAINERS = (list, dict, set, bytearray, collections.deque, collections.OrderedDict, collections.defaultdict, collections.Counter)
_SMALL, _FEW = 10000, 256  # elements of a list or text, and of a tensor
_blocks = {}  # by name
_unwatched = set()  # blocks that executed since the last look of a main loop without being looked at
_watching = []  # the main loop that is open
_holds_gradients = False


def be_main(variables):
    """Makes the variables of the main script what they are without Flor."""
    if _hook.runs_script:
        variables.update(__spec__=None, __package__=None, __cached__=None,
                         __loader__=importlib.machinery.SourceFileLoader("__main__", variables["__file__"]))


def loop(name, iterable, leaves_gradients=False):
    """A loop inside a main loop. `leaves_gradients`: as of main_loop()."""
    flor, frame = start(), sys._getframe(1)
    block, this_thread.entered = getattr(this_thread, "entered", None), None
    steps = None
    if block is not None and block.frame is frame and len(this_thread.loops) == 1:
        steps = _safely(None, steps_of, block, iterable, leaves_gradients, _watching[-1])
    return iterate(flor, name, iterable, frame, steps)


def main_loop(name, iterable, leaves_gradients=False):
    """A loop of no other one: with a guard of what its iterations change. From one that leaves gradients to its next iteration on,
    all checkpoints hold them."""
    global _holds_gradients
    _holds_gradients |= leaves_gradients
    flor, frame = start(), sys._getframe(1)
    is_watched = not getattr(this_thread, "loops", []) and flor.flor_active()
    is_watched = is_watched and not _shows_locals(frame)
    if is_watched and flor.flor_recording() and not begins_anywhere(iterable):
        _library.warn(f"the main loop's elements come from an object of type {type(iterable).__name__}, which cannot be begun in the middle: "
                      "replays and a resumed recording begin at the program's start")
    return iterate(flor, name, iterable, frame, _safely(None, _MainLoop, flor, frame) if is_watched else None)


def noted(name, value, volatile=False):
    """Logs what the program shows, unless it is the variable of an open loop, which each row has. Returns the value."""
    try:
        if name.encode() in getattr(this_thread, "loops", ()):
            return value
        text = row_of(value)
        if text is not None:
            log_row(name.encode(), text.encode(), _QUIET | _VOLATILE if volatile else _QUIET)
    except Exception as problem:
        if _interrupts.is_programs(problem):
            raise
        # A row less: the value may be of any type.
    _interrupts.raise_kept()
    return value


def _shows_locals(frame):
    is_so = takes_locals(frame.f_code)
    if is_so:
        _library.warn(f"{frame.f_code.co_name}() takes its variables by locals(): what it changes is not watched, and replays run from the "
                      "program's start")
    return is_so


def _safely(fallback, call, *words):
    """Calls what is Flor's own. The program does not see its exceptions."""
    try:
        return call(*words)
    except Exception as problem:
        if _interrupts.is_programs(problem):
            raise
        _library.warn(f"what the program changes is not watched any more ({type(problem).__name__}: {problem})")
        return fallback


def is_asked_for(value):
    """Is it worth holding though nothing reads it yet? A module, a generator, a number, a text, a small tensor, a list of
    numbers."""
    if value is None or isinstance(value, (bool, int, float)):
        return True
    if isinstance(value, str):
        return len(value) < _SMALL
    if isinstance(value, (list, tuple)):
        return len(value) < _SMALL and all(isinstance(item, (bool, int, float, str)) for item in value)
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, (torch.nn.Module, torch.Generator)) or isinstance(value, random.Random):
        return True
    if torch is not None and isinstance(value, torch.Tensor):
        return value.numel() <= _FEW
    return numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)) and value.size <= _FEW


class _Watched:
    """Slots of a block or of the main loop's iterations (""), and what is found to change. `place`: the name under which changes
    that nothing reads are noted; unlike `name` it differs between main loops."""

    count = None  # as of Steps

    def __init__(self, flor, name, frame, paths, place=None):
        self.flor, self.name, self.frame, self.place = flor, name, frame, place or name
        self.state = SlotState(frame, paths, self.refuse, self.is_volatile, _holds_gradients, self.passes_on)
        self._roots = None  # names in front of the first execution

    def refuse(self, path, why="cannot be saved"):
        what = path.replace(":@", "'s ").replace(":", ".")
        note(self.flor, self.name, path, True, f"block {self.name} changes {what}, which {why}: replays and a resumed "
             "recording execute the block" if self.name else f"{what} changes from iteration to iteration and {why}: replays and "
             "a resumed recording begin at the program's start")

    def is_volatile(self, path):
        """Does the text of the program, or of the module that has the variable, take it from a clock? Not so a model."""
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(self.state.places.get(path), (torch.nn.Module, torch.optim.Optimizer, torch.Tensor)):
            return False
        module = sys.modules.get(path.rpartition(":")[0])
        program = program_of(getattr(module, "__file__", "") if module else self.frame.f_code.co_filename)
        return program is not None and not program.moments().isdisjoint(path.rpartition(":")[2].split("."))

    passes_on = None  # as of SlotState

    def only_adds(self, path):
        """Is a path, or its variable, one of Python's own containers, of which `x.add(…)` reads nothing? A method of another class may do
        anything."""
        return any(type(self.state.places.get(place)) in _CONTAINERS for place in (path.split(".")[0], path))

    def look(self, must):
        moved_from = self.state.origins[0].moved_from if self.state.origins else None
        return budget().look(self.frame, self.state.values(), users_modules, frozenset(self.state.paths), must, moved_from)

    def compare(self, before, after, is_late=False):
        """Takes in what changed. `is_late`: checkpoints were taken since. Returns what to compare the next look with; None
        where that is not known, which is noted."""
        following = _safely(None, self._take_in, before, after, is_late)
        if following is None:
            note(self.flor, self.name, "*", True)
        return following

    def _take_in(self, before, after, is_late):
        count = len(self.state.paths)
        for path in dict.fromkeys(self.slot_of(path, before) for path in changed(before, after)):
            if path in self.state.paths:
                self.refuse(path)
            elif self.needs(path):
                if is_late:
                    self.refuse(path, "was not saved before that was seen")
                elif not self.state.add(path):
                    self.refuse(path)
            elif is_late or not self._add_unasked(path):
                note(self.flor, self.place, path, False)
        if not is_late:
            for path in set(after) - set(before):
                if "." not in path:
                    self._add_unasked(path)
        return self.look(True) if len(self.state.paths) > count else after

    def slot_of(self, path, before):
        """Members of an object that was not there in front of the loop or block are no places of their own."""
        if self._roots is None:
            self._roots = {one.split(".")[0] for one in before}
        root = path.split(".")[0]
        return path if root in self._roots else root

    def is_wanted(self, path):
        value = self.state.places.get(path)
        return "." in path or is_asked_for(value) or members_of(value) is not None  # it is another object now

    def _add_unasked(self, path):
        """Holds what nothing reads by the text: a member of an object, which a method may read, and what a later question may ask
        for, modules and small values."""
        is_held = path in self.state.paths or (self.is_wanted(path) and self.state.add(path))
        if is_held:
            note(self.flor, self.place, "+" + path, False)
        return is_held

    def close(self):
        self.state.close()
        self.state = self.frame = None


class _Block:
    """What is known of a block by now."""

    def __init__(self, name, frame):
        self.program = program_of(frame.f_code.co_filename)
        self.holder = next((one for one in self.program.blocks if one.name == clean(name)), None) if self.program else None
        self.needed = _held.needed_by_block(self.program, self.holder) if self.holder else []
        self.loop = next((loop for loop in self.program.loops if self.program.is_inside(loop, self.holder.node)), None) if self.holder else None
        self.slots, self.known = set(), {}
        self.is_tried = self.is_watched = False  # was an execution to be looked at, was one?


class skip_block(_Watched):
    def __init__(self, name):
        flor, frame = start(), sys._getframe(1)
        self._is_active = bool(flor.flor_active())
        self._entered, self.before = False, None
        self._is_active = self._is_active and _safely(False, self._begin, flor, name, frame)

    def _begin(self, flor, name, frame):
        if _shows_locals(frame):
            return False
        if name not in _blocks:
            _blocks[name] = _Block(name, frame)
        self._block = _blocks[name]
        super().__init__(flor, clean(name), frame, self._block.slots)
        self.state.take(self._block.needed)
        return True

    program = property(lambda self: self._block.program)
    loop = property(lambda self: self._block.loop, doc="The loop that is the block, in the program's tree, or None.")

    def needs(self, path):
        block = self._block
        if block.holder is None or ":" in path:
            return True
        if path not in block.known:
            block.known[path] = _held.is_needed(block.program, block.holder, path, self.only_adds(path))
        return block.known[path]

    def __enter__(self):
        return self

    def step_into(self):
        if not self._is_active:
            return True
        enter, name, handle = self.flor.flor_enter_block, self.name.encode(), self.state.handle
        _safely(None, self._remember, self.flor.flor_replaying())
        if self.state.origins is None:
            note(self.flor, self.name, "*", True)
        self._entered = True  # no signal handler runs between this and the call
        executes = enter(name, handle)
        _interrupts.raise_kept()
        if executes and self.flor.flor_recording():
            self.state.end_restore()
            # Once whatever it costs: where one look takes too long, the others would.
            if budget().spend(lambda: self._remember(True) or True, not self._block.is_tried):
                self.before = self.look(not self._block.is_tried)
            self._block.is_tried = True
            if self.before is None:
                self._miss()
            else:
                this_thread.entered = self
        return bool(executes)

    def _remember(self, is_all):
        """Remembers where the objects of the slots are, or all."""
        first = _watching[-1].state.origins if _watching else None
        if _watching and first is None:
            return
        roots = roots_of(self.frame, users_modules()).items() if is_all else [(path, self.state.places.get(path)) for path in self.state.paths]
        here = Origins(roots, True)
        self.state.origins, self.state.knows_all = (here, first[0] if first else here), is_all

    def _miss(self):
        if self._block.is_watched and _watching:
            _unwatched.add(self.name)
        else:
            note(self.flor, self.name, "*", True)

    def __exit__(self, kind, problem, trace):
        if not self._is_active:
            return
        this_thread.entered = None
        is_whole = False
        try:
            if kind is None:
                self._look_behind()
                is_whole = True
        finally:  # a handler of the program may raise an exception in a look
            if self._entered:
                self.flor.flor_leave_block(not is_whole)
            self.state.end_restore()
            self.before = None
            self.close()
        if kind is None:
            _interrupts.raise_kept()

    def _look_behind(self):
        if self.before is None:
            return
        after = self.look(not self._block.is_watched)
        if after is None:
            self._miss()
        else:
            self._block.is_watched = True
            self.compare(self.before, after)


class _MainLoop(_Watched):
    def __init__(self, flor, frame):
        self._program = program_of(frame.f_code.co_filename)
        self._loop = self._loop_at(frame.f_lineno)
        needed = _held.needed_by_loop(self._program, self._loop) if self._loop else []
        super().__init__(flor, "", frame, set(), self._program.guard_of(self._loop).name if self._loop else "@")
        self.state.take(needed)
        self._before, self._is_recording, self._in_doubt = None, bool(flor.flor_recording()), False
        self._has_begun, self._known = False, {}

    def _loop_at(self, line):
        loops = self._program.main_loops() if self._program else []
        return next((loop for loop in loops if loop.lineno <= line <= loop.iter.end_lineno), None)

    def passes_on(self, path):
        return self._loop is None or _held.is_passed_on(self._program, self._loop, path)

    def needs(self, path):
        if self._loop is None or ":" in path:
            return True
        if path not in self._known:
            self._known[path] = _held.is_carried(self._program, self._loop, path, self.only_adds(path))
        return self._known[path]

    def open(self):
        """Begins to watch. Returns None: the elements are not begun."""
        if not _safely(False, self._remember):
            note(self.flor, "", "*", True)
        _watching.append(self)
        self.flor.flor_enter_guard(self.state.handle)
        _interrupts.raise_kept()

    def _remember(self):
        """Remembers where all objects are before anything is restored. Returns whether it does."""
        try:
            origins = Origins(roots_of(self.frame, users_modules()).items())
        except TooMany:
            _library.warn("the program has too many objects to remember where each was: replays and a resumed recording begin at its start")
            return False
        self.state.origins = (origins, origins)
        return True

    def begin(self):
        if self._is_recording and not self._has_begun:
            self.state.end_restore()
            if self._loop is not None and _safely(False, reads_back, self._program, self._loop):
                note(self.flor, "@files", "*", True, "the program seems to load files that its iterations save. No checkpoint has files, so a "
                     "resumed recording begins at the program's start")
            self._before = self.look(True)
            if self._before is None:
                note(self.flor, "", "*", True, "a look at all that the program can reach takes more than a second: replays and a resumed recording "
                     "begin at the program's start")
        self._has_begun = True

    def end(self, must=False):
        if self._before is None:
            return
        after = self.look(must)
        if after is None:
            self._doubt(True)
            return
        paths = changed(self._before, after)
        for name in _unwatched:
            for path in paths:
                note(self.flor, name, path, True)
        _unwatched.clear()
        self._before = self.compare(self._before, after, self._in_doubt)
        if self.state.origins:
            self.state.origins[0].prune()
        self._doubt(False)

    def _doubt(self, is_so):
        """Iterations that were not looked at are in doubt until the next look."""
        if is_so != self._in_doubt:
            self.flor.flor_note_unheld(self.place.encode(), b"*?" if is_so else b"*!", False)
        self._in_doubt = is_so

    def close(self):
        try:
            if self._is_recording and self._has_begun:
                self.end(True)
        finally:
            _watching.remove(self)
            self.flor.flor_leave_guard(self.state.handle)
            super().close()
