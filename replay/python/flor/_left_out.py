"""Gradients that a checkpoint leaves out, and whose first use tells whether that was right.

Which checkpoints hold the values of gradients, _gradient_uses.py says. While a program is recorded, a gradient is watched from a
checkpoint on: where a checkpoint left it out and the program uses it, the checkpoint no longer counts. Where such a checkpoint was
restored, the gradient is not known: what uses it ends the replay, or the resumed recording. Not a use is to clear it, or to ask for its
shape.

A watched gradient is a tensor of a class of its own, of the same memory, whose methods PyTorch has ask this module
(__torch_function__). It is the program's own tensor again as soon as it was cleared or used. What PyTorch computes with it by itself, as
backward() does, is seen with the next method; an unknown one is NaN all over until then."""
import collections
import functools
import sys
import types
import weakref

from ._attributes import dict_of
from ._plain import is_plain

_SAMPLE = 64  # elements of a gradient, which are zeros as a rule only where all are
_MOST = 200_000  # objects that are searched for tensors
_NEVER = (str, bytes, int, float, complex, bool, type(None), type, types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.ModuleType)

# Methods and attributes that tell nothing of the values.
_HARMLESS = frozenset("""
    grad_fn is_sparse is_sparse_csr is_leaf requires_grad shape dtype device layout ndim is_cuda is_quantized is_meta is_mkldnn is_xpu is_ipu is_mps
    is_ort is_vulkan is_nested _version _base names size dim ndimension numel nelement is_floating_point is_complex element_size get_device is_contiguous
    stride storage_offset output_nr retains_grad grad itemsize nbytes __hash__ __len__ _is_view is_same_size
    _has_compatible_shallow_copy_type
    """.split())
_SAME = frozenset(("data", "detach"))  # give the same values, which go on being watched
_MOVING = frozenset("to cpu cuda xpu float double half bfloat16 type type_as contiguous".split())  # often nothing, and no use then
_NOTHING = "detach_"  # does nothing to what was computed from nothing, and refuses views
_CLEARING = frozenset(("zero_", "fill_", "copy_", "_foreach_zero_"))  # overwrite the values of their first argument


class _Watch:
    """`plain`: the gradient as PyTorch has it. `uses`: what is called once, at its first use, by the names of those that ask."""

    def __init__(self, parameter, uses, is_known):
        self.parameter, self.plain, self.uses, self.is_known = weakref.ref(parameter), parameter.grad, uses, is_known

    def end(self):
        """Puts the gradient itself where the watched one is. Returns what was to be called at its first use."""
        uses, self.uses = self.uses, {}
        parameter = self.parameter()
        if parameter is not None and watch_of(parameter.grad) is self and _kind_of(parameter.grad) == _kind_of(parameter):
            with _without_watching():
                # The program may have given it other memory, as net.double() does.
                parameter.grad = self.plain if _memory_of(parameter.grad) == _memory_of(self.plain) else \
                    parameter.grad.as_subclass(sys.modules["torch"].Tensor).detach()
        return uses


def _kind_of(tensor):
    with _without_watching():
        return tensor.dtype, tensor.device, tensor.shape


def _memory_of(tensor):
    return tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride()


def watch(parameter, name, used):
    """Watches the gradient of a parameter, which must have one. `used`: is called where the program uses it before it is cleared, beside what
    others had asked for by other names."""
    uses = {**end(parameter), name: used}
    if parameter.grad.requires_grad or parameter.grad.layout != sys.modules["torch"].strided:
        _tell(uses)  # of what it was computed from, or of what cannot be watched
        return
    _put(parameter, _Watch(parameter, uses, True))


def _tell(uses):
    for used in uses.values():
        used()


def be_unknown(parameter, used):
    """Gives a parameter a gradient whose values nobody knows. `used`: is called where the program uses it."""
    torch = sys.modules["torch"]
    parameter.grad = torch.full_like(parameter, float("nan") if parameter.is_floating_point() or parameter.is_complex() else 0).detach()
    _put(parameter, _Watch(parameter, {"": used}, False))


def end(parameter):
    """Watches the gradient of a parameter no more. Returns what was to be called at its first use, by names."""
    found = watch_of(parameter.grad)
    return {} if found is None else found.end()


def asking_of(parameter):
    """Returns the names of those who would be told of a use: since they asked, the program has neither used nor cleared the gradient."""
    found = watch_of(parameter.grad)
    return set() if found is None else set(found.uses)


def state_of(parameter):
    """Returns what a restore must know of a parameter's gradient: False where there is none, "zero" where it is that all over, else True."""
    gradient = parameter.grad
    if gradient is None:
        return False
    return "zero" if not is_unknown(gradient) and _is_zero(plain_of(gradient)) else True


def _is_zero(gradient):
    if gradient.layout != sys.modules["torch"].strided:
        return False
    some = gradient.detach().reshape(-1)[:_SAMPLE] if gradient.is_contiguous() else gradient.detach()
    return not bool(some.any()) and (some.numel() == gradient.numel() or not bool(gradient.detach().any()))


def trained_in(value, must=False):
    """Returns the tensors with gradients that an object has: of its modules and optimizers, in lists and dicts, and in objects of its own.
    In an order of their names in it. Raises TypeError where there is too much to look through and all `must` be found."""
    torch = sys.modules["torch"]
    found, seen, todo = {}, set(), [value]
    while todo and len(seen) < _MOST:
        one = todo.pop()
        if id(one) in seen or isinstance(one, _NEVER):
            continue
        seen.add(id(one))
        if isinstance(one, torch.Tensor):
            tensors, inner = [one] if one.is_leaf and one.requires_grad else [], ()
        elif isinstance(one, torch.nn.Module):
            tensors, inner = list(one.parameters()), ()
        elif isinstance(one, torch.optim.Optimizer):
            tensors, inner = [parameter for group in one.param_groups for parameter in group["params"]], ()
        elif isinstance(one, dict):
            tensors, inner = (), [] if is_plain(one) else list(one.values())
        elif isinstance(one, (list, tuple, collections.deque)):
            tensors, inner = (), [] if is_plain(one) else list(one)
        else:
            tensors, inner = (), list((dict_of(one) or {}).values())
        found.update((id(tensor), tensor) for tensor in tensors)
        todo.extend(reversed(inner))
    if todo and must:
        raise TypeError(f"an object of type {type(value).__qualname__} refers to too many others")
    return list(found.values())


def watch_of(gradient):
    return vars(gradient)["_flor_watch"] if gradient is not None and type(gradient) is _kind() else None


def plain_of(gradient):
    """Returns a gradient as PyTorch has it. To look at that is no use by the program."""
    found = watch_of(gradient)
    return gradient if found is None else found.plain


def is_unknown(gradient):
    found = watch_of(gradient)
    return found is not None and bool(found.uses) and not found.is_known


@functools.lru_cache(None)
def _kind():
    class WatchedGradient(sys.modules["torch"].Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return _called(func, args, kwargs or {})

    return WatchedGradient


def _without_watching():
    classes = sys.modules["torch"]._C
    return getattr(classes, "DisableTorchFunctionSubclass", classes.DisableTorchFunction)()


def _put(parameter, found):
    with _without_watching():
        whole = _of_watch(found.plain, found)
        whole._flor_is_whole = True
        parameter.grad = whole


def _of_watch(tensor, found):
    watched = tensor.as_subclass(_kind())
    watched._flor_watch = found
    return watched


def _called(func, args, kwargs):
    name = getattr(getattr(func, "__self__", None), "__name__", "") if func.__name__ == "__get__" else func.__name__
    with _without_watching():
        if name in _HARMLESS or name in ("__eq__", "__ne__") and args[1] is None:
            return func(*args, **kwargs)
        if name == _NOTHING:
            return args[0]
        if name in _SAME or name == "requires_grad_" and False in (*args[1:], *kwargs.values()):  # as zero_grad() does
            result, found = func(*args, **kwargs), watch_of(args[0])
            return result if watch_of(result) is not None or not found.uses else _of_watch(result, found)
        if _is_nothing(func, name, args, kwargs):
            return args[0] if name in _MOVING else None
        given = args[:1] if name in _CLEARING else (args, kwargs)
        for uses in [one.end() for one in _watches_in((args[1:], kwargs) if name in _CLEARING else given)]:
            _tell(uses)
        if func.__name__ == "__set__":
            return func(_target_of(args[0]), *_plain(args[1:]))
        result = func(*_plain(args), **_plain(kwargs))
        if name in _CLEARING:
            for one in _watches_in(given):
                one.end()
        return result


def _is_nothing(func, name, args, kwargs):
    """Does it return the very gradient, or set its data to what that is?"""
    if name in _MOVING:
        return type(args[0]) is _kind() and func(*args, **kwargs) is args[0]
    return func.__name__ == "__set__" and func.__self__.__name__ == "data" and args[1] is args[0]


def _target_of(gradient):
    """Returns the tensor of which an attribute is set: what the parameter has, where this was its gradient."""
    parameter = watch_of(gradient).parameter()
    is_its_own = vars(gradient).get("_flor_is_whole") and parameter is not None and parameter.grad is not None
    return parameter.grad if is_its_own else gradient


def _watches_in(value):
    if isinstance(value, (list, tuple)):
        return [found for one in value for found in _watches_in(one)]
    if isinstance(value, dict):
        return _watches_in(list(value.values()))
    found = watch_of(value) if isinstance(value, sys.modules["torch"].Tensor) else None
    return [] if found is None else [found]


def _plain(value):
    """Returns what a method is called with, with gradients as PyTorch has them. What a view of one is called with is that view."""
    if isinstance(value, (list, tuple)):
        kind = type(value)
        items = [_plain(one) for one in value]
        return kind._make(items) if hasattr(kind, "_make") else kind(items)
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return _plain_gradient(value) if type(value) is _kind() else value


def _plain_gradient(watched):
    """Returns what a watched tensor stands for, always the same tensor: what is done to it, as requires_grad_(), goes on to hold."""
    found = vars(watched)
    if found.get("_flor_is_whole") and _memory_of(watched) == _memory_of(found["_flor_watch"].plain):
        return found["_flor_watch"].plain
    if "_flor_plain" not in found or _memory_of(watched) != _memory_of(found["_flor_plain"]):
        watched._flor_plain = watched.as_subclass(sys.modules["torch"].Tensor)
    return watched._flor_plain
