"""flor.skip_block and flor.checkpointing: objects whose state is recorded and restored."""
import sys
import threading

from . import _failure, _group, _interrupts, _library, _seen
from ._budget import Budget
from ._doubt import Doubt
from ._frames import takes_locals
from ._gradient_uses import settle
from ._held import is_read
from ._holders import clean
from ._program import LEFT, leaves, program_of
from ._runtime import start, users_modules
from ._state import State

here = threading.local()  # `loops`: the names of those that this thread has open, the outermost first
guarded = []  # the objects of each guard that is open
_budget = None
_noted = {}  # {(block, path): does it matter?}


def budget():
    """Returns the time that all looks of this process share, from the first one on."""
    global _budget
    if _budget is None:
        _budget = Budget()
    return _budget


def look(frame, objects, must=False):
    """Returns the fingerprints of all that can be reached and that is not among these objects. None where that takes too long, unless it
    `must` be."""
    # Its dict of variables, which it may have kept, would change.
    return None if takes_locals(frame.f_code) else budget().look(frame, lambda: list(objects), users_modules, must=must)


def note_changes(flor, name, before, after, frame, main_loop=None):
    """Notes in the record what differs between two looks, of which the second may be None. `main_loop`: as of is_read()."""
    for path in _seen.changed(before, after):
        if (name, path) not in _noted:
            note(flor, name, path, is_read(frame, name, path, main_loop))
        owner = after.owner_of(path) or before.owner_of(path)
        if owner is not None:  # it matters, and the text does not tell a replay so
            note(flor, name, f"{owner}:{path}", True)


class Looks:
    """Notes what iterations pass on that no guard holds: where there is a guard, the program names what it holds. An iteration that there is
    no time to look at is in doubt until the next look, which compares with the last one. Each look comes in front of the checkpoint of its
    iteration, behind which the process may end."""

    passing = None

    def __init__(self, flor, frame, loop):
        self._flor, self._frame, self._name, self._before, self._has_begun = flor, frame, loop, None, False
        self._doubt = Doubt(flor, loop, frame.f_lineno)

    def begin(self):
        if self._has_begun:
            return
        self._has_begun = True
        self._before = self._look(True)  # it costs once what it costs: without it all iterations would be in doubt
        if self._before is None:
            note(self._flor, "", "*", True, "what iterations change cannot be looked at: replays and a resumed recording begin at the program's start")
        else:
            self._doubt.begin()

    def end(self):
        settle()
        if self._before is not None:
            self._compare(False)

    def close(self):
        if self._before is not None and not self._compare(True):
            self._doubt.warn()

    def _look(self, must):
        return look(self._frame, [value for held in guarded for value in held.values()], must)

    def _compare(self, must):
        """Returns whether it could look."""
        after = self._look(must)
        if after is not None:
            note_changes(self._flor, "", self._before, after, self._frame, self._name)
            self._before = after
        self._doubt.note(after is None)
        return after is not None


class Uses:
    """Tells, where an iteration of an outermost loop ends, of gradients that it used and that are not known."""

    def begin(self):
        pass

    def end(self):
        settle()

    def close(self):
        pass  # as end(), in front of the end of the loop


def note(flor, name, path, matters, warning=None):
    """Notes once that a block, or an iteration (""), changes what it does not hold; and once more where it turns out to matter. `matters`:
    something else reads it, which the user is warned of, too. `warning`: instead of the usual one."""
    if _noted.get((name, path), -1) >= matters:
        return
    _noted[name, path] = matters
    flor.flor_note_unheld(name.encode(), path.encode(), matters)
    if matters and (path != "*" or warning):
        what = path.replace(":", ".")
        _library.warn(warning or (
            f"block {name} changes {what}: add it to its objects, or replays and a resumed recording execute the block" if name else
            f"an iteration passes {what} to the next: add it to flor.checkpointing, or replays and a resumed recording begin at the "
            "program's start"))


def note_if_left(flor, name, program):
    """Notes that a block may be left in its middle, as by `return`, or holds more than what it skips: a resumed recording that skipped it
    would execute what follows. So it would where the text does not show the block."""
    if (name, LEFT) not in _noted:
        blocks = [block for block in program.blocks if block.name in (name, None)] if program is not None else []
        is_left = not blocks or program.unclear or any(leaves(program, block) is not None for block in blocks)
        _noted[name, LEFT] = True
        if is_left:
            flor.flor_note_unheld(name.encode(), LEFT.encode(), True)


def _named(objects, named):
    return {**{str(index): value for index, value in enumerate(objects)}, **named}


class skip_block:
    """A block whose changes to its objects are recorded, so that a replay can restore them instead of executing it.

        with flor.skip_block("train", net, optimizer) as train:
            if train.step_into():
                ...

    `objects`: what the block changes and later code uses. Allowed are modules and optimizers of torch, tensors, arrays,
    generators (of torch, numpy and random), dicts, lists, sets, objects with attributes, and everything that has
    state_dict() and load_state_dict(). They are restored in place. A number or text cannot be: put it into a dict or an
    object. Of a module its parameters, buffers, extra state, public attributes that are numbers, texts or small containers
    of these, training flags and gradient flags are saved, but no gradients: a restore removes one that the record did not
    have, makes zeros where it had zeros, and ends the replay where the program would use any other one. What cannot be saved inside of an object
    (an open file) ends the recording with a warning. The default generators of torch, numpy and random are always included.

    Objects are recorded by their keywords, or else by their places 0, 1, …, which must stay the same.

    While recording or replaying raises TypeError for a number, text, tuple or the like."""

    def __init__(self, name, *objects, **named):
        self._flor = start()
        self._name = clean(name)
        self._objects = _named(objects, named)
        self._state = State(self._objects, self._name) if self._flor.flor_active() else None
        self._entered = self._is_unseen = False  # was there no time for a look?
        self._frame = self._before = None
        if self._state is not None and self._flor.flor_recording():
            self._frame = sys._getframe(1)

    def __enter__(self):
        return self

    def step_into(self):
        """Returns True if the block must be executed, False if its recorded effects were restored. Always True outside Flor, and
        when it is called again."""
        if self._state is None or self._entered:
            return True
        _group.note(self._flor)
        enter, name, handle = self._flor.flor_enter_block, self._name.encode(), self._state.handle
        self._entered = True  # no signal handler runs between this and the call
        executes = enter(name, handle)
        _interrupts.raise_kept()
        if executes and self._frame is not None:
            note_if_left(self._flor, self._name, program_of(self._frame.f_code.co_filename))
            budget().expect_blocks()
            self._before = self._look()
        return bool(executes)

    def _look(self):
        found = look(self._frame, self._objects.values())
        self._is_unseen = self._is_unseen or found is None
        return found

    def __exit__(self, kind, problem, trace):
        if self._state is None:
            return
        is_whole = False
        try:
            if kind is None:
                settle()
            if self._before is not None and kind is None:  # in front of its checkpoint, behind which the process may end
                note_changes(self._flor, self._name, self._before, self._look(), self._frame)
            is_whole = kind is None and not self._is_unseen  # without a look, what it changed and does not hold is unknown
        finally:  # a handler of the program may raise an exception in a look
            self._leave(is_whole)
        if kind is None:
            _interrupts.raise_kept()

    def _leave(self, is_whole):
        try:
            if self._entered:
                self._flor.flor_leave_block(not is_whole)
        finally:
            self._frame = self._before = None  # it refers to this object
            self._state.close()
            self._state = None


class checkpointing:
    """A guard around the main loop, for all that one of its iterations passes to the next.

        with flor.checkpointing(net=net, optimizer=optimizer, scheduler=scheduler):
            for epoch in flor.loop("epoch", range(epochs)):

    While it is open its objects are checkpointed at the end of those iterations for which that is worth its cost. A
    replay can then begin at any checkpoint. A forgotten object keeps a stale value there; `flor check --complete` finds
    that. Inside of a loop it does nothing, with a warning: a data loader does not begin in the middle.

    `objects`: as of skip_block; a TypeError comes at the `with`."""

    def __init__(self, *objects, **named):
        self._flor = start()
        self._objects = _named(objects, named)
        self._state = None

    def __enter__(self):
        loops = getattr(here, "loops", [])
        if loops:
            _library.warn(f"flor.checkpointing inside of loop {loops[-1].decode()} does nothing: write it around the main loop")
        elif self._flor.flor_active():
            self._state = State(self._objects)
            guarded.append(self._objects)
            self._flor.flor_enter_guard(self._state.handle)
            _interrupts.raise_kept()
        return self

    def __exit__(self, kind, problem, trace):
        if self._state is None:
            return
        _failure.in_turn(self._leave)
        if kind is None:
            _interrupts.raise_kept()

    def _leave(self):
        try:
            self._flor.flor_leave_guard(self._state.handle)
        finally:
            guarded[:] = [objects for objects in guarded if objects is not self._objects]
            self._state.close()
        self._state = None
