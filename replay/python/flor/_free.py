"""What a rewritten program calls (_rewrite.py): loops and blocks whose objects nobody named.

What a block or an iteration changes is seen (_seen.py): before and after it, all that can be reached is looked at. What
changed, and is read elsewhere (_held.py), is a slot from then on (_slots.py), saved in each further checkpoint. What cannot be
saved, or was found too late, is noted in the record; a replay then executes the block, or runs from the start."""
import importlib.machinery
import random
import sys

from . import _held, _hook, _library
from ._block import budget, here as this_thread, note
from ._loop import iterate
from ._holders import clean
from ._program import program_of
from ._rows import row_of
from ._runtime import start, users_modules
from ._seen import changed
from ._slots import SlotState

__all__ = ["be_main", "loop", "main_loop", "noted", "skip_block"]

_VOLATILE, _QUIET = 1, 2  # FLOR_VOLATILE, FLOR_QUIET
_SMALL, _FEW = 10000, 256  # elements of a list or text, and of a tensor
_blocks = {}  # by name
_unwatched = set()  # blocks that executed since the last look of a main loop without being looked at
_watching = []  # the main loop that is open


def be_main(variables):
    """Makes the variables of the main script what they are without Flor."""
    if _hook.runs_script:
        variables.update(__spec__=None, __package__=None, __cached__=None,
                         __loader__=importlib.machinery.SourceFileLoader("__main__", variables["__file__"]))


def loop(name, iterable):
    return iterate(start(), name, iterable, sys._getframe(1), None)


def main_loop(name, iterable):
    """A loop of no other one: with a guard of what its iterations change."""
    flor, frame = start(), sys._getframe(1)
    is_outermost = not getattr(this_thread, "loops", [])
    return iterate(flor, name, iterable, frame, _MainLoop(flor, frame) if is_outermost and flor.flor_active() else None)


def noted(name, value, volatile=False):
    """Logs what the program shows, unless it is the variable of an open loop, which each row has. Returns the value."""
    if name.encode() in getattr(this_thread, "loops", ()):
        return value
    try:
        text = row_of(value)
        if text is not None:
            start().flor_log(name.encode(), text.encode(), _QUIET | _VOLATILE if volatile else _QUIET)
    except Exception:
        pass  # a row less: the value may be of any type
    return value


def is_asked_for(value):
    """Is it what questions are about, or cheap to hold? A module, a number, a text, a small tensor, a list of numbers, a
    generator."""
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
    """Slots of a block or of the main loop's iterations (""), and what is found to change. `place`: of what does not matter
    the name in the record, which tells one main loop from another."""

    def __init__(self, flor, name, frame, paths, place=None):
        self.flor, self.name, self.frame, self.place = flor, name, frame, place or name
        self.state = SlotState(frame, paths, self.refuse, self.is_volatile)
        self._roots = None  # names in front of the first execution

    def refuse(self, path):
        what = path.replace(":@", "'s ").replace(":", ".")
        note(self.flor, self.name, path, True, f"block {self.name} changes {what}, which no checkpoint holds: replays and a resumed "
             "recording execute it" if self.name else f"an iteration passes {what} to the next, which no checkpoint holds: replays and a "
             "resumed recording begin at the program's start")

    def is_volatile(self, path):
        """Does the text of the program, or of the module that has the variable, take it from a clock?"""
        module = sys.modules.get(path.rpartition(":")[0])
        program = program_of(getattr(module, "__file__", "") if module else self.frame.f_code.co_filename)
        return program is not None and not program.moments().isdisjoint(path.rpartition(":")[2].split("."))

    def look(self, must):
        return budget().look(self.frame, self.state.values(), users_modules, frozenset(self.state.paths), must)

    def compare(self, before, after, is_late=False):
        """Takes in what changed. `is_late`: checkpoints were taken since. Returns what to compare the next look with."""
        count = len(self.state.paths)
        for path in dict.fromkeys(self.slot_of(path, before) for path in changed(before, after)):
            if path in self.state.paths:
                self.refuse(path)
            elif self.needs(path):
                if is_late or not self.state.add(path):
                    self.refuse(path)
            elif is_late or not self._add_cheap(path):
                note(self.flor, self.place, path, False)
        if not is_late:
            for path in set(after) - set(before):
                if "." not in path:
                    self._add_cheap(path)
        return self.look(True) if len(self.state.paths) > count else after

    def slot_of(self, path, before):
        """Members of an object that was not there in front of the loop or block are no places of their own."""
        if self._roots is None:
            self._roots = {one.split(".")[0] for one in before}
        root = path.split(".")[0]
        return path if root in self._roots else root

    def _add_cheap(self, path):
        """Holds what nothing reads, so that a later question may: modules, and small values."""
        is_held = path in self.state.paths or (is_asked_for(self.state.places.get(path)) and self.state.add(path))
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
        self.slots, self.is_watched, self.known = set(), False, {}


class skip_block(_Watched):
    def __init__(self, name):
        flor, frame = start(), sys._getframe(1)
        self._is_active = bool(flor.flor_active())
        self._entered, self._before = False, None
        if not self._is_active:
            return
        if name not in _blocks:
            _blocks[name] = _Block(name, frame)
        self._block = _blocks[name]
        super().__init__(flor, clean(name), frame, self._block.slots)
        self.state.take(self._block.needed)

    def needs(self, path):
        block = self._block
        if block.holder is None or ":" in path:
            return True
        if path not in block.known:
            block.known[path] = _held.is_needed(block.program, block.holder, path)
        return block.known[path]

    def __enter__(self):
        return self

    def step_into(self):
        if not self._is_active:
            return True
        self._entered = True
        executes = self.flor.flor_enter_block(self.name.encode(), self.state.handle)
        _library.raise_interrupt()
        if executes and self.flor.flor_recording():
            self.state.end_restore()
            self._before = self.look(not self._block.is_watched)
            if self._before is None:
                self._miss()
        return bool(executes)

    def _miss(self):
        if self._block.is_watched and _watching:
            _unwatched.add(self.name)
        else:
            note(self.flor, self.name, "*", True)

    def __exit__(self, kind, problem, trace):
        if not self._is_active:
            return
        if self._before is not None and kind is None:
            after = self.look(not self._block.is_watched)
            self._block.is_watched = True
            if after is None:
                self._miss()
            else:
                self.compare(self._before, after)
        if self._entered:
            self.flor.flor_leave_block(kind is not None)
        self.state.end_restore()
        self._before = None
        self.close()
        if kind is None:
            _library.raise_interrupt()


class _MainLoop(_Watched):
    def __init__(self, flor, frame):
        self._program = program_of(frame.f_code.co_filename)
        self._loop = self._loop_at(frame.f_lineno)
        needed = _held.needed_by_loop(self._program, self._loop) if self._loop else []
        super().__init__(flor, "", frame, set(), self._program.guard_of(self._loop).name if self._loop else "@")
        self.state.take(needed)
        self._before, self._is_recording, self._in_doubt = None, bool(flor.flor_recording()), False
        self._has_begun = False

    def _loop_at(self, line):
        loops = self._program.main_loops() if self._program else []
        return next((loop for loop in loops if loop.lineno <= line <= loop.iter.end_lineno), None)

    def needs(self, path):
        return self._loop is None or ":" in path or _held.is_carried(self._program, self._loop, path)

    def open(self):
        _watching.append(self)
        self.flor.flor_enter_guard(self.state.handle)
        _library.raise_interrupt()

    def begin(self):
        if self._is_recording and not self._has_begun:
            self.state.end_restore()
            self._before = self.look(True)
            if self._before is None:
                note(self.flor, "", "*", True)
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
        self._doubt(False)

    def _doubt(self, is_so):
        """Iterations that were not looked at are in doubt until the next look."""
        if is_so != self._in_doubt:
            self.flor.flor_note_unheld(b"", b"*?" if is_so else b"*!", False)
        self._in_doubt = is_so

    def close(self):
        if self._is_recording and self._has_begun:
            self.end(True)
        _watching.remove(self)
        self.flor.flor_leave_guard(self.state.handle)
        super().close()
