"""What a checkpoint says it lacks: variables that each iteration seems to bind anew (_rebound.py), and what tensors were computed from.

A restore unbinds these variables, so that no process goes on with the value of another iteration. It gives these tensors a way back that
ends the resumed recording or the replay where a backward() goes through it."""
import functools
import json
import re
import sys

from . import _leaves, _library
from ._library import library

LACKING = _leaves.VOLATILE + "@lacking"  # the leaf: {"names": […], "graphs": [names of tensors]}; no digest has it
_QUOTED = re.compile(r"'(\w+)'")
_missed = {"names": {}, "is_watched": False, "late": None}  # `names`: {variable: the block whose checkpoint lacks it}


def leaves_of(names, graphs):
    """Returns {name: leaf}, of nothing where a checkpoint lacks nothing."""
    if not names and not graphs:
        return {}
    return {LACKING: _leaves.of_bytes(json.dumps({"names": names, "graphs": sorted(graphs)}).encode())}


def take_from(loaded):
    """Takes the leaf away from recorded leaves. Returns the names of variables, and those of tensors as a set."""
    leaf = loaded.pop(LACKING, None)
    lacking = json.loads(bytes(leaf.memory())) if leaf is not None else {}
    return lacking.get("names", []), set(lacking.get("graphs", ()))


def unbind(places, names, of):
    """Unbinds variables that a checkpoint of a block, or of an iteration (""), lacks. Of a name that then does not exist Python tells."""
    lacking = [name for name in names if "." not in name and ":" not in name and places.has(name)]
    _missed["names"] = {**{name: other for name, other in _missed["names"].items() if other != of}, **dict.fromkeys(lacking, of)}
    for name in lacking:
        _watch()
        if places.is_set(name):
            places.unbind(name)


def with_lost_graph(path, of, tensor):
    """Returns a tensor of the same memory that was computed from what the checkpoint does not have."""
    _watch()
    torch = sys.modules["torch"]
    lost = _function_of(torch).apply(torch.zeros((), requires_grad=True), tensor, functools.partial(_miss, path, of))
    lost.data = tensor.detach()
    return lost


@functools.lru_cache(None)
def _function_of(torch):
    class Lost(torch.autograd.Function):
        @staticmethod
        def forward(ctx, _begin, tensor, used):
            ctx.used = used
            return torch.empty_like(tensor)

        @staticmethod
        def backward(ctx, *_gradients):
            ctx.used()

    return Lost


class Unbound:
    """Stands in a variable that Python, from 3.13 on, does not let others unbind."""

    def __init__(self, name):
        object.__setattr__(self, "name", name)

    def __getattribute__(self, name):
        if name == "__class__" and _is_asked_by_flor(sys._getframe(1)):  # isinstance() asks for it
            return Unbound
        raise NameError(f"name '{object.__getattribute__(self, 'name')}' is not defined")

    def _any(self, *_words):
        return self.name  # raises

    __str__ = __repr__ = __format__ = __bool__ = __hash__ = __len__ = __iter__ = __next__ = __call__ = __contains__ = _any
    __getitem__ = __setitem__ = __delitem__ = __enter__ = __exit__ = __int__ = __float__ = __index__ = __neg__ = __abs__ = _any
    __pos__ = __invert__ = __round__ = __trunc__ = __floor__ = __ceil__ = __complex__ = __reversed__ = __divmod__ = __rdivmod__ = _any
    __xor__ = __rxor__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _any
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _any
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __matmul__ = __and__ = __or__ = _any
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = __rmatmul__ = __rand__ = __ror__ = _any


def _is_asked_by_flor(frame):
    """Is it a look that asks, and not the program? torch may stand in between, whose classes have an isinstance() of their own."""
    from ._runtime import is_users_file

    while frame is not None and frame.f_globals.get("__package__") != __package__:
        if is_users_file(frame.f_code.co_filename):
            return False
        frame = frame.f_back
    return frame is not None


def _miss(path, of):
    what = f"the program uses what {path} was computed from, and the checkpoint that was restored does not have that"
    _missed["late"] = (path, of, what)  # PyTorch calls on another thread for a GPU, on which Flor ends nothing
    _end(path, of, what)
    raise RuntimeError(what)


def end_if_missed():
    """Call on the thread that trains: the program may have caught the exception."""
    if _missed["late"] is not None:
        _end(*_missed["late"])


def _end(path, of, what):
    library.flor_note_unheld(of.encode(), path.encode(), 1)
    library.flor_cannot_go_on(what.encode("utf-8", "replace"))


def _watch():
    """An exception that ends the program may come from what is lacking."""
    if not _missed["is_watched"]:
        _missed["is_watched"] = True
        sys.excepthook = _show_by(sys.excepthook)


def _show_by(inner):
    def show(kind, value, trace):
        missed = _missed["late"] or _missed_by(kind, value)
        if missed is not None:
            _end(*missed)
        inner(kind, value, trace)

    return show


def _missed_by(kind, value):
    found = _QUOTED.search(str(value)) if issubclass(kind, NameError) else None
    name = found.group(1) if found is not None else None
    if name not in _missed["names"]:
        return None
    return name, _missed["names"][name], f"the program uses {name}, which the checkpoint that was restored does not have"
