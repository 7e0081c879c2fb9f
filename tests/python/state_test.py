"""Objects saved and restored in place: same values to the bit, same identities, nothing written where anything misfits."""
import collections
import copy
import ctypes
import dataclasses
import enum
import random
import threading

import numpy as np
import pytest
import torch
from torch import nn


def saved(**objects):
    """Returns the recorded leaves, in memory of their own."""
    from flor import _library, _leaves, _objects

    saver = _objects.Saver()
    for name, value in objects.items():
        saver.save(name, value)
    out = {}
    for name, leaf in saver.leaves.items():
        memory = ctypes.create_string_buffer(ctypes.string_at(leaf.pointer, leaf.size), max(leaf.size, 1))
        shape = (ctypes.c_int64 * len(leaf.shape))(*leaf.shape)
        buffer = _library.Buffer(name.encode(), leaf.dtype.encode(), shape, len(leaf.shape), leaf.is_own, ctypes.addressof(memory),
                                 leaf.size)
        out[name] = _leaves.Loaded(buffer)
        out[name].kept = memory
    return out


def restored(leaves, writing=True, **objects):
    from flor import _restore

    for is_writing in (False, True)[:1 + writing]:
        restorer = _restore.Restorer(leaves, is_writing)
        for name, value in objects.items():
            restorer.restore(name, value)
        restorer.finish()


@dataclasses.dataclass
class Meter:
    total: float = 0.0
    names: list = dataclasses.field(default_factory=list)


class Slotted:
    __slots__ = ("value", "other")


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Average:
    def __init__(self, net):
        self.shadow = {name: value.clone() for name, value in net.state_dict().items()}

    def state_dict(self):
        return {"shadow": self.shadow}

    def load_state_dict(self, state):
        self.shadow = state["shadow"]


Point = collections.namedtuple("Point", "x y")


def trained(optimizer_of, steps=2, dtype=torch.float32):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)).to(dtype)
    optimizer = optimizer_of(net.parameters())
    for _ in range(steps):
        def closure():
            optimizer.zero_grad()
            loss = net(torch.randn(8, 3, dtype=dtype)).pow(2).mean()
            loss.backward()
            return loss
        optimizer.step(closure)
    return net, optimizer


def step(net, optimizer):
    torch.manual_seed(2)
    x = torch.randn(8, 3, dtype=next(net.parameters()).dtype)

    def closure():
        optimizer.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        return loss
    optimizer.step(closure)


def bits(value):
    """A text that is equal only for equal bits."""
    if isinstance(value, torch.Tensor):
        return f"{value.dtype}{list(value.shape)}{value.device}{value.requires_grad}" + bits(
            torch.view_as_real(value.detach().resolve_conj()).numpy() if value.is_complex()
            else value.detach().contiguous().reshape(-1).view(torch.uint8).numpy() if value.dtype != torch.bool and value.numel()
            else value.detach().numpy())
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{value.dtype.str}{value.shape}{np.asarray(value).tobytes().hex()}"
    if isinstance(value, float):
        return value.hex() if value == value else "nan"
    if isinstance(value, nn.Module):
        return str([(name, bits(one)) for name, one in [*value.named_parameters(), *value.named_buffers()]]) + str(
            [part.training for part in value.modules()]) + str([getattr(value, "count", None), getattr(value, "table", None)])
    if isinstance(value, torch.optim.Optimizer):
        return bits(value.state_dict())
    if isinstance(value, collections.deque):
        return f"deque{value.maxlen}[" + ",".join(bits(item) for item in value) + "]"
    if isinstance(value, dict):
        return type(value).__name__ + "{" + ",".join(bits(key) + ":" + bits(item) for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple, collections.deque)):
        return type(value).__name__ + "[" + ",".join(bits(item) for item in value) + "]"
    if isinstance(value, (set, frozenset)):
        return type(value).__name__ + str(sorted(bits(item) for item in value))
    if isinstance(value, np.random.Generator):
        return bits(value.bit_generator.state)
    if isinstance(value, np.random.RandomState):
        return bits(value.get_state(legacy=False))
    if isinstance(value, random.Random):
        return bits(value.getstate())
    if isinstance(value, torch.Generator):
        return bits(value.get_state())
    if callable(getattr(value, "state_dict", None)):
        return bits(value.state_dict())
    if isinstance(value, Slotted):
        return bits([value.value, value.other])
    return bits(vars(value)) if hasattr(value, "__dict__") and not isinstance(value, (type, enum.Enum)) else repr(value)


def slotted(value):
    out = Slotted()
    out.value, out.other = value, [value]
    return out


def scheduled(kind):
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(2))], lr=0.1)
    return kind(optimizer)


S = torch.optim.lr_scheduler
TENSORS = {str(dtype).replace("torch.", ""): dtype for dtype in (
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
    torch.bool, torch.complex64, torch.complex128)}

# Name: (what makes the object, what changes it).
CLASSES = {
    **{f"tensor {name}": (lambda dtype=dtype: torch.arange(6).reshape(2, 3).to(dtype), lambda t: t.zero_())
       for name, dtype in TENSORS.items()},
    "tensor strided": (lambda: torch.arange(12.0).reshape(3, 4).t(), lambda t: t.mul_(2)),
    "tensor view": (lambda: torch.arange(12.0)[::2], lambda t: t.mul_(2)),
    "tensor scalar": (lambda: torch.tensor(3.5), lambda t: t.add_(1)),
    "tensor empty": (lambda: torch.empty(0, 4), lambda t: None),
    "tensor conjugated": (lambda: torch.tensor([1 + 2j]).conj(), lambda t: t.mul_(2)),
    "tensor NaN and signed zero": (lambda: torch.tensor([float("nan"), -0.0, float("inf")]), lambda t: t.fill_(0)),
    "parameter": (lambda: nn.Parameter(torch.ones(3)), lambda t: t.data.zero_()),
    "parameter by .data": (lambda: nn.Parameter(torch.ones(3)), lambda t: setattr(t, "data", torch.zeros(3))),
    **{f"array {dtype}": (lambda dtype=dtype: np.arange(6).reshape(2, 3).astype(dtype), lambda a: a.fill(0))
       for dtype in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?", "c16", "c8", ">f8", "U3", "S3",
                     "datetime64[s]")},
    "array structured": (lambda: np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), lambda a: a.fill(0)),
    "array Fortran": (lambda: np.asfortranarray(np.arange(6.0).reshape(2, 3)), lambda a: a.fill(0)),
    "array strided": (lambda: np.arange(12.0)[::3], lambda a: a.fill(0)),
    **{f"optimizer {kind.__name__}": (lambda kind=kind: trained(lambda p: kind(p, lr=0.01)), lambda pair: step(*pair))
       for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.Adagrad, torch.optim.RMSprop,
                    torch.optim.Adadelta, torch.optim.Adamax, torch.optim.NAdam, torch.optim.RAdam, torch.optim.ASGD,
                    torch.optim.Rprop, torch.optim.LBFGS)},
    "optimizer with momentum": (lambda: trained(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True)),
                                lambda pair: step(*pair)),
    "optimizer not stepped": (lambda: trained(lambda p: torch.optim.Adam(p), 0), lambda pair: step(*pair)),
    "optimizer in float64": (lambda: trained(lambda p: torch.optim.Adam(p), 2, torch.float64), lambda pair: step(*pair)),
    "optimizer options": (lambda: trained(lambda p: torch.optim.Adam(p, lr=0.1)),
                          lambda pair: pair[1].param_groups[0].update(lr=0.5, extra=1)),
    **{f"scheduler {name}": (lambda make=make: scheduled(make), lambda s: [s.optimizer.step(), s.step(*more)])
       for name, make, more in (
           ("StepLR", lambda o: S.StepLR(o, 2), ()), ("CosineAnnealingLR", lambda o: S.CosineAnnealingLR(o, 5), ()),
           ("ExponentialLR", lambda o: S.ExponentialLR(o, 0.9), ()), ("OneCycleLR", lambda o: S.OneCycleLR(o, 1, 9), ()),
           ("CyclicLR", lambda o: S.CyclicLR(o, 0.1, 1, cycle_momentum=False), ()),
           ("MultiStepLR", lambda o: S.MultiStepLR(o, [2, 4]), ()), ("LambdaLR", lambda o: S.LambdaLR(o, lambda e: 0.9), ()),
           ("CosineAnnealingWarmRestarts", lambda o: S.CosineAnnealingWarmRestarts(o, 3), ()),
           ("ReduceLROnPlateau", lambda o: stepped(S.ReduceLROnPlateau(o, patience=0)), (1.0,)))},
    "module train mode": (lambda: nn.Sequential(nn.Dropout(), nn.Linear(2, 2)), lambda n: n.eval()),
    "module frozen part": (lambda: nn.Linear(2, 2), lambda n: n.weight.requires_grad_(False)),
    "module buffers": (lambda: nn.BatchNorm1d(3), lambda n: n(torch.randn(4, 3))),
    "module tied": (lambda: tied(), lambda n: n[0].weight.data.add_(1)),
    "GradScaler off": (lambda: torch.cuda.amp.GradScaler(enabled=False), lambda s: None),
    "SWA": (lambda: torch.optim.swa_utils.AveragedModel(nn.Linear(2, 2)),
            lambda a: a.update_parameters(nn.Linear(2, 2))),
    "EMA with state_dict": (lambda: Average(nn.Linear(2, 2)), lambda a: a.shadow["weight"].zero_()),
    "generator torch": (lambda: torch.Generator().manual_seed(3), lambda g: torch.rand(3, generator=g)),
    "generator numpy PCG64": (lambda: np.random.default_rng(3), lambda g: g.random(3)),
    "generator numpy MT19937": (lambda: np.random.Generator(np.random.MT19937(3)), lambda g: g.random(3)),
    "generator numpy Philox": (lambda: np.random.Generator(np.random.Philox(3)), lambda g: g.random(3)),
    "generator numpy SFC64": (lambda: np.random.Generator(np.random.SFC64(3)), lambda g: g.random(3)),
    "generator numpy old": (lambda: np.random.RandomState(3), lambda g: g.randn(3)),
    "generator python": (lambda: random.Random(3), lambda g: [g.random(), g.gauss(0, 1)]),
    "list": (lambda: [1, 2.5, "a", None, True, (1, 2), b"x", 1 + 2j], lambda v: v.append(3)),
    "list of tensors": (lambda: [torch.ones(2), torch.zeros(2)], lambda v: v[0].add_(1)),
    "list shorter": (lambda: [1, 2, 3], lambda v: v.clear()),
    "dict": (lambda: {"a": 1, 2: [3], (1, "x"): {"y": None}}, lambda v: v.pop("a")),
    "dict order": (lambda: {"b": 1, "a": 2}, lambda v: v.update(b=v.pop("b"))),
    "OrderedDict": (lambda: collections.OrderedDict(a=1, b=2), lambda v: v.move_to_end("a")),
    "defaultdict": (lambda: collections.defaultdict(list, a=[1]), lambda v: v["b"].append(2)),
    "Counter": (lambda: collections.Counter("abca"), lambda v: v.update("b")),
    "set": (lambda: {1, 2, "x"}, lambda v: v.add(9)),
    "deque": (lambda: collections.deque([1, 2], maxlen=3), lambda v: v.append(5)),
    "deque made anew": (lambda: {"d": collections.deque([1, 2, 3], maxlen=3)}, lambda v: v.clear()),
    "module with attributes": (lambda: counting(nn.Linear(2, 2)), lambda n: counting(n)),
    "bytearray": (lambda: bytearray(b"abc"), lambda v: v.extend(b"d")),
    "nested": (lambda: {"a": [{"b": (torch.ones(2), [np.ones(2)])}]}, lambda v: v["a"][0]["b"][0].add_(1)),
    "huge integer": (lambda: [10 ** 40, -(2 ** 63)], lambda v: v.append(0)),
    "floats": (lambda: [float("nan"), float("inf"), -0.0, 5e-324, 0.1], lambda v: v.reverse()),
    "text": (lambda: ["ä\u0000\ud7ff\"\\", "日本"], lambda v: v.pop()),
    "numpy scalars": (lambda: [np.float32(1.5), np.int64(3), np.bool_(True)], lambda v: v.pop()),
    "named tuple": (lambda: [Point(1, [2])], lambda v: v[0].y.append(3)),
    "range and slice": (lambda: [range(3), slice(1, None, 2)], lambda v: v.pop()),
    "frozenset": (lambda: [frozenset({1, 2})], lambda v: v.pop()),
    "enum": (lambda: [Colour.RED], lambda v: v.__setitem__(0, Colour.BLUE)),
    "torch dtype and device": (lambda: [torch.float16, torch.device("cpu"), torch.Size([2, 3])], lambda v: v.pop()),
    "dataclass": (lambda: Meter(1.0, ["a"]), lambda m: [m.names.append("b"), setattr(m, "total", 2.0)]),
    "object, attribute more": (lambda: Meter(), lambda m: setattr(m, "late", 1)),
    "object, attribute less": (lambda: Meter(), lambda m: delattr(m, "total")),
    "object with slots": (lambda: slotted(1), lambda v: setattr(v, "value", 2)),
    "object with a function": (lambda: holding(len), lambda v: setattr(v, "count", 2)),
    "best weights": (lambda: {"best": copy.deepcopy(nn.Linear(2, 2).state_dict())}, lambda v: v.update(best=None)),
}


def counting(module):
    module.count = getattr(module, "count", 0) + 1
    module.table = [module.count, {"a": 0.5}]
    return module


def stepped(scheduler):
    scheduler.step(1.0)
    return scheduler


def tied():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    return net


def holding(function):
    out = Meter()
    out.function, out.count = function, 1
    return out


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_is_restored_to_the_bit(name):
    make, change = CLASSES[name]
    value = make()
    objects = {f"o{index}": one for index, one in enumerate(value if isinstance(value, tuple) else (value,))}
    before = bits(value)
    leaves = saved(**objects)
    change(value)
    restored(leaves, writing=False, **objects)
    changed = bits(value)
    restored(leaves, **objects)
    assert bits(value) == before
    assert changed != before or name in ("tensor empty", "GradScaler off")
    assert {key: bytes(one.memory()) for key, one in saved(**objects).items()} == {
        key: bytes(one.memory()) for key, one in leaves.items()}


def test_there_are_a_hundred_classes():
    assert len(CLASSES) >= 100


def test_other_references_see_what_is_restored():
    inner, net = [1], nn.Linear(2, 2)
    outer, weight = {"inner": inner}, net.weight
    leaves = saved(outer=outer, net=net)
    inner.append(2)
    with torch.no_grad():
        weight.zero_()
    restored(leaves, outer=outer, net=net)
    assert outer["inner"] is inner and inner == [1]
    assert net.weight is weight and weight.abs().sum() > 0


def test_what_was_one_object_is_one_again():
    shared = [1]
    values = {"a": shared, "b": shared, "loop": []}
    values["loop"].append(values)
    leaves = saved(values=values)
    values.clear()
    restored(leaves, values=values)
    assert values["a"] is values["b"] and values["loop"][0] is values


def test_two_values_never_share_memory_that_the_program_shares_now():
    values = {"last": torch.ones(2), "best": torch.zeros(2)}
    leaves = saved(values=values)
    values["best"] = values["last"]
    restored(leaves, values=values)
    assert values["last"].tolist() == [1, 1] and values["best"].tolist() == [0, 0]


@pytest.mark.parametrize("change", [lambda t: setattr(t, "data", t.data.clone()), lambda t: setattr(t, "data", torch.full((3,), 5.0)),
                                    lambda t: t.data.to(torch.float64).to(torch.float32), lambda t: t.data.set_(torch.full((3,), 7.0))])
def test_a_handle_is_never_stale(change):
    value = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
    first = saved(value=value)
    change(value)
    want = value.tolist()
    second = saved(value=value)
    with torch.no_grad():
        value.zero_()
    restored(second, value=value)
    assert value.tolist() == want
    restored(first, value=value)
    assert value.tolist() == [1, 2, 3]


@pytest.mark.parametrize("live, reason", [
    ({"net": nn.Linear(2, 3)}, "net.weight is F32 of \\[3, 2\\] here, and F32 of \\[2, 2\\] in the record"),
    ({"net": nn.Linear(2, 2, bias=False)}, "has other parts"),
    ({"net": nn.ReLU()}, "net was a torch.nn.modules.linear.Linear, and is a torch.nn.modules.activation.ReLU here"),
    ({"net": nn.Linear(2, 2), "more": []}, "more was not recorded"),
    ({"net": nn.Linear(2, 2).double()}, "net.weight is F64 of"),
    ({}, "the record has net.@tree, and the program has no such object"),
])
def test_what_does_not_fit_is_said_and_nothing_is_written(live, reason):
    from flor import _restore

    leaves = saved(net=nn.Linear(2, 2))
    before = bits(live)
    with pytest.raises(_restore.Misfit, match=reason):
        restored(leaves, **live)
    assert bits(live) == before


@pytest.mark.parametrize("recorded, live", [(torch.ones(2), torch.ones(3)), (torch.ones(2), torch.ones(2).double()),
                                            (np.ones(2), np.ones(3)), (np.ones(2), np.ones(2, "f4"))])
def test_an_array_or_tensor_of_another_shape_or_type_is_not_left_as_it_is(recorded, live):
    from flor import _restore

    with pytest.raises(_restore.Misfit, match="cannot be restored in place"):
        restored(saved(value=recorded), writing=False, value=live)


@pytest.mark.parametrize("value", [threading.Lock(), open(__file__), (i for i in [1]), iter([1]), {"a": [threading.Event()]},
                                   torch.ones(2).to_sparse(), np.array([object()]),
                                   np.ma.array([1, 2], mask=[0, 1])])
def test_what_cannot_be_saved_is_refused_by_its_name(value):
    with pytest.raises(TypeError, match="o.*cannot be saved"):
        saved(o=value)


@pytest.mark.parametrize("value", [1, 2.5, "text", None, (1, 2), True, np.float32(1), Colour.RED])
def test_what_cannot_be_restored_in_place_is_refused(value):
    import flor
    from flor import _state

    flor.recording()
    with pytest.raises(TypeError, match="cannot be restored in place: put it into a dict"):
        _state.State({"count": value})
