"""Whether a call may read the file that another one writes, by the text of their paths: what they begin and end with, also through
variables, members, parameters and the defaults of options. Read, not run."""
import ast
import functools
import itertools
import re

from ._program import names_in, parameters_of
from ._reports import bindings_of
from ._saved_files import families_of, name_of_call, paths_of

_MOST, _DEEPEST = 16, 6  # values of a path, and variables behind variables
_UNKNOWN = ("", "")
_SAME = {"sorted", "list", "str", "fspath", "max", "min", "abspath", "realpath", "expanduser",
         "resolve", "absolute", "reversed", "next", "iter"}
_BY_PATTERN = {"glob", "iglob", "rglob"}


class Paths:
    """Of the calls of a project. What they give is read once."""

    def __init__(self, project):
        self._project, self._known, self._bound_to = project, {}, {}

    def may_be_one(self, load, save):
        """`load`, `save`: (file, call). May one read what the other writes? Where nothing tells the paths of both, they may be the same if
        both calls belong to one library; where one is known and the other is not, they are two."""
        if load[1] is save[1]:
            return False
        if self._is_said(*load, *save):
            return True
        reads, writes = self._ends(*load), self._ends(*save)
        if any(one == other and one[0] == one[1] and len(one[0]) > 3 for one in reads for other in writes):
            return True
        family = families_of(load[1], save[1])
        if family is None or any(self._project.called(call) for call in (load[1], save[1])):
            return False
        if reads == writes == {_UNKNOWN}:
            return True
        return any(_fit(one, other) for one in reads for other in writes)

    def _is_said(self, file, load, other, save):
        """Have both calls one path by its text? Where it is not known at which place a call has its path, only what is a path by its text
        counts."""
        (reads, is_sure), (writes, is_also) = self._places(load), self._places(save)
        if not is_sure and not is_also:
            reads, writes = filter(_is_path, reads), filter(_is_path, writes)
        around, found = (file.function_of(load), other.function_of(save)), {ast.dump(node) for node in writes}
        is_one = around[0] is around[1]
        return any(ast.dump(node) in found and (is_one or _has_text(node) or not any(_is_local(node, one) for one in around)) for node in reads)

    def _places(self, call):
        return paths_of(call, bool(self._project.called(call)))

    def _ends(self, file, call):
        if call not in self._known:
            nodes, is_sure = self._places(call)
            self._known[call] = {_UNKNOWN}.union(*(self._values(file, node, 0) for node in nodes)) if is_sure else {_UNKNOWN}
            if self._known[call] != {_UNKNOWN}:
                self._known[call].discard(_UNKNOWN)
        return self._known[call]

    def _values(self, file, node, depth):
        """Returns what a path may surely begin and end with, as pairs of texts."""
        if depth > _DEEPEST or node is None:
            return {_UNKNOWN}
        of = functools.partial(self._values, file, depth=depth + 1)
        if isinstance(node, ast.Constant):
            return {(node.value, node.value)} if isinstance(node.value, str) else {_UNKNOWN}
        if isinstance(node, ast.JoinedStr):
            parts = [one.value if isinstance(one, ast.FormattedValue) else one for one in node.values] or [None]
            return _between(of(parts[0]), of(parts[-1])) if len(node.values) != 1 else of(parts[0])
        if isinstance(node, ast.BinOp):
            return _around(node.left, r"%[^a-zA-Z]*[a-zA-Z]") if isinstance(node.op, ast.Mod) else _between(of(node.left), of(node.right))
        if isinstance(node, ast.Call):
            return self._values_of_call(node, of)
        if isinstance(node, (ast.Subscript, ast.Starred)):
            return of(node.value)
        if isinstance(node, (ast.IfExp, ast.BoolOp, ast.List, ast.Tuple)):
            parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else getattr(node, "values", None) or getattr(node, "elts", ())
            return set().union(*map(of, parts)) or {_UNKNOWN}
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return of(node.elt)
        return self._bound(file, node, depth) if isinstance(node, (ast.Name, ast.Attribute)) else {_UNKNOWN}

    def _values_of_call(self, node, of):
        name, owner = name_of_call(node), getattr(node.func, "value", None)
        if name in ("join", "Path", "PurePath", "joinpath") and node.args:
            parts = [owner, *node.args] if name == "joinpath" else node.args
            return _between(of(parts[0]), of(parts[-1])) if len(parts) > 1 else of(parts[0])
        if name == "format" and owner is not None:
            return _around(owner, r"\{[^}]*\}")
        if name in ("with_suffix", "with_name", "replace") and node.args:
            return _between(of(owner), of(node.args[-1]) if name != "replace" else {_UNKNOWN})
        if name in _BY_PATTERN and node.args:
            return {(start.split("*")[0], end.split("*")[-1]) for start, end in of(node.args[-1])}
        return of(node.args[0] if node.args else owner) if name in _SAME else {_UNKNOWN}

    def _bound(self, file, node, depth):
        """Returns the values of a variable of a function or module, or of a member of any object."""
        if node not in self._bound_to:
            self._bound_to[node] = {_UNKNOWN}  # of one that is bound by itself
            given = list(itertools.islice(self._given(file, node), _MOST))
            self._bound_to[node] = set().union(*(self._values(one, value, depth + 1) for one, value in given)) or {_UNKNOWN}
        return self._bound_to[node]

    def _given(self, file, node):
        """Yields (file, value) of what a variable or member may be bound to."""
        function = file.function_of(node)
        if isinstance(node, ast.Attribute):
            yield from self._bindings.get("." + node.attr, ())
        elif function is not None and node.id in parameters_of(function):
            yield from self._arguments(function, node.id)
            yield from ((one, value) for one, value in self._bindings.get(node.id, ()) if one.function_of(value) is function)
        else:
            bound = [(one.function_of(value), one, value) for one, value in self._bindings.get(node.id, ())]
            own = [(one, value) for outer, one, value in bound if outer is function]
            yield from own or [(one, value) for outer, one, value in bound if outer is None]

    @functools.cached_property
    def _bindings(self):
        """By a variable, or a member as ".path": (file, value) of what binds it."""
        found = {}
        for file in self._project.files.values():
            for node in file.nodes_in(file.tree):
                pairs = [(node.target, node.iter)] if isinstance(node, (ast.For, ast.comprehension)) else bindings_of(node)
                for target, value in pairs:
                    for part in ast.walk(target) if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                        if isinstance(part, (ast.Name, ast.Attribute)):
                            found.setdefault(getattr(part, "id", None) or "." + part.attr, []).append((file, value))
                if isinstance(node, ast.Call) and name_of_call(node) == "add_argument":
                    default = next((one.value for one in node.keywords if one.arg == "default"), None)
                    for one in node.args if default is not None else ():
                        if isinstance(one, ast.Constant) and isinstance(one.value, str):
                            found.setdefault("." + one.value.lstrip("-").replace("-", "_"), []).append((file, default))
        return found

    @functools.cached_property
    def _callers(self):
        found = {}
        for file in self._project.files.values():
            for call in file.calls:
                for function in self._project.called(call):
                    found.setdefault(function, []).append((file, call))
        return found

    def _arguments(self, function, name):
        """Yields (file, value) of what calls give a parameter, and its default."""
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return
        names = [one.arg for one in [*function.args.posonlyargs, *function.args.args]]
        own, defaults = self._project.file_of(function), function.args.defaults
        if name in names and len(names) - names.index(name) <= len(defaults):
            yield own, defaults[names.index(name) - len(names)]
        is_method = own.is_method(function) and not any(getattr(one, "id", "") == "staticmethod" for one in function.decorator_list)
        place = names.index(name) - is_method if name in names else -1
        for file, call in self._callers.get(function, ()):
            yield from ((file, one.value) for one in call.keywords if one.arg == name)
            if 0 <= place < len(call.args):
                yield file, call.args[place]


def _between(starts, ends):
    return {(start, end) for start, _ in starts for _, end in ends}


def _around(node, places):
    """Returns what a text has in front of the first and behind the last place that is filled."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return {_UNKNOWN}
    parts = re.split(places, node.value)
    return {(parts[0], parts[-1])}


def _fit(one, other):
    """May a path have both starts and both ends? Of the starts or of the ends both must be known."""
    (first, last), (start, end) = one, other
    is_compared = first and start or last and end
    return bool(is_compared) and (first.startswith(start) or start.startswith(first)) and (last.endswith(end) or end.endswith(last))


def _is_path(node):
    """Is it a path by its text: a text, what is put together of one, or a variable that is called so?"""
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return any(word in ast.unparse(node).lower() for word in ("path", "file", "ckpt", "checkpoint"))
    return _has_text(node) or isinstance(node, ast.Call) and name_of_call(node) in ("join", "Path")


def _has_text(node):
    return not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Dict, ast.List, ast.Tuple)) and \
        any(isinstance(part, ast.Constant) and isinstance(part.value, str) and len(part.value) > 2 for part in ast.walk(node))


def _is_local(node, function):
    """Is a name in it a parameter or variable of the function?"""
    if function is None:
        return False
    own = parameters_of(function) | {one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return not own.isdisjoint(names_in(node) - {"self", "cls"})
