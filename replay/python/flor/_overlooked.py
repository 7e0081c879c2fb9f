"""What a look (_seen.py) does not see between two steps: progress bars, and what only the elements of the loop lead to."""
import ast
import functools
import itertools
import sys
import types

from ._attributes import dict_of, slots_of
from ._looked_at import NO_STATE
from ._passing import _is_progress_bar
from ._program import program_of
from ._roots import is_of_loader, is_users_module, members_of, roots_of
from ._runtime import users_modules
from ._seen import _Late, _Look

# The names under which the record has the bars that live from iteration to iteration, and the tensors that do so without the way to what they
# were computed from.
BARS, GRAPHS = "@bars", "@graphs"
_DEEPEST, _MOST, _FIRST = 4, 1000, 64  # how deep, in how many objects, and in how many elements of each bars are searched for
_OF_BARS = {"tqdm", "rich", "alive_progress", "progressbar"}  # packages
_HOW_FAR = {"n", "last_print_n", "format_dict", "desc", "postfix", "completed", "percentage"}
_ANY = "*"
_SIMPLE = (bool, int, float, complex, str, bytes, type(None), types.FunctionType)


def bars_in(frame):
    """Returns the paths of progress bars among the variables and in what these lead to, as {path: bar}: what they keep is never saved, and a log
    statement may read it."""
    if not any(package in sys.modules for package in _OF_BARS):
        return {}
    found, known, todo = {}, set(), [(path, value, 0) for path, value in roots_of(frame, users_modules()).items()]
    while todo and len(known) < _MOST:
        path, value, depth = todo.pop()
        if _is_bar(value):
            found[path] = value
        elif depth < _DEEPEST and id(value) not in known:
            known.add(id(value))
            todo += [(f"{path}.{name}" if name else path, item, depth + 1) for name, item in _parts_of(value)]
    return found


def _parts_of(value):
    """Returns what may lead to a bar, as (name of the member, value); "" for what a list or dict has."""
    if isinstance(value, (dict, list, tuple)):
        items = [("", item) for item in itertools.islice(value.values() if isinstance(value, dict) else value, _FIRST)]
    elif isinstance(value, types.SimpleNamespace) or is_users_module(sys.modules.get(type(value).__module__)):
        items = [*(dict_of(value) or {}).items(), *slots_of(value)]
    else:
        return []
    return [(key, item) for key, item in items if not key.startswith("__") and not isinstance(item, _SIMPLE)]


def read_among(bars):
    """Returns one of the paths of bars of which the texts of the user's modules read how far they are, or None: they may compute with that."""
    files = {getattr(module, "__file__", None) for module in users_modules()} if bars else ()
    read = {name for file in files if file is not None for name in _read_in(file)}
    return next((path for path in bars if path.replace(":", ".").rpartition(".")[2] in read or _ANY in read), None)


@functools.lru_cache(None)
def _read_in(file):
    """Returns the names under which a text reads how far a bar is; _ANY where a function does that with what it is given, under a name of its own."""
    program, found = program_of(file), set()
    for node in ast.walk(program.tree) if program is not None else ():
        if isinstance(node, ast.Attribute) and node.attr in _HOW_FAR and isinstance(node.ctx, ast.Load):
            word = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", _ANY)
            function = next((one for one in program.around(node) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))), None)
            given = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)} if function is not None else ()
            found.add(_ANY if word in given and word not in ("self", "cls") else word)
    return found


def _is_bar(value):
    return not isinstance(value, type) and any(kind.__module__.partition(".")[0] in _OF_BARS for kind in type(value).__mro__)


class Sources:
    """The objects that give a loop its elements. Those that are in no variable, nor a member of one, no look sees: what they lead to has a
    fingerprint of its own."""

    def __init__(self, iterable, frame):
        roots, known = self._known(frame)
        givers = _givers_of(iterable)
        self.hidden, self._named = [one for one in givers if id(one) not in known], [one for one in givers if id(one) in known]
        self._frame, self._elsewhere = frame, [value for value in roots if not _is_data(value)] if self.hidden else ()

    def fingerprint(self):
        """Returns the fingerprint of what is hidden, without what could be reached from variables when the loop began. None where the time is not
        enough."""
        known = self._known(self._frame)[1] if self._named else ()
        if any(id(one) not in known for one in self._named):
            return "no variable has them any more"
        try:
            return _Look(self._elsewhere, frozenset(), None, {}).fingerprint(self.hidden) if self.hidden else ""
        except _Late:
            return None

    @staticmethod
    def _known(frame):
        roots = list(roots_of(frame, users_modules()).values())
        return roots, {id(value) for value in roots} | {id(item) for value in roots for item in (members_of(value) or {}).values()}


def _is_data(value):
    """Does it lead to no other objects, or is it passed over by a look, as a bar is?"""
    return isinstance(value, _SIMPLE) or type(value).__module__.partition(".")[0] in ("numpy", *NO_STATE) or type(value).__name__ in ("Tensor", "Parameter")


def _givers_of(iterable):
    if _is_progress_bar(iterable):
        return _givers_of(iterable.iterable)
    if isinstance(iterable, (range, str, bytes)) or iterable is None:
        return []
    if is_of_loader(iterable):
        return [vars(iterable).get("dataset", vars(iterable).get("_dataset"))]
    if hasattr(iterable, "mapping"):  # a view of a dict
        return [dict(iterable.mapping)]
    if hasattr(iterable, "__len__"):
        return [iterable]
    try:
        parts = iterable.__reduce__()[1]
    except TypeError:
        return [iterable]
    return [one for part in parts if not isinstance(part, int) for one in _givers_of(part)]
