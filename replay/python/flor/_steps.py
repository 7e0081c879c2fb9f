"""Checkpoints between two steps of the loop in a block: a recording that was interrupted goes on in the middle of an epoch, and a replay
begins units there.

What a step leaves to the next is seen as what a block changes is (_free.py). A resumed recording, or a unit, executes the epoch up to the
loop. It begins the elements as they were begun, takes those of the steps that are over, and then restores what the steps changed."""
from . import _held, _interrupts, _library
from ._block import note
from ._library import library
from ._overlooked import BARS, Sources, bars_in, read_among
from ._passing import Passing, PassingState, count_of
from ._rebound import Rebound
from ._receivers import InFrame
from ._seen import changed

_LATE = "there was no time to look"
# Begins the name under which the record has what the checkpoints between the steps of a block hold ("+"), do not hold, what they hold without
# the way to what it was computed from ("^"), and what no look sees ("~"): a bar that shows the progress, and what runs over the elements.
_PLACE, BAR, GRAPH = "@steps:", "~", "^"


def place_of(block):
    """Returns that name, by the block's."""
    return _PLACE + block


def is_of_steps(name):
    """Is it such a name?"""
    return name.startswith(_PLACE)


def steps_of(block, iterable, main):
    """Returns the steps of a loop that is about to begin in `block`, which executes and was looked at; None where its elements may be other
    ones the next time. `main`: what watches the main loop."""
    count = count_of(iterable)
    if count is None or block.state.origins is None or block.loop is None:
        return None
    return Steps(block, iterable, count, main)


class Steps:
    """What iterate() tells of the loop (_loop.py). It enters the guard of the steps."""

    def __init__(self, block, iterable, count, main):
        self.passing = Passing(iterable, count)
        self._block, self._main, self._is_recording = block, main, bool(block.flor.flor_recording())
        self._state = _StepState(block, self)
        self._state.take(block.needed_by_steps)
        self._state.paths |= block.step_paths
        self._known = {}
        self._unasked, self._unsaveable = block.unread_by_steps  # variables that nothing reads: held, and not to be held
        self._rebound = self._state.rebound
        self._why_not = None  # no checkpoint can be taken in this execution
        self._is_known = block.is_known  # an earlier execution showed what the block changes
        self._sources = self._first_fingerprint = self._read_bar = None
        if self._is_recording:
            self._sources = Sources(iterable, block.frame)
            self._first_fingerprint = block.fingerprint_of(self._sources)
            bars = {path: bar for path, bar in bars_in(block.frame).items() if bar is not iterable}
            for path in bars:  # they were there in front of this loop, and may be there behind it
                note(block.flor, BARS, path, False)
            self._read_bar = read_among(bars)
            block.is_unsure = block.is_unsure or self._read_bar is not None  # who skipped it would find the bar as it was in front
            self._note_bars()
        self._held = None  # the fingerprints of what is saved, at the last time that more was found

    def _note_bars(self):
        for path in bars_in(self._block.frame):
            self._note(BAR + path)

    def open(self):
        self._block.flor.flor_enter_guard(self._state.handle)
        _interrupts.raise_kept()

    def begin(self):
        if self._is_recording:
            self._state.end_restore()  # what is saved from here on is what this process finds

    def end(self):
        for path in self._rebound.kept() if self._is_recording else ():
            self._refuse(path)

    def close(self):
        self._block.flor.flor_leave_guard(self._state.handle)
        self._state.close()
        self.passing = self._block = self._main = self._sources = None

    def why_not(self, must):
        """Looks at what changed since the loop began. Returns why its state cannot be saved now, or None."""
        if self._why_not is not None:
            return self._why_not
        if not self.passing.is_as_it_was():
            return self._refuse("the loader")
        count = len(self._state.paths)
        after = self._block.look(must)
        elements = self._block.fingerprint_of(self._sources)
        if after is None or None in (elements, self._first_fingerprint):
            return _LATE
        if elements != self._first_fingerprint:
            return self._refuse("what the loop's elements lead to")
        if self._read_bar is not None:
            return self._refuse(f"{self._read_bar}, a progress bar,")
        self._note_bars()
        bad = self._take_in(after) or self._unsaved()
        self._block.step_paths.update(self._state.paths)
        for path in self._state.paths:
            self._note("+" + path)
        if bad is not None:
            return self._refuse(bad)
        held = self._block.look(must, self._state)
        if held is None:
            return _LATE
        if self._held is None or len(self._state.paths) > count:
            # Whether all of what was found is saved, shows from here on.
            self._held = held
            return None if count == len(self._state.paths) and self._is_known else "what changes was found a moment ago"
        bad = next((path for path in changed(self._held, held) if path in self._state.paths), None)
        return None if bad is None else self._refuse(bad)

    def _unsaved(self):
        """Returns what cannot be saved, or None. What nothing reads is not held then."""
        bad = self._state.unsaved()
        while bad in self._unasked:
            self._unasked.discard(bad)
            self._unsaveable.add(bad)
            self._state.paths.discard(bad)
            self._note(bad)
            bad = self._state.unsaved()
        return bad

    def _refuse(self, path):
        self._why_not = path
        _library.warn(f"{path} cannot be saved between two steps: an epoch that is interrupted begins anew")
        return path

    def _take_in(self, after):
        """Returns what cannot be saved, or None."""
        block, before = self._block, self._block.before
        held = self._main.state.paths if self._main.frame is block.frame else ()
        came = [path for path in after if path not in before and path not in block.state.paths and "." not in path and ":" not in path]
        for path in dict.fromkeys([*(block.slot_of(path, before) for path in changed(before, after)), *came]):
            if path in block.state.paths:
                return path  # of a slot only that counts which cannot be saved
            if self._is_progress(path):
                self._note(BAR + path.split(".")[0])
                continue
            if path in self._state.paths:
                continue
            must = path in held or block.needs(path) or self._is_carried(path)
            is_gone = not self._state.places.is_set(path)
            if must or path not in self._unsaveable and block.is_wanted(path):
                if (is_gone or not self._state.add(path)) and (must or is_gone):
                    return path
                if not must and "." not in path and ":" not in path:
                    self._unasked.add(path)
            if path not in self._state.paths:
                self._note(path)
        return None

    def note_graph(self, path):
        if self._is_recording:
            self._note(GRAPH + path)

    def _note(self, path):
        """Tells a replay what the checkpoints hold, or do not hold though steps change it."""
        note(self._block.flor, place_of(self._block.name), path, False)

    def _is_progress(self, path):
        """Is it the iterator that the loop runs over?"""
        root = self._block.state.places.get(path.split(".")[0])
        return root is self.passing.iterable and self.passing.is_iterator()

    def _is_carried(self, path):
        if path not in self._known:
            self._known[path] = _held.is_carried(self._block.program, self._block.loop, path, InFrame(self._block.frame))
        return self._known[path]


class _StepState(PassingState):
    def __init__(self, block, steps):
        def passes_on(path):
            return _held.is_passed_on(block.program, block.loop, path, True) and not self.rebound.may_lack_graph(path, True)

        # With gradients: between two steps the text does not show whose are cleared.
        super().__init__(block.frame, set(block.state.paths), lambda path: None, block.is_volatile, True, passes_on)
        self.origins, self.passing = block.state.origins, steps.passing
        self.rebound = Rebound(block.program, block.loop, self.places)
        self.lacks = self.rebound.taken
        self._why_not, self.note_graph = steps.why_not, steps.note_graph

    def callbacks(self):
        return (*super().callbacks(), _library.ask_whether(self._ready))

    def _ready(self, is_last, answer):
        why = self._why_not(bool(is_last))
        if why is not None:
            library.flor_fail(answer, why.encode())

    def close(self):
        super().close()
        self._why_not = self.rebound = None
