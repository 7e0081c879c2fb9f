"""What an object has that no checkpoint has of it: a change of it is looked for, and cannot be restored."""
import collections
import functools
import random
import sys
import types

from ._attributes import dict_of
from ._gradient_uses import is_own_hook
from ._modules import plain_attributes
from ._kinds import is_stateful

# What torch itself puts on an optimizer: counts of steps, from which a scheduler warns of a wrong order of calls.
_OF_SCHEDULERS = ("_step_count", "_opt_called", "_zero_grad_profile_name", "_warned_capturable_if_run_uncaptured")


def unsaved_of(value, is_slot):
    """Yields what an object has that Saver leaves out: other attributes of modules, and those of their tensors; of a class of the
    user's what its state_dict() does not name, also of objects within it that have one, and which tensors train; functions that a scheduler of torch's calls; and, where it is no slot, the
    parameters of an optimizer."""
    torch = sys.modules.get("torch")
    if torch is None:
        return
    if isinstance(value, torch.nn.Module):
        for part in value.modules():
            saved = plain_attributes(part)
            yield {key: item for key, item in vars(part).items()
                   if key not in saved and key not in _own_of(torch) and not _has_no_hooks(key, item)}
        for tensor in (*value.parameters(), *value.buffers()):
            yield from added_to(tensor)
        return
    is_optimizer = isinstance(value, torch.optim.Optimizer)
    if is_optimizer and not is_slot:
        yield [parameter for group in value.param_groups for parameter in group["params"]]
    if not is_optimizer and not is_stateful(value):
        return
    if type(value).__module__.startswith("torch."):
        yield [item for items in (dict_of(value) or {}).values() for item in (items if isinstance(items, list) else [items])
               if isinstance(item, types.FunctionType)]
        return
    saved = {"state", "param_groups", "defaults", *_OF_SCHEDULERS} if is_optimizer else set(value.state_dict())
    own = {key: item for key, item in (dict_of(value) or {}).items() if not key.startswith("__")}
    yield {key: item for key, item in own.items() if key not in saved}
    for key, item in own.items():
        if key in saved and isinstance(item, torch.Tensor):
            yield item.requires_grad
        elif key in saved and is_stateful(item) and not isinstance(item, torch.nn.Module):
            yield from unsaved_of(item, True)


def added_to(tensor):
    """Yields what a program has put on a tensor: attributes and hooks."""
    hooks = {key: hook for key, hook in (tensor._backward_hooks or {}).items() if not is_own_hook(hook)}
    for added in (dict_of(tensor), hooks):
        if added:
            yield dict(added)


def identity_of(function):
    """Returns what tells a function from any other of the program."""
    code = function.__code__
    return function.__module__, function.__qualname__, code.co_filename, code.co_firstlineno, hash(code.co_code)


@functools.lru_cache(None)
def _own_of(torch):
    """The attributes that every module has, and that are saved or stay: not its hooks, which compute."""
    return frozenset(name for name in vars(torch.nn.Module()) if "hook" not in name)


def _has_no_hooks(name, value):
    """Is it a dict for hooks, which torch gives each module, and empty, as most are?"""
    return name.startswith("_") and "hook" in name and type(value) in (dict, collections.OrderedDict) and not value


def is_partly_saved(before, after, path):
    """Did a value change in what no checkpoint has, too, while it was not held?"""
    one, other = before.get(path), after.get(path)
    return isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other) == 3 and one[2] != other[2]


def default_generators():
    """What each checkpoint holds anyway. A function may have one as the default of a parameter."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    found = [getattr(torch, "default_generator", None), *getattr(getattr(torch, "cuda", None), "default_generators", ())]
    found.append(getattr(getattr(getattr(numpy, "random", None), "mtrand", None), "_rand", None))
    return [*[one for one in found if one is not None], random._inst]
