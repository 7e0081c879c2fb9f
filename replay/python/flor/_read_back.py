"""Guesses whether a program loads files that its iterations save, as the best of its models. No checkpoint has files: a process that
goes on in the middle would load what it saved itself, or nothing."""
import ast
import functools

_SAVES, _LOADS = ("save", "dump"), ("model", "weight", "best", "check", "ckpt", "param", "pretrained")
_LOADERS = {None, "self", "torch", "pickle", "json", "joblib"}  # of what a plain load() is


@functools.lru_cache(None)
def reads_back(program, loop):
    """By the names of calls: the main loop has one such as `torch.save` or `json.dump`, and the loop or the code behind it has one such
    as `torch.load` or `self.load_best`. A load in front of the loop does not count: a program may go on with files of its own."""
    calls = [node for node in ast.walk(program.tree) if isinstance(node, ast.Call)]
    saves = any(_saves(call) and program.is_inside(call, loop) for call in calls)
    return saves and any(_loads(call) and _follows(program, call, loop, calls) for call in calls)


def _name_of(call):
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return name.lower().lstrip("_")


def _saves(call):
    name = _name_of(call)
    return name in _SAVES or name.startswith("save_")


def _loads(call):
    name = _name_of(call)
    if name == "load":
        of = getattr(call.func, "value", None)
        return (getattr(of, "id", "") if of is not None else None) in _LOADERS
    return name.startswith(("load_", "from_")) and name != "load_state_dict" and any(word in name for word in _LOADS)


def _follows(program, call, loop, calls):
    """Does a call stand in the loop, behind it in its function, or in another function behind a call of that one?"""
    if program.is_inside(call, loop):
        return True
    scope, own = program.scope_of(call), program.scope_of(loop)
    if scope is own:
        return call.lineno > loop.end_lineno
    name = getattr(own, "name", None)
    return any(name is not None and getattr(one.func, "attr", getattr(one.func, "id", "")) == name and program.scope_of(one) is scope and
               one.lineno < call.lineno for one in calls)
