"""Guesses whether a program loads files that its iterations save, as the best of its models. No checkpoint has files: a process that
goes on in the middle would load what it saved itself, or nothing."""
import ast

_SAVES, _LOADS = ("save", "dump"), ("model", "weight", "best", "check", "ckpt", "param", "pretrained", "state")


def reads_back(program, loop):
    """By the names of calls: the main loop has one such as `torch.save` or `json.dump`, and the loop or the code behind it has one such
    as `torch.load` or `self.load_best`. A load in front of the loop does not count: a program may go on with files of its own."""
    calls = [node for node in ast.walk(program.tree) if isinstance(node, ast.Call)]
    saves = any(_name_of(call).startswith(_SAVES) and program.is_inside(call, loop) for call in calls)
    return saves and any(_loads(call) and _may_follow(program, call, loop) for call in calls)


def _name_of(call):
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return name.lower().lstrip("_")


def _loads(call):
    name = _name_of(call)
    is_of_files = name.startswith(("load_", "from_")) and name != "load_state_dict" and any(word in name for word in _LOADS)
    return name == "load" or is_of_files


def _may_follow(program, call, loop):
    if program.is_inside(call, loop):
        return True
    scope = program.scope_of(call)
    is_reached = scope is program.scope_of(loop) or scope is program.tree or getattr(scope, "name", "") == "main"
    return is_reached and call.lineno > loop.end_lineno
