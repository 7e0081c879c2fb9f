"""flor.skip_block and flor.checkpointing: objects whose state is recorded and restored."""
from . import _library
from ._runtime import start
from ._state import State


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
    object. Of a module its parameters, buffers, training flags and gradient flags are saved, but no gradients: they are
    zeros after a restore. The default generators of torch, numpy and random are always included.

    Raises TypeError at once for an object that cannot be restored in place."""

    def __init__(self, name, *objects, **named):
        self._flor = start()
        self._name = name.encode()
        self._state = State(_named(objects, named)) if self._flor.flor_active() else None
        self._entered = False

    def __enter__(self):
        return self

    def step_into(self):
        """Returns True if the block must be executed, False if its recorded effects were restored."""
        if self._state is None or self._entered:
            return True
        self._entered = True
        executes = self._flor.flor_enter_block(self._name, self._state.handle)
        _library.raise_interrupt()
        return bool(executes)

    def __exit__(self, kind, problem, trace):
        if self._state is None:
            return
        if self._entered:
            self._flor.flor_leave_block(kind is not None)
        self._state.close()
        self._state = None
        if kind is None:
            _library.raise_interrupt()


class checkpointing:
    """A guard around the main loop, for all that one of its iterations passes to the next.

        with flor.checkpointing(net=net, optimizer=optimizer, scheduler=scheduler):
            for epoch in flor.loop("epoch", range(epochs)):

    While it is open its objects are checkpointed at the end of those iterations for which that is worth its cost. A
    replay can then begin at any checkpoint. A forgotten object keeps a stale value there; `flor check --complete` finds
    that. A second guard, inside an iteration, does the same between the steps of the next loop directly inside.

    `objects`: as of skip_block."""

    def __init__(self, *objects, **named):
        self._flor = start()
        self._objects = _named(objects, named)
        self._state = None

    def __enter__(self):
        if self._flor.flor_active():
            self._state = State(self._objects)
            self._flor.flor_enter_guard(self._state.handle)
            _library.raise_interrupt()
        return self

    def __exit__(self, kind, problem, trace):
        if self._state is None:
            return
        self._flor.flor_leave_guard(self._state.handle)
        self._state.close()
        self._state = None
        if kind is None:
            _library.raise_interrupt()
