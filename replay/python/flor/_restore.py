"""Writes recorded state into the objects of a program (_objects.py says what is saved).

A first visit of all objects only looks whether everything fits; the second one writes."""
import collections
import itertools
import json

from . import _leaves
from ._anew import MADE_ANEW, Classes
from ._atoms import ATOMS, AtomRestorer
from ._random_states import GENERATORS, GeneratorRestorer
from ._leaves import label
from ._groups import groups_here, set_group
from ._inner import modules_in
from ._left_out import be_unknown, end, trained_in
from ._modules import flags_of, has_more_attributes, is_data, may_be_plain
from ._kinds import attributes_of, is_pythons_own, name_of_kind
from ._objects import _CONTAINERS, _numpy, _parameters_of, _torch
from ._origins import MARKS
from ._trees import SIMPLE
from ._targets import Misfit, Targets, element_at, immutable, item_of, refuse_unsettable, shape_of

# The kinds of values, each with a method of Restorer: the first key of a node.
_KINDS = ATOMS | GENERATORS | {"bytearray_in", "tensor", "module", "optimizer", "array", "stateful", "dict", "list", "object"}


class Restorer(AtomRestorer, GeneratorRestorer):
    """`loaded`: recorded leaves by their names. Without `writing` changes nothing. `origins`: where objects were, the Origins
    of the state and those of the main loop. `used`: is called where the program uses a gradient that the record does not have. Raises Misfit."""

    def __init__(self, loaded, writing, origins=None, used=None):
        self._loaded, self._writing, self._used_unknown = loaded, writing, used
        marks = json.loads(bytes(loaded.pop(MARKS).memory())) if MARKS in loaded else None
        self._targets = None if marks is None else Targets(marks, origins, writing)
        self._objects = {}  # by the name under which each was saved
        self._used, self._parts, self._states = set(), 0, 0
        self.restored = []  # parameters, with their gradients
        self.lost = {}  # by the names of tensors without what they were computed from: what returns one that tells of it
        self._written = {}  # memory of tensors: the leaf that it received
        self._classes = Classes()

    def value(self, name, live):
        """Restores into `live` where that can be. Returns what is to be there: `live`, or another object."""
        return self._value(name, self._tree(name), live)

    def order_of(self, name):
        """As order_of() of the recorded value (_objects.py): what comes later may refer to it. A further name of an object comes
        behind all."""
        node = self._tree(name)
        kind = next(iter(node)) if isinstance(node, dict) else None
        return {"module": 0, "optimizer": 2, "stateful": 3, "same": 4}.get(kind, 1)

    def restore(self, name, live):
        if self.value(name, live) is not live:
            raise Misfit(f"{name} is another kind of object here, and cannot be restored in place")

    def finish(self):
        left = sorted(set(self._loaded) - self._used)
        if left:
            raise Misfit(f"the record has {left[0]}, and the program has no such object")

    def _leaf(self, name):
        if name not in self._loaded:
            raise Misfit(f"{name} is not in the record")
        self._used.add(name)
        return self._loaded[name]

    def _tree(self, name):
        if f"{name}.@tree" not in self._loaded:
            raise Misfit(f"{name} was not recorded")
        return json.loads(bytes(self._leaf(f"{name}.@tree").memory()))

    def _value(self, name, node, live):
        if not isinstance(node, dict):
            return node
        if "same" in node:
            if node["same"] not in self._objects:
                raise Misfit(f"{name} is {node['same']} in the record, which is no object there")
            return self._objects[node["same"]]
        kind = next(iter(node))
        if kind not in _KINDS:
            raise Misfit(f"{name} was saved in a way that this version does not know")
        if self._is_placed() and kind not in ATOMS and not node.get("scalar"):
            name, live = self._targets.of(name, node, live, self._objects, shape_of(node, self._loaded))
        value = getattr(self, f"_{kind}")(name, node, live)
        if kind != "kept":
            self._objects[name] = value
        return value

    def _is_placed(self):
        return self._targets is not None and not self._parts

    def _part(self, name, node, live):
        """Restores what belongs to one object alone, or was made to be saved: it has no place of its own."""
        self._parts += 1
        try:
            return self._value(name, node, live)
        finally:
            self._parts -= 1

    # --- torch ---

    def _tensor(self, name, node, live):
        tensor = self._values(name, node, live)
        if self._writing and node["tensor"] in self.lost and tensor.grad_fn is None:
            tensor = self.lost[node["tensor"]](tensor)
        if self._writing and tensor.is_leaf and tensor.requires_grad != node["trained"]:
            tensor.requires_grad_(node["trained"])
        if node["trained"]:
            self._gradient(node["tensor"], tensor, node.get("gradient", True), node.get("held_gradient"))
        return tensor

    def _gradient(self, name, parameter, state, is_held):
        """Restores a gradient (_left_out.py). `parameter`: None in a first visit that has no such tensor."""
        loaded = self._leaf(f"{name}.@grad") if is_held else None
        if loaded is not None and parameter is not None and not _leaves.fits(parameter, loaded):
            raise Misfit(f"the gradient of {name} is {loaded.describe()} in the record")
        if not self._writing:
            return
        end(parameter)
        self.restored.append(parameter)
        if not state:
            parameter.grad = None
        elif loaded is None and state != "zero":
            be_unknown(parameter, self._used_unknown)
        elif parameter.grad is None:
            parameter.grad = _torch().zeros_like(parameter).detach()
        elif loaded is None:
            parameter.grad.detach().zero_()
        if loaded is not None:
            _leaves.write(parameter.grad, loaded)

    def _values(self, name, node, live):
        torch = _torch()
        loaded = self._leaf(node["tensor"])
        if isinstance(live, torch.Tensor) and self._takes(live, loaded, node):
            if self._writing:
                _leaves.write(live, loaded)
            return live
        if loaded.is_there:
            raise Misfit(f"{name} shares memory with another tensor here")
        is_placed = self._is_placed() and isinstance(live, torch.Tensor)
        if not self._writing:
            return live if is_placed else None
        tensor = torch.view_as_complex(_leaves.to_tensor(loaded)) if node["complex"] else _leaves.to_tensor(loaded)
        tensor = _leaves.with_strides(tensor, node.get("strides")).to(node["device"])
        if not is_placed or live.dtype != tensor.dtype:
            return torch.nn.Parameter(tensor, node["trained"]) if node.get("parameter") else tensor
        # It is this very tensor, and had other memory.
        if not _leaves.are_equal(live, loaded):
            live.data = tensor
        return live

    def _takes(self, live, loaded, node):
        """Can the tensor receive these values in its own memory? Not where it has received others, or is a parameter and was none."""
        if isinstance(live, _torch().nn.Parameter) != node.get("parameter", False):
            return False
        if not _leaves.fits(live, loaded) or live.is_complex() != node["complex"] or str(live.device) != node["device"]:
            return False
        memory = (live.data_ptr(), live.numel(), self._states > 0)  # a state has the values once more
        return live.numel() == 0 or self._written.setdefault(memory, node["tensor"]) == node["tensor"]

    def _fixed(self, name, tensor):
        loaded = self._leaf(name)
        if not _leaves.fits(tensor, loaded):
            here = _leaves.of_tensor(name, tensor)
            raise Misfit(f"{name} is {here.dtype} of {list(here.shape)} here, and {loaded.describe()} in the record")
        self._objects[name] = tensor
        self._written[(tensor.data_ptr(), tensor.numel(), False)] = name
        if self._writing:
            _leaves.write(tensor, loaded)

    def _module(self, name, node, live):
        self._same_kind(name, node["module"], live)
        given = set(node.get("given", ()))
        for part, tensor in [*live.named_parameters(), *live.named_buffers()]:
            if part in given:  # by the state of the object around it
                self._objects[f"{name}.{part}"] = tensor
            else:
                self._fixed(f"{name}.{part}", tensor)
        if any(len(node[flag]) != len(values) for flag, values in flags_of(live).items()):
            raise Misfit(f"{name} has other parts than the recorded module")
        for part, extra in node["extra"].items():
            inner = live.get_submodule(part)
            value = self._part(f"{name}.{part}.@extra", extra, inner.get_extra_state())
            if self._writing:
                inner.set_extra_state(value)
        inside = dict(live.named_modules())
        if has_more_attributes(inside, node.get("plain", {})):
            raise Misfit(f"{name} has attributes that the recorded module has not")
        for part, values in node.get("plain", {}).items():
            for key, value in values.items():
                inner = inside.get(part)
                if inner is None:
                    raise Misfit(f"{name} has other parts than the recorded module")
                if not may_be_plain(key) or callable(getattr(type(inner), key, None)):
                    raise Misfit(f"{name}.{part} has no data named {key}")
                present = vars(inner).get(key)
                value = self._value(f"{name}.{part}.@plain.{key}", value, present if is_data(present) else None)
                if not is_data(value):
                    raise Misfit(f"{name}.{part} has no data named {key}")
                if self._writing:
                    vars(inner)[key] = value
        if self._writing:
            for inner, training in zip(live.modules(), node["training"]):
                inner.training = training
            for parameter, trained in zip(live.parameters(), node["requires_grad"]):
                parameter.requires_grad_(trained)
        held = set(node.get("held_gradients", ()))
        for (part, parameter), state in zip(live.named_parameters(), node["gradient"]):
            self._gradient(f"{name}.{part}", parameter, state, part in held)
        return live

    def _optimizer(self, name, node, live):
        self._same_kind(name, node["optimizer"], live)
        groups = groups_here(live, node, self._targets.first if self._targets else None)
        parameters = list(itertools.chain(*groups))
        if len(parameters) != node["parameters"] or len(groups) != len(node["groups"]):
            raise Misfit(f"{name} has {len(_parameters_of(live))} parameters in {len(live.param_groups)} groups here, and "
                         f"{node['parameters']} in {len(node['groups'])} in the record")
        state = {}
        for place, recorded in node["state"]:
            known = live.state.get(parameters[place])
            state[place] = self._part(f"{name}.state.{place}", recorded, dict(known) if known else None)
        for place, recorded in node.get("orphans", ()):
            self._part(f"{name}.parameter.{place}", recorded, parameters[place])
        for place, recorded in enumerate(itertools.chain(*node.get("trains", ()))):
            if self._objects.get(recorded) is not parameters[place]:
                raise Misfit(f"parameter {place} of {name} is another tensor here")
        if self._writing:
            del live.param_groups[len(groups):]
        for number, recorded in enumerate(node["groups"]):
            group = live.param_groups[number] if number < len(live.param_groups) else {}
            values = {key: _as_it_is(self._part(f"{name}.group{number}.{key}", value, group.get(key)), group.get(key)) for key, value in recorded.items()}
            if self._writing:
                set_group(live, number, groups[number], values)
        if self._writing:
            live.state.clear()
            live.state.update({parameters[place]: value for place, value in state.items()})
        return live

    # --- numpy ---

    def _array(self, name, node, live):
        numpy = _numpy()
        loaded = self._leaf(node["array"])
        is_same = isinstance(live, numpy.ndarray) and live.dtype.str == node["dtype"]
        if is_same and _leaves.is_in_file(live) or loaded.is_there and not (is_same and list(live.shape) == node["shape"]):
            raise Misfit(f"{name} is another array here")
        if loaded.is_there:
            return live
        # The text of a structured type does not name its fields.
        value = _leaves.to_array(loaded, live.dtype if is_same else node["dtype"], node["shape"])
        if node["scalar"]:
            return value[()]
        if not is_same or live.shape != value.shape or not live.flags.writeable:
            return value
        if self._written.setdefault((live.ctypes.data, live.nbytes), name) != name:
            return value
        if self._writing:
            numpy.copyto(live, value)
        return live

    # --- containers and other objects ---

    def _same_kind(self, name, kind, live):
        if name_of_kind(type(live)) != kind:
            raise Misfit(f"{name} was a {kind}, and is a {name_of_kind(type(live))} here")

    def _stateful(self, name, node, live):
        self._same_kind(name, node["stateful"], live)
        self._states += 1
        try:
            value = self._part(f"{name}.state", node["state"], live.state_dict())
        finally:
            self._states -= 1
        if self._writing:
            live.load_state_dict(value)
        modules = modules_in(live)
        for index, inner in enumerate(node.get("modules", ())):
            self._value(f"{name}.@module.{index}", inner, modules[index] if index < len(modules) else None)
        if "optimizer" in node:
            self._value(f"{name}.optimizer", node["optimizer"], live.optimizer)
        known = {id(one) for one in self._objects.values()}
        trained = [one for one in trained_in(live) if id(one) not in known] if node.get("gradients") else []
        if len(trained) != len(node.get("gradients", ())):
            raise Misfit(f"{name} has {len(trained)} parameters here, and {len(node['gradients'])} in the record")
        for index, (parameter, (state, is_held)) in enumerate(zip(trained, node.get("gradients", ()))):
            self._gradient(f"{name}.{index}", parameter, state, is_held)
        return live

    def _place_of(self, name, kind, live, most=None):
        """Returns the container to fill: the one that is there, or a new one. What is given to load_state_dict() is new: what
        state_dict() returned may be in use by others."""
        if isinstance(live, _CONTAINERS) and name_of_kind(type(live)) == kind and (self._states == 0 or kind not in MADE_ANEW):
            refuse_unsettable(name, live)
            return live
        if kind == "torch.Size":
            return _torch().Size()
        if kind not in MADE_ANEW:
            place = self._classes.named_tuple(kind)
            if place is None:
                raise Misfit(f"{name} was a {kind}, and is a {name_of_kind(type(live))} here")
            return place
        return MADE_ANEW[kind]() if most is None else MADE_ANEW[kind](maxlen=most)

    def _dict(self, name, node, live):
        place = self._place_of(name, node["dict"], live)
        if type(place) is collections.defaultdict:
            self._set_factory(name, place, node.get("factory"), live)
        self._objects[name] = place
        keys = [self._value(f"{name}.@key.{index}", key, element_at(live, index, keys=True))
                for index, key in enumerate(node["keys"])]
        values = {key: self._value(f"{name}.{label(key, index)}", item, item_of(live, key))
                  for index, (key, item) in enumerate(zip(keys, node["items"]))}
        if self._writing:
            kind = dict if not isinstance(place, collections.OrderedDict) else collections.OrderedDict
            kind.clear(place)  # not by methods of a subclass
            for key, value in values.items():
                kind.__setitem__(place, key, value)
        return place

    def _set_factory(self, name, place, factory, live):
        """`factory`: a name, or None of one that the record cannot name, or in records of earlier versions."""
        found = self._classes.factory(factory)
        if found is not None or factory == "None":
            place.default_factory = found if self._writing or place is not live else place.default_factory
        elif place is not live:
            if type(live) is not collections.defaultdict:
                raise Misfit(f"{name} made its values by what is not there")
            place.default_factory = live.default_factory

    def _list(self, name, node, live):
        place = self._place_of(name, node["list"], live, node.get("most"))
        self._objects[name] = place
        known = list(live) if isinstance(live, type(place)) else []
        values = [self._value(f"{name}.{index}", item, known[index] if index < len(known) else None)
                  for index, item in enumerate(node["items"])]
        if node.get("ordered") and list(set.union(set(), values)) != values:
            raise Misfit(f"{name}: a set of the same values has another order here")
        if isinstance(place, (tuple, frozenset)):
            return immutable(name, live if known else place, known, values)
        if self._writing and isinstance(place, set):
            set.clear(place)
            set.update(place, values)
        elif self._writing and isinstance(place, collections.deque):
            collections.deque.clear(place)
            collections.deque.extend(place, values)
        elif self._writing:
            list.__setitem__(place, slice(None), values)
        return place

    def _object(self, name, node, live):
        if live is None:
            live = self._classes.made_anew(node["object"])
        self._same_kind(name, node["object"], live)
        refuse_unsettable(name, live)
        self._objects[name] = live
        known = attributes_of(live)
        values = {key: self._value(f"{name}.{key}", item, known.get(key)) for key, item in node["attributes"].items()}
        hidden = next((key for key in values if key not in known and (is_pythons_own(key) or callable(getattr(type(live), key, None)))), None)
        if hidden is not None:
            raise Misfit(f"{name}.{hidden} is no data here")
        if self._writing:
            own = getattr(live, "__dict__", {})
            for key in set(known) - set(values) - set(own):
                object.__delattr__(live, key)
            own.clear()  # so that the order is the recorded one, too
            for key, value in values.items():
                object.__setattr__(live, key, value)
        return live


def _as_it_is(value, live):
    """Returns the tuple that is there, where it says the same: others may share it, as all optimizers of a class do with its defaults."""
    is_same = type(value) is tuple and type(live) is tuple and all(type(item) in SIMPLE or type(item) is float for item in value) and \
        repr(value) == repr(live)
    return live if is_same else value
