"""What a rewritten program calls (_rewrite.py): loops and blocks whose objects nobody named.

What a block or an iteration changes is seen (_seen.py): before and after it, all that can be reached is looked at. What
changed, and is read elsewhere (_held.py), is a slot from then on (_slots.py), saved in each further checkpoint. What cannot be
saved, or was found too late, is noted in the record; a replay then executes the block, or runs from the start."""
import functools
import importlib.machinery
import sys
import weakref

from . import _group, _held, _hook, _interrupts, _lacking, _library, _own_start
from ._block import budget, here as this_thread, note, note_if_left
from ._budget import Budget
from ._doubt import Doubt
from ._folders import NOTE, SCRIPT, text_of
from ._frames import takes_locals
from ._gradient_uses import begin_iteration, settle
from ._holders import clean
from ._loop import begins_anywhere, iterate
from ._origins import Origins, TooMany
from ._overlooked import BARS, GRAPHS, Sources, bars_in, read_among
from ._passing import Passing, count_of
from ._program import program_of
from ._rebound import LACKED, Rebound
from ._receivers import InFrame
from ._rows import row_of
from ._runtime import log_row, start, users_modules
from ._seen import roots_of
from ._steps import steps_of
from ._watched import Watched, hold_gradients, safely
from ._while import CONDITION, Conditions

__all__ = ["Conditions", "be_main", "loop", "main_loop", "noted", "skip_block"]

_VOLATILE, _QUIET = 1, 2  # FLOR_VOLATILE, FLOR_QUIET
_blocks = {}  # by name
_remembering = Budget()  # the time that goes to remember where the objects of slots are, where all objects take too long
_watching = []  # the main loop that is open; none where it is not watched, as that of a function that takes its locals()


def be_main(variables):
    """Makes the variables of the main script what they are without Flor."""
    if _hook.runs_script:
        variables.update(__spec__=None, __package__=None, __cached__=None,
                         __loader__=importlib.machinery.SourceFileLoader("__main__", variables["__file__"]))


def loop(name, iterable):
    """A loop inside a main loop."""
    flor, frame = start(), sys._getframe(1)
    block, this_thread.entered = getattr(this_thread, "entered", None), None
    steps = None
    # Between two steps of an epoch only what the main loop's guard does not hold is saved: without a guard nothing is.
    if block is not None and block.frame is frame and len(this_thread.loops) == 1 and _watching:
        steps = safely(None, steps_of, block, iterable, _watching[-1])
    return iterate(flor, name, iterable, frame, steps)


def main_loop(name, iterable, reads_gradients=False, has_changing_condition=False, reads_back=False, loads_elsewhere=False):
    """A loop of no other one: with a guard of what its iterations change. From one that reads gradients behind its blocks on, all
    checkpoints hold them. One whose condition may change something, or whose program loads what it saves, is not begun in its middle. Of a
    program that loads files elsewhere, what its variables hold in front of its loop is recorded."""
    if loads_elsewhere:
        _own_start.ask()
    if reads_gradients:
        hold_gradients()
    flor, frame = start(), sys._getframe(1)
    safely(None, _note_folders, flor)
    is_watched = not getattr(this_thread, "loops", []) and flor.flor_active()
    is_watched = is_watched and not _shows_locals(frame)
    count = None if begins_anywhere(iterable) else safely(None, count_of, iterable)
    if is_watched and flor.flor_recording() and not begins_anywhere(iterable) and count is None:
        _library.warn(f"the main loop's elements come from an object of type {type(iterable).__name__}, which cannot be begun in the middle: "
                      "replays and a resumed recording begin at the program's start")
    if is_watched and flor.flor_recording() and has_changing_condition:
        note(flor, "", CONDITION, True, f"the condition of the loop in line {frame.f_lineno} may change something: replays and a resumed recording "
             "begin at the program's start")
    if is_watched and flor.flor_recording() and reads_back:
        note(flor, "@files", "*", True, "the program seems to load files that its iterations save. No checkpoint has files, so a resumed recording "
             "begins at the program's start")
    watch = safely(None, _MainLoop, flor, frame) if is_watched else None
    if watch is not None and count is not None:
        watch.begin_inside(iterable, count)
    return iterate(flor, name, iterable, frame, watch)


def _note_folders(flor):
    text = text_of(*_hook.read) if _hook.read is not None and flor.flor_recording() else None
    if text is not None:
        note(flor, NOTE, text, False)
    if text is not None and not _hook.runs_script:
        note(flor, SCRIPT, _hook.read[0], False)


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


class _Block:
    """What is known of a block by now. `needed_by_steps`: what a step of its loop passes to the next, by the text."""

    def __init__(self, name, frame):
        self.code = frame.f_code
        self.program = program_of(self.code.co_filename)
        self.holder = next((one for one in self.program.blocks if one.name == clean(name)), None) if self.program else None
        self.needed = _held.needed_by_block(self.program, self.holder) if self.holder else []
        self.loop = next((loop for loop in self.program.loops if self.program.is_inside(loop, self.holder.node)), None) if self.holder else None
        self.slots, self.known, self.step_paths, self.unread_by_steps = set(), {}, set(), (set(), set())
        self.is_tried = self.is_watched = False  # was an execution to be looked at, was one?

    def needs(self, path, frame):
        """Does anything read what lies at a path in a frame, other than the block, before it is bound anew? Of another function's frame the names
        say nothing."""
        if self.holder is None or ":" in path or frame.f_code is not self.code:
            return True
        if path not in self.known:
            self.known[path] = _held.is_needed(self.program, self.holder, path, InFrame(frame))
        return self.known[path]

    @functools.cached_property
    def needed_by_steps(self):
        return _held.needed_by_loop(self.program, self.loop)


class skip_block(Watched):
    def __init__(self, name):
        flor, frame = start(), sys._getframe(1)
        self._is_active = bool(flor.flor_active())
        self._entered, self.before = False, None
        self._is_active = self._is_active and safely(False, self._begin, flor, name, frame)

    def _begin(self, flor, name, frame):
        if _shows_locals(frame):
            return False
        if name not in _blocks:
            _blocks[name] = _Block(name, frame)
        self._block = _blocks[name]
        super().__init__(flor, clean(name), frame, self._block.slots)
        self.state.take(self._block.needed)
        return True

    is_known = property(lambda self: self._block.is_watched, doc="Did an earlier execution show what it changes?")
    step_paths = property(lambda self: self._block.step_paths, doc="What earlier executions found to change from step to step.")
    program = property(lambda self: self._block.program)
    loop = property(lambda self: self._block.loop, doc="The loop that is the block, in the program's tree, or None.")
    needed_by_steps = property(lambda self: self._block.needed_by_steps)
    unread_by_steps = property(lambda self: self._block.unread_by_steps)

    def needs(self, path):
        return self._block.needs(path, self.frame)

    def __enter__(self):
        return self

    def step_into(self):
        if not self._is_active:
            return True
        _group.note(self.flor)
        enter, name, handle, is_replaying = self.flor.flor_enter_block, self.name.encode(), self.state.handle, self.flor.flor_replaying()
        self.state.remember = lambda: safely(None, self._remember, is_replaying)
        if is_replaying:
            self.state.remember()
        self._entered = True  # no signal handler runs between this and the call
        executes = enter(name, handle)
        self.state.remember = None  # from here on objects change
        _interrupts.raise_kept()
        if executes and self.flor.flor_recording():
            note_if_left(self.flor, self.name, self.program)
            self.state.end_restore()
            self._look_before()
        elif executes and is_replaying:
            this_thread.entered = self  # a unit may begin between its steps
        return bool(executes)

    def _look_before(self):
        """Remembers where all objects are and looks at them; or remembers at least where those of the slots are."""
        budget().expect_blocks()
        # Once whatever it costs: where one look takes too long, the others would.
        if budget().spend(lambda: self._remember(True) or True, not self._block.is_tried):
            self.before = self.look(not self._block.is_tried)
        elif self.state.origins is None:
            _remembering.spend(lambda: self._remember(False) or True, False)
        self.state.must_know = not _watching or _watching[-1].state.origins is not None
        if not self.state.must_know:  # no restore of what the main loop has could be right
            note(self.flor, self.name, "*", True)
        self._block.is_tried = True
        if self.before is None:
            self._miss()
        else:
            this_thread.entered = self

    def _remember(self, is_all):
        """Remembers where the objects of the slots are, or all."""
        first = _watching[-1].state.origins if _watching else None
        if _watching and first is None:
            return
        roots = roots_of(self.frame, users_modules()).items() if is_all else [(path, self.state.places.get(path)) for path in self.state.paths]
        here = Origins(roots, True)
        self.state.origins, self.state.knows_all = (here, first[0] if first else here), is_all

    def _miss(self):
        self.is_unsure = True  # no checkpoint: what this execution changed and does not hold is unknown
        if not self._block.is_watched:
            note(self.flor, self.name, "*", True)

    def __exit__(self, kind, problem, trace):
        if not self._is_active:
            return
        this_thread.entered = None
        is_whole = False
        try:
            if kind is None:
                settle()
                self._look_behind()
                is_whole = not self.is_unsure
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


class _MainLoop(Watched):
    def __init__(self, flor, frame):
        self._program = program_of(frame.f_code.co_filename)
        self._loop = self._loop_at(frame.f_lineno)
        needed = _held.needed_by_loop(self._program, self._loop) if self._loop else []
        super().__init__(flor, "", frame, set(), self._program.guard_of(self._loop).name if self._loop else "@")
        self.state.take(needed)
        self._before, self._is_recording, self._is_late = None, bool(flor.flor_recording()), False
        self._sources = self._first_fingerprint = None
        self._doubt = Doubt(flor, self.place, frame.f_lineno)
        self._has_begun, self._is_inside, self._known, self._count, self._bars = False, False, {}, 0, {}
        self._rebound = Rebound(self._program, self._loop, self.state.places)
        self.state.lacks = self._rebound.taken
        self.state.note_graph = self._note_graph if self._is_recording else None

    def begin_inside(self, iterable, count):
        """Lets a replay, and a resumed recording, begin in the middle of its elements: they come again."""
        self.passing = self.state.passing = Passing(iterable, count)
        self._sources = Sources(iterable, self.frame) if self._is_recording else None

    def _loop_at(self, line):
        loops = self._program.main_loops() if self._program else []
        return next((loop for loop in loops if loop.lineno <= line <= loop.iter.end_lineno), None)

    def passes_on(self, path):
        if self._loop is None:
            return True
        return _held.is_passed_on(self._program, self._loop, path) and not self._rebound.may_lack_graph(path)

    def refuse(self, path, why="cannot be saved"):
        if self._rebound.may_lack(path):
            note(self.flor, self.place, LACKED + path, False)
        else:
            super().refuse(path, why)

    def needs(self, path):
        if self._loop is None or ":" in path:
            return True
        if path not in self._known:
            self._known[path] = _held.is_carried(self._program, self._loop, path, InFrame(self.frame))
        return self._known[path]

    def open(self):
        if not safely(False, self._remember):
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
        begin_iteration()
        self._count += 1
        if self._is_recording and self._count & (self._count - 1) == 0:  # at the first ones, and more and more seldom
            safely(None, self._note_bars)
        if self._is_recording and not self._has_begun:
            self.state.end_restore()
            self._before = self.look(True)
            self._first_fingerprint = self._fingerprint_of_sources(True)
            if self._before is None:
                note(self.flor, "", "*", True, "a look at all that the program can reach takes more than a second: replays and a resumed recording "
                     "begin at the program's start")
            else:
                self._doubt.begin()
        self._has_begun = self._is_inside = True

    def _note_bars(self):
        bars = bars_in(self.frame)
        for path in bars:
            note(self.flor, BARS, path, False)
        lasting = [path for path, bar in bars.items() if path in self._bars and self._bars[path]() is bar]
        path = read_among(lasting)
        if path is not None:
            note(self.flor, "", "*", True, f"the program reads how far {path}, a progress bar, is: replays and a resumed recording begin at the "
                                           "program's start")
        self._bars = {path: weakref.ref(bar) for path, bar in bars.items()}

    def _note_graph(self, path):
        note(self.flor, GRAPHS, path, False)

    def _end_iteration(self):
        _lacking.end_if_missed()
        settle()
        is_over, self._is_inside = self._is_inside and self._is_recording, False
        for path in self._rebound.kept() if is_over else ():
            self.refuse(path)
            self.state.paths.discard(path)

    def _fingerprint_of_sources(self, must):
        """Returns "" where the loop is not begun in the middle of its elements, and None where there was no time."""
        return "" if self._sources is None else self.fingerprint_of(self._sources, must)

    def end(self, must=False):
        self._end_iteration()
        if self._before is None:
            return
        after, elements = self.look(must), self._fingerprint_of_sources(must)
        if elements is not None and elements != self._first_fingerprint:
            note(self.flor, "", "*", True, "what the main loop's elements lead to changes, and no variable has it: replays and a resumed recording "
                 "begin at the program's start")
        if None in (after, elements):
            self._is_late = True
            self._doubt.note(True)
            return
        self.is_unsure, is_late, self._is_late = False, self._is_late, False
        self._before = self.compare(self._before, after, is_late)
        if self.state.origins:
            self.state.origins[0].prune()
        self._doubt.note(self.is_unsure)

    def close(self):
        try:
            if self._is_recording and self._has_begun:
                safely(None, self._note_bars)
                self.end(True)
            if self._is_late:
                self._doubt.warn()
        finally:
            _watching.remove(self)
            self.flor.flor_leave_guard(self.state.handle)
            self.passing = self._sources = None
            super().close()
