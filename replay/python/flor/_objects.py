"""Objects of a program as JSON and leaves, and back: into the same objects, in place.

Saved are the values, and which of them are one object. Containers, plain objects, modules, optimizers, and
whatever has state_dict() and load_state_dict() are restored in place, so that other references to them see the
recorded values. Functions, classes and modules of Python stay what they are in the program that runs."""
import collections
import enum
import random
import struct
import sys
import types

from . import _leaves, _made, _unchanged
from ._gradient_memory import GradientMemory
from ._graphs import is_live
from ._inner import memories_in, memory_of, modules_in
from ._kinds import attributes_of, factory_of, is_kept, is_stateful, is_whole_object, kept_module, kept_name, name_of_kind
from ._left_out import is_unknown, plain_of, state_of, trained_in
from ._modules import flags_of, has_extra_state, plain_attributes
from ._settable import is_settable
from ._trees import SIMPLE, TreeSaver

_CONTAINERS = (dict, list, tuple, set, frozenset, collections.deque, collections.OrderedDict, collections.defaultdict,
               collections.Counter)
# Of these very types a value is nothing else, and needs no further look.
_PLAIN_CONTAINERS = frozenset((dict, list, tuple, set, frozenset, collections.deque))
# Bytes, below which they are part of the tree: a leaf of their own costs the library more than their text.
_MANY = {bytes: 1 << 20, bytearray: 4096}


def _not_saved(name, value):
    return TypeError(f"{name}: an object of type {name_of_kind(type(value))} cannot be saved; give its class state_dict() "
                     "and load_state_dict()")


def _torch():
    torch = sys.modules.get("torch")
    return torch if torch is not None and hasattr(torch, "nn") else None


def _numpy():
    return sys.modules.get("numpy")


def order_of(value):
    """Returns a key to sort by: modules are saved first, and schedulers last. What comes later saves only what is not there yet."""
    torch = _torch()
    if torch is not None and isinstance(value, torch.nn.Module):
        return 0
    if torch is not None and isinstance(value, torch.optim.Optimizer):
        return 2
    return 3 if is_stateful(value) else 1


def _parameters_of(optimizer):
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


class Saver(TreeSaver):
    """Saves objects as leaves: `leaves` by their names. `strict`: refuses what is kept as it is, and yet may hold what changes: functions with
    variables of an enclosing one, methods of other objects. With an optimizer it saves parameters that no module before has saved, and with a
    scheduler its optimizer. `holds_gradient`: None, or does it save that of a parameter, of this name? `marker`: names objects that are not
    where they were (_origins.py). `gradients`: of each parameter that has one other than zeros, whether it was saved. `optimizers`: those
    that were saved."""

    def __init__(self, strict=False, holds_gradient=None, marker=None):
        super().__init__()
        self._strict, self._holds_gradient, self.marker = strict, holds_gradient, marker
        self.has_graph, self.graphs = False, set()  # was a tensor saved that a later backward() may go through? Names of such tensors
        self.has_history = False  # was a tensor saved that was computed from parameters? Restored, it shows none of that
        self._copies = self._parts = 0
        self._given = ()  # memory of tensors that the state of the object around a module has
        self.gradients, self.optimizers, self._memory = [], [], GradientMemory()
        self._freed = set()  # nodes of graphs
        self._states = {}  # of gradients, by the ids of their parameters
        self._alive = []  # so that no other object gets the id of one that was seen

    def _node(self, name, value):
        kind = type(value)
        if kind in SIMPLE:
            return value
        if kind is float:
            return {"float": struct.pack(">d", value).hex()}
        if kind is bytes and len(value) >= _MANY[bytes]:
            return self._bytes(name, value)  # one may stand for an equal one, so that each is written
        if id(value) in self._seen:
            return {"same": self._seen[id(value)]}
        node = None if kind in _PLAIN_CONTAINERS else self._atom(value)
        if node is not None:
            if self._strict and "kept" in node and not self._is_constant(value):
                raise _not_saved(name, value)
            if self._is_marked() and ("kept" in node or "enum" in node):
                self.marker.refuse_unknown(name, value)
            return node
        if self._is_marked() and not isinstance(value, (tuple, frozenset)):
            name = self.marker.place(name, value)
        self._seen[id(value)] = name
        self._alive.append(value)
        if kind in _PLAIN_CONTAINERS:
            return self._items(name, value)
        if self._is_marked():
            self.marker.refuse_unmade(name, value)
        if kind is bytearray:
            return self._bytes(name, value)
        return self._torch_node(name, value) or self._numpy_node(name, value) or self._container(name, value)

    def _is_marked(self):
        return self.marker is not None and not self._copies and not self._parts

    def _bytes(self, name, value):
        """Many bytes have a leaf of their own: their text would be a copy of twice the size."""
        if type(value) is bytearray:
            self._size += len(value)
            self._check_room(name)
        self._leaf(name, _leaves.of_bytes_object(value))
        return {f"{type(value).__name__}_in": name}

    def _is_constant(self, value):
        if isinstance(value, types.FunctionType):
            found = sys.modules.get(value.__module__)
            for word in value.__qualname__.split("."):
                found = getattr(found, word, None)
            return found is value and not value.__closure__ and not vars(value) and not value.__defaults__ and not value.__kwdefaults__
        if isinstance(value, types.MethodType):
            return id(value.__self__) in self._seen
        if isinstance(value, types.BuiltinFunctionType):  # of a generator, say, which it draws from
            return value.__self__ is None or isinstance(value.__self__, (types.ModuleType, type)) or id(value.__self__) in self._seen
        return True

    @staticmethod
    def _atom(value):
        if type(value) is complex:
            return {"complex": struct.pack(">dd", value.real, value.imag).hex()}
        if type(value) in _MANY and len(value) < _MANY[type(value)]:
            return {type(value).__name__: value.hex()}
        if type(value) in (range, slice):
            return {type(value).__name__: [value.start, value.stop, value.step]}
        if _made.parts_of(value) is not None:
            return {"made": _made.name_of(value), "of": _made.parts_of(value)}
        if isinstance(value, enum.Enum):
            return {"enum": value.name, "of": name_of_kind(type(value))}
        if is_kept(value):
            return {"kept": kept_name(value), "module": kept_module(value)}
        torch = _torch()
        if torch is not None and isinstance(value, (torch.dtype, torch.device)):
            return {"torch": type(value).__name__, "is": str(value).replace("torch.", "")}
        return None

    def _torch_node(self, name, value):
        torch = _torch()
        if torch is None:
            return None
        if isinstance(value, torch.Tensor):
            self._leaf(name, self._of_tensor(name, value))
            self.has_history |= value.grad_fn is not None
            if is_live(value, self._freed):
                self.has_graph = True
                self.graphs.update((name,) if self._is_marked() else ())
            node = {"tensor": name, "device": str(value.device), "trained": value.is_leaf and value.requires_grad,
                    "complex": value.is_complex()}
            if isinstance(value, torch.nn.Parameter):
                node["parameter"] = True
            strides = _leaves.strides_of(value)
            if strides is not None:
                node["strides"] = strides
            if node["trained"]:
                node.update(gradient=self._state_of(value), held_gradient=self._gradient(name, value))
            return node
        if isinstance(value, torch.nn.Module):
            return self._module(name, value)
        if isinstance(value, torch.optim.Optimizer):
            return self._optimizer(name, value)
        if isinstance(value, torch.Generator):
            self._leaf(name, _leaves.of_tensor(name, value.get_state()), True)
            return {"generator": name}
        return None

    def _module(self, name, module):
        own, given = [*module.named_parameters(), *module.named_buffers()], []
        for part, tensor in own:
            if memory_of(tensor) in self._given:
                given.append(part)
            else:
                self._leaf(f"{name}.{part}", self._of_tensor(f"{name}.{part}", tensor))
            self.has_graph = self.has_graph or is_live(tensor, self._freed)
            self.has_history |= tensor.grad_fn is not None
            self._seen[id(tensor)] = f"{name}.{part}"
            self._alive.append(tensor)
            if self.marker is not None:
                self.marker.saw(f"{name}.{part}", tensor)
        extra = {part: self._copied(f"{name}.{part}.@extra", inner.get_extra_state())
                 for part, inner in module.named_modules() if has_extra_state(inner)}
        plain = {part: {key: self._node(f"{name}.{part}.@plain.{key}", value) for key, value in plain_attributes(inner).items()}
                 for part, inner in module.named_modules()}
        node = {"module": name_of_kind(type(module)), **flags_of(module, self._state_of), "extra": extra,
                "plain": {part: values for part, values in plain.items() if values}}
        if given:
            node["given"] = given
        held = [part for part, parameter in module.named_parameters() if self._gradient(f"{name}.{part}", parameter)]
        return {**node, "held_gradients": held} if held else node

    def _gradient(self, name, tensor):
        """Saves the values of a parameter's gradient, if they are asked for and there are any but zeros."""
        if not tensor.is_leaf or tensor.grad is None:
            return False
        if self._strict and not self._memory.takes_gradient(tensor, plain_of(tensor.grad)):
            raise TypeError(f"{name}: its gradient shares memory with another tensor")
        if self._state_of(tensor) is not True or is_unknown(tensor.grad):
            return False
        is_held = self._holds_gradient is not None and self._holds_gradient(name, tensor)
        self.gradients.append((tensor, is_held))
        if is_held:
            self._leaf(f"{name}.@grad", self._sized(f"{name}.@grad", plain_of(tensor.grad)))
        return is_held

    def _state_of(self, parameter):
        """Asks once: zeros are found out by looking at all of them. Each parameter lives while it is saved."""
        if id(parameter) not in self._states:
            self._states[id(parameter)] = state_of(parameter)
        return self._states[id(parameter)]

    def _copied(self, name, value):
        """A value that was made for this: what is restored into it goes nowhere."""
        self._copies += 1
        try:
            return self._node(name, value)
        finally:
            self._copies -= 1

    def _of_tensor(self, name, tensor):
        if self._strict and not self._memory.takes(tensor):
            raise TypeError(f"{name} shares memory with a gradient")
        return self._sized(name, tensor)

    def _sized(self, name, tensor):
        self._will_copy(name, _leaves.bytes_to_copy(tensor))
        leaf = _leaves.of_tensor(name, tensor)
        leaf.hint = _unchanged.hint_of(tensor)
        return leaf

    def _leaf(self, name, leaf, is_copy=False):
        if is_copy or self._copies > 0:
            leaf.is_own = _leaves.COPY
        elif leaf.is_own and _leaves.MOVED in name:
            leaf.is_own = _leaves.LEFT_ALONE
        self.leaves[name] = leaf

    def _optimizer(self, name, optimizer):
        self._parts += 1  # its parts stay where they are in it
        try:
            return self._parts_of_optimizer(name, optimizer)
        finally:
            self._parts -= 1

    def _parts_of_optimizer(self, name, optimizer):
        parameters = _parameters_of(optimizer)
        self.optimizers.append(optimizer)
        places = {id(parameter): index for index, parameter in enumerate(parameters)}
        state = []
        for key, value in optimizer.state.items():
            if id(key) not in places:
                raise TypeError(f"{name}: the optimizer keeps state of what is no parameter of it")
            state.append([places[id(key)], self._node(f"{name}.state.{places[id(key)]}", dict(value))])
        groups = [{key: self._node(f"{name}.group{number}.{key}", value) for key, value in group.items()
                   if key != "params"} for number, group in enumerate(optimizer.param_groups)]
        node = {"optimizer": name_of_kind(type(optimizer)), "parameters": len(places), "groups": groups,
                "state": sorted(state, key=lambda pair: pair[0])}
        orphans = [place for place, parameter in enumerate(parameters) if id(parameter) not in self._seen]
        if self._strict and orphans:
            node["orphans"] = [[place, self._node(f"{name}.parameter.{place}", parameters[place])] for place in orphans]
        if self._strict:
            node["trains"] = [[self._seen[id(parameter)] for parameter in group["params"]] for group in optimizer.param_groups]
            if self.marker is not None:
                added = self.marker.refuse_other_parameters(name, optimizer, node["trains"], self.leaves)
                node.update({"added": added} if added else {})
        return node

    def _numpy_node(self, name, value):
        numpy = _numpy()
        if numpy is None:
            return None
        if isinstance(value, (numpy.ndarray, numpy.generic)):
            if isinstance(value, numpy.ma.MaskedArray):
                raise _not_saved(name, value)
            array = numpy.asarray(value)
            self._will_copy(name, _leaves.bytes_to_copy(array))
            self._leaf(name, _leaves.of_array(name, array), isinstance(value, numpy.generic))
            return {"array": name, "dtype": numpy.asarray(value).dtype.str, "shape": list(value.shape),
                    "scalar": isinstance(value, numpy.generic)}
        if isinstance(value, numpy.random.Generator):
            return {"numpy_generator": self._copied(f"{name}.state", value.bit_generator.state)}
        if isinstance(value, numpy.random.RandomState):
            return {"numpy_generator": self._copied(f"{name}.state", value.get_state(legacy=False))}
        return None

    def _container(self, name, value):
        kind = name_of_kind(type(value))
        if isinstance(value, random.Random):
            return {"random": self._copied(f"{name}.state", list(value.getstate()))}
        if is_stateful(value):
            return self._stateful(name, value)
        if isinstance(value, _CONTAINERS) and type(value) not in _CONTAINERS and getattr(value, "__dict__", None):
            raise _not_saved(name, value)
        if isinstance(value, (dict, list, tuple, collections.deque, set, frozenset)):
            return self._items(name, value)
        attributes = None if type(value).__module__.startswith("multiprocessing.") else attributes_of(value)  # of other processes
        if attributes is None or isinstance(value, (int, float, complex, str, bytes)) or not is_settable(type(value)) or not is_whole_object(value):
            raise _not_saved(name, value)
        return {"object": kind, "attributes": {key: self._node(f"{name}.{key}", item)
                                               for key, item in attributes.items()}}

    def _stateful(self, name, value):
        kind = name_of_kind(type(value))
        if self._strict and name.endswith(_leaves.MOVED) and self.marker.marks.get(name) is None:
            raise _not_saved(name, value)  # what it is made of, no state_dict() tells
        state, torch = value.state_dict(), _torch()
        node = {"stateful": kind, "state": self._copied(f"{name}.state", state)}
        modules = modules_in(value)
        if modules:
            node["modules"] = self._modules_of(name, modules, memories_in(state))
        optimizer = getattr(value, "optimizer", None)
        if self._strict and torch is not None and isinstance(optimizer, torch.optim.Optimizer) and id(optimizer) not in self._seen:
            node["optimizer"] = self._node(f"{name}.optimizer", optimizer)
        if not kind.startswith("torch."):
            trained = [one for one in trained_in(value, self._strict) if id(one) not in self._seen] if torch is not None else []
            node["gradients"] = [[state_of(one), self._gradient(f"{name}.{index}", one)] for index, one in enumerate(trained)]
        return node

    def _modules_of(self, name, modules, given):
        """Saves the modules that an object has, without the values that its state gives. They must be found again: so they were there when
        the loop began."""
        nodes, outer, self._given = [], self._given, given
        try:
            for index, module in enumerate(modules):
                place = f"{name}.@module.{index}"
                nodes.append(self._node(place, module))
                if self.marker is not None and "at" not in (self.marker.marks.get(place + _leaves.MOVED) or {"at": None}):
                    raise _not_saved(name, module)
        finally:
            self._given = outer
        return nodes

    def _items(self, name, value):
        kind = name_of_kind(type(value))
        if isinstance(value, dict):
            self._refuse_ids(name, value)
            keys = self._nodes(f"{name}.@key", value.keys())
            node = {"dict": kind, "keys": keys, "items": self._nodes(name, (item for _, item in value.items()), list(value.keys()))}
            if type(value) is collections.defaultdict:
                node["factory"] = factory_of(value)
            return node
        if isinstance(value, (list, tuple, collections.deque)):
            return {"list": kind, "items": self._nodes(name, value), "most": getattr(value, "maxlen", None)}
        self._refuse_ids(name, value)
        # It follows from what was added and removed before: of texts, too, since the launchers set PYTHONHASHSEED.
        if all(isinstance(item, (int, float, str, bytes)) for item in value):
            return {"list": kind, "items": self._nodes(name, value), "ordered": True}
        return {"list": kind, "items": self._nodes(name, sorted(value, key=repr))}

    def _refuse_ids(self, name, value):
        """Raises TypeError where keys or items are ids of objects: in another process these have others."""
        if self._strict and self.marker is not None and any(type(key) is int and self.marker.is_id(key) for key in value):
            raise TypeError(f"{name}: it has ids of objects, which are others in each process, and cannot be saved; use names")
