"""Guesses whether a program loads files that its iterations save, as the best of its models. No checkpoint has files: a process that
goes on in the middle would load what it saved itself, or nothing. Read, not run."""
import ast

from ._saved_files import is_loading, is_reading, is_writing, saves_of
from ._saved_paths import Paths

_SAVES, _LOADS = ("save", "dump"), ("model", "weight", "best", "check", "ckpt", "param", "pretrained")
_LOADERS = {None, "self", "torch", "pickle", "json", "joblib"}  # of what a plain load() is


def reads_back(project, file, loop):
    """By the names of calls: the main loop has one such as `torch.save` or `json.dump`, and the loop or the code behind it has one such
    as `torch.load` or `self.load_best`, each itself or in functions of the program that it calls. In such a function a load counts if it
    seems to be of a model: others are of data. So do a load of the very path that the loop saves, and one of NumPy or the like of a path
    that may be one that the loop saves with it. A load in front of the loop does not count: a program may go on with files of its own."""
    within = [(file, call) for call in file.calls_in(loop)]
    reached = [*within, *_called_by(project, within)]
    saves = [(one, call) for one, call in reached if saves_of(call) or _saves(call)]
    if not saves:
        return False
    following = [*within, *_behind(project, file, loop)]
    called = list(_called_by(project, following))
    if any(_saves(call) for _, call in saves) and (any(_loads(call) for _, call in following) or
                                                   any(_loads(call) and _is_of_model(one, call) for one, call in called)):
        return True
    paths = Paths(project)
    return any(paths.may_be_one(load, save) for load in [*following, *called] if is_loading(load[1]) for save in saves)


def loads_elsewhere(project, file, loop):
    """Does the main loop save files, and does the program load any by calls that are not in it? It may go on by itself with what an earlier
    process saved."""
    within = [(file, call) for call in file.calls_in(loop)]
    if not any(is_writing(call) for _, call in [*within, *_called_by(project, within)]):
        return False
    inside = {call for _, call in within}
    return any(is_reading(call) for one in project.files.values() for call in one.calls if call not in inside)


def _called_by(project, calls):
    """Yields (file, call) for the calls in functions of the project that these calls lead to."""
    seen, todo = set(), list(calls)
    while todo:
        for function in project.called(todo.pop()[1]):
            if function not in seen:
                seen.add(function)
                file = project.file_of(function)
                inner = [(file, call) for call in file.calls_in(function)]
                yield from inner
                todo.extend(inner)


def _behind(project, file, loop):
    """Yields (file, call) for the calls behind the loop in its function, and behind calls of that one in others."""
    seen, todo = set(), [(file, file.function_of(loop), loop.end_lineno)]
    while todo:
        file, function, line = todo.pop()
        part = file.tree if function is None else function
        yield from ((file, call) for call in file.calls_in(part) if call.lineno > line and file.function_of(call) is function)
        if function is not None and function not in seen:
            seen.add(function)
            todo.extend((other, other.function_of(call), call.lineno) for other in project.files.values() for call in other.calls
                        if function in project.called(call))


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
        if isinstance(of, ast.Attribute):
            return getattr(of.value, "id", "") == "torch"  # torch.jit.load
        return (getattr(of, "id", "") if of is not None else None) in _LOADERS
    return name.startswith(("load_", "from_")) and name != "load_state_dict" and _is_said(name)


def _is_of_model(file, call):
    """Does a load give its value to a model, or say that it is of one? Or does the function around it?"""
    function = file.function_of(call)
    return _is_said(ast.unparse(call)) or _is_said(getattr(function, "name", "")) or \
        any(_name_of(one) == "load_state_dict" for one in file.calls_in(function))


def _is_said(text):
    return any(word in text.lower() for word in _LOADS)
