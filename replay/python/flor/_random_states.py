"""Restores generators of random numbers that a program made itself: of torch, of numpy and of Python (_restore.py)."""
import random

from . import _leaves, _places
from ._objects import _numpy, _torch
from ._targets import Misfit

GENERATORS = {"generator", "numpy_generator", "random"}


class GeneratorRestorer:
    """A method for each kind. A subclass has _leaf(name), _part(name, node, live) and `_writing`."""

    def _generator(self, name, node, live):
        loaded = self._leaf(node["generator"])
        if not isinstance(live, _torch().Generator):
            raise Misfit(f"{name} is no generator here")
        if self._writing:
            live.set_state(_leaves.to_tensor(loaded))
        return live

    def _numpy_generator(self, name, node, live):
        numpy = _numpy()
        if not isinstance(live, (numpy.random.Generator, numpy.random.RandomState)):
            raise Misfit(f"{name} is no generator of numpy here")
        value = self._part(f"{name}.state", node["numpy_generator"], None)
        try:
            _places.check(value)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            raise Misfit(f"{name} has no state of a generator of numpy's") from None
        if self._writing and isinstance(live, numpy.random.Generator):
            live.bit_generator.state = value
        elif self._writing:
            live.set_state(value)
        return live

    def _random(self, name, node, live):
        if not isinstance(live, random.Random):
            raise Misfit(f"{name} is no random.Random here")
        state = self._part(f"{name}.state", node["random"], None)
        if self._writing:
            version, internal, gauss = state
            live.setstate((version, tuple(internal), gauss))
        return live
