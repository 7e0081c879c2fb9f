"""Checkpoints between two steps of the loop in a block: a recording that was interrupted goes on in the middle of an epoch.

What a step leaves to the next is seen as what a block changes is (_free.py). A resumed recording executes the epoch up to the loop. It
begins the elements as they were begun, takes those of the steps that are over, and then restores what the steps changed."""
import ctypes
import hashlib
import json
import random
import sys

from . import _held, _interrupts, _library
from ._leaves import VOLATILE, of_bytes
from ._library import library
from ._passing import count_of, generators_of
from ._restore import Misfit
from ._seen import changed
from ._slots import SlotState
from ._state import loaded_of

_PLACE = VOLATILE + "@step"  # the leaf that says which step is next, and what was drawn in front of the loop; no digest has it


def steps_of(block, iterable, leaves_gradients, main):
    """Returns the steps of a loop that is about to begin in `block`, which executes and was looked at; None where its elements may be other
    ones the next time. `main`: what watches the main loop."""
    count = count_of(iterable)
    if count is None or block.state.origins is None or block.loop is None:
        return None
    return Steps(block, iterable, count, leaves_gradients, main)


class Steps:
    """`begin`, `end`: the steps that are known to come. What tells iterate() that a step's element is fetched when the step has begun, so that
    what the fetch draws belongs to it."""

    def __init__(self, block, iterable, count, leaves_gradients, main):
        self._block, self._iterable, self._main = block, iterable, main
        self._state = _StepState(block, self, leaves_gradients)
        self._state.take(_held.needed_by_loop(block.program, block.loop))
        self.count, self._known = count, {}
        self._why_not = None  # no checkpoint can be taken in this execution
        self._elements, self._entry = None, None
        self.taken, self.next = 0, -1

    def open(self):
        is_range = isinstance(self._iterable, range)
        self._elements = iter(() if is_range else self._iterable)
        self._entry = _digest_of_generators(self._iterable)
        self._block.flor.flor_enter_guard(self._state.handle)
        _interrupts.raise_kept()
        return None if is_range else self._elements

    def begin(self):
        pass

    def end(self):
        pass

    def close(self):
        self._block.flor.flor_leave_guard(self._state.handle)
        self._state.close()
        self._elements = self._iterable = self._block = self._main = None

    def place(self):
        return {"step": self.next, "entry": self._entry}

    def why_another(self, place):
        """Returns why the recorded place is not one of this loop's, or None."""
        return None if place["entry"] == self._entry else "other random numbers were drawn in front of the steps"

    def pass_over(self, place):
        """Takes the elements in front of a step, which nothing else has begun to take. May be called again after an interruption."""
        first = self._iterable.start if isinstance(self._iterable, range) else 0
        while not isinstance(self._iterable, range) and self.taken < place["step"] - first:
            try:
                next(self._elements)
            except StopIteration:
                raise Misfit(f"there are {self.taken} elements, and the record has a step {place['step']}") from None
            self.taken += 1

    def why_not(self, must):
        """Looks at what changed since the loop began. Returns why its state cannot be saved, or None."""
        if self._why_not is None:
            after = self._block.look(must)
            if after is None:
                return "there was no time to look"
            self._why_not = self._take_in(after)
            if self._why_not is not None:
                _library.warn(f"{self._why_not} cannot be saved between two steps: an epoch that is interrupted begins anew")
        return self._why_not

    def _take_in(self, after):
        """Returns what cannot be saved, or None."""
        block, before = self._block, self._block.before
        held = self._main.state.paths if self._main.frame is block.frame else ()
        for path in dict.fromkeys(block.slot_of(path, before) for path in changed(before, after)):
            if path in self._state.paths or block.state.places.get(path.split(".")[0]) is self._iterable:
                continue
            must = path in held or path in block.state.paths or block.needs(path) or self._is_carried(path)
            if not (must or block.is_wanted(path)):
                continue
            if not self._state.add(path) and must:
                return path
        return self._state.unsaved()

    def _is_carried(self, path):
        if path not in self._known:
            self._known[path] = _held.is_carried(self._block.program, self._block.loop, path, self._block.only_adds(path))
        return self._known[path]


class _StepState(SlotState):
    def __init__(self, block, steps, leaves_gradients):
        super().__init__(block.frame, set(block.state.paths), lambda path: None, block.is_volatile, leaves_gradients,
                         lambda path: _held.is_passed_on(block.program, block.loop, path))
        self.origins = block.state.origins
        self._steps = steps

    def callbacks(self):
        return (*super().callbacks(), _library.ask_whether(self._ready))

    def _ready(self, is_last, answer):
        why = self._steps.why_not(bool(is_last))
        if why is not None:
            library.flor_fail(answer, why.encode())

    def own_leaves(self):
        return {_PLACE: of_bytes(json.dumps(self._steps.place()).encode())}

    def _check(self, tensors, answer):
        loaded, place = _placed(tensors)
        why = self._steps.why_another(place)
        if why is not None:
            library.flor_fail(answer, why.encode())
            return
        try:
            self._visit(loaded, False)
        except Misfit as misfit:
            library.flor_fail(answer, str(misfit).encode())

    def _restore(self, tensors, _answer):
        loaded, place = _placed(tensors)
        self._steps.pass_over(place)
        self._visit(loaded, True)

    def close(self):
        super().close()
        self._steps = None


def _placed(tensors):
    loaded = loaded_of(tensors)
    return loaded, json.loads(bytes(loaded.pop(_PLACE).memory()))


def _digest_of_generators(iterable):
    digest = hashlib.blake2b(repr(random.getstate()).encode(), digest_size=16)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and hasattr(numpy, "random"):
        _, words, *rest = numpy.random.get_state()
        digest.update(words.tobytes() + repr(rest).encode())
    if torch is not None and hasattr(torch, "get_rng_state"):
        for state in [torch.get_rng_state(), *(one.get_state() for one in generators_of(iterable))]:
            digest.update(ctypes.string_at(state.data_ptr(), state.numel()))
    return digest.hexdigest()
