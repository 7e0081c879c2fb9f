"""What a question changes by code of the program that it calls, and what the recorded program changes so. An object that only a question changes,
as an average that nothing else updates, is in no checkpoint: a replay that begins in the middle would lack what the iterations before it left."""
import ast
import builtins
import typing

from ._asked_scope import Scope, cut, inside_of
from ._holders import path_of
from ._new_variables import CHANGE_NOTHING
from ._program import MUTATORS, parameters_of
from ._reached import name_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CHANGING = MUTATORS | {"rotate", "subtract", "send", "__next__", "__setitem__", "__setattr__", "update_parameters"}
_WITHOUT_RESULT = {"add", "sort"}  # as a part of another expression than `or`, these are methods of tensors
# Functions that change their first argument.
_OF_FIRST = {"next", "setattr", "delattr", "heappush", "heappop", "heapify", "heapreplace", "heappushpop", "insort", "insort_left", "insort_right", "shuffle",
             "iadd"}
_HANDED_ON = MUTATORS - {"step"}  # that change their object where they are not called, but given to what calls them
_BEGINNING = ("__init__", "__post_init__", "__new__")


class Change(typing.NamedTuple):
    """What changes. `root`: the variable that leads to it; of a function, a parameter or one from outside. `path`: of what changes, from that variable on."""
    root: str
    path: str


class Changes:
    """Of the code of programs. `code`: their functions (_reached.py), found by names: there may be more than what runs."""

    def __init__(self, code):
        self._code = code
        self._functions, self._of = {}, {}  # by id, of those that were met: _Body, and what is known of it by now
        self._handed = {}  # by ids of calls, functions and receivers: what the parameters lead to
        self._giving = {}  # by id: which of their variables functions return, or a part of these

    def of_question(self, program, log, parts):
        """Returns the paths of what lasts of what a log statement changes. `parts`: its expressions."""
        body = _Body(program, self._scope(program, program.scope_of(program.original(log))), parts, self._code)
        return {one.path for one in self._settled([body]) if body.scope.lasts(one.root)}

    def of_loops(self, programs, name):
        """Returns the paths of what the main loops of programs, and the functions that they may call, change. Of a function with this name, in
        which the question stands, those that begin with its parameters, too."""
        loops = [(program, loop) for program in programs for loop in program.main_loops()]
        bodies = [_Body(program, self._scope(program, program.scope_of(loop)), loop.body, self._code) for program, loop in loops]
        _, functions = self._code.reached_by([statement for _, loop in loops for statement in loop.body])
        own = [self._body_of(program, node) for program, node in functions if isinstance(node, _FUNCTIONS) and node.name == name]
        self._settled([*bodies, *own])
        known = {one for body in [*bodies, *own] for one in self._in(body)}
        known |= {one for body in self._functions.values() for one in self._in(body) if one.root not in body.scope.parameters}
        return {one.path for one in known}

    def _settled(self, bodies):
        """Returns what bodies change. What a function changes that calls itself, or that others call by turns, shows when all are known."""
        while True:
            found, count, before = set().union(*map(self._in, bodies)), len(self._functions), dict(self._of)
            for key, body in list(self._functions.items()):
                self._of[key] = self._in(body)
            if len(self._functions) == count and self._of == before:
                return found

    def _scope(self, program, node):
        return Scope(program, node, self._code, self._returned)

    def _body_of(self, program, function):
        if id(function) not in self._functions:
            nodes = function.body if isinstance(function.body, list) else [function.body]
            found = self._functions[id(function)] = _Body(program, self._scope(program, function), nodes, self._code)
            self._of[id(function)] = set()
            if any(_word(one) in ("cache", "lru_cache") for one in getattr(function, "decorator_list", ())):
                found.changes.add(Change(function.name, function.name))
        return self._functions[id(function)]

    def _in(self, body):
        for program, function, *_ in body.runs:
            self._body_of(program, function)
        known = [len(self._of[id(function)]) for _, function, *_ in body.runs]
        if known != body.known:
            body.known, body.found = known, body.changes.union(*(self._by(body.scope, *run) for run in body.runs))
        return body.found

    def _by(self, scope, _program, function, receiver, call):
        """Yields what a call of a function changes, as its caller sees it."""
        changes = self._of[id(function)]
        if not changes:
            return
        key, name, own = (id(call), id(function), id(receiver)), name_of_function(function), parameters_of(function)
        if key not in self._handed:
            words = _arguments_of(call, function, receiver)
            self._handed[key] = {word: {found for value in values for found in scope.sources(value)} for word, values in words.items()}
        for change in changes:
            if change.root not in own:
                yield change
            elif is_by_other_name(call, function):  # it may have been given more before, as by a partial
                yield Change(name, f"{name}.{change.root}")
            elif change.root in self._handed[key]:
                yield from (Change(root, cut(path + change.path[len(change.root):])) for root, path in self._handed[key][change.root])
            elif not _is_constant_by_default(function, change.root):  # a list there lives as long as the function
                yield Change(name, f"{name}.{change.root}")

    def _returned(self, scope, call):
        """Returns what a call may return of what was there before, as Scope.sources(); None where it calls nothing of the program's."""
        runs, found = list(called_by(call, self._code)), []
        if not runs:
            return None
        for program, function, receiver, _ in runs:
            words, own = _arguments_of(call, function, receiver), parameters_of(function)
            for root, path in self._given_by(program, function):
                if root not in own:
                    found.append((root, path))
                for value in words.get(root, ()) if root in own else ():
                    found += [(outer, cut(inner + path[len(root):])) for outer, inner in scope.sources(value)]
        return found

    def _given_by(self, program, function):
        key = id(function)
        if key not in self._giving:
            self._giving[key] = ()
            if getattr(function, "name", "") not in _BEGINNING:
                values = [function.body] if isinstance(function, ast.Lambda) else \
                    [one.value for one in inside_of(function.body) if isinstance(one, (ast.Return, ast.Yield)) and one.value is not None]
                scope = self._scope(program, function)
                self._giving[key] = tuple(dict.fromkeys(found for value in values for found in scope.sources(value)))
        return self._giving[key]


class _Body:
    """Statements or expressions: `changes` that they make themselves, and `runs`: (program, function, receiver, call) of what they may run.
    `scope`: their variables."""

    def __init__(self, program, scope, nodes, code):
        self.scope, self._program, self._code = scope, program, code
        self.known = self.found = None  # how much was known of what it runs when what it changes was found last; that
        inside = list(inside_of(nodes))
        self.changes = {Change(root, path) for node in inside for root, path in self._changed_by(node)}
        self.runs = [run for node in inside for run in [*called_by(node, code), *handed_on_by(node, code), *code.operations(node)]]

    def _changed_by(self, node):
        """Yields (variable, path) of what a node changes by itself."""
        scope = self.scope
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and node.id in scope.outer:
            yield node.id, node.id
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            if not scope.is_made_here(node.target.id):
                yield from scope.sources(ast.Name(node.target.id, ast.Load()))
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            member = f".{node.attr}" if isinstance(node, ast.Attribute) else ""
            yield from ((root, cut(path + member)) for root, path in self._sources_at(node.value, node))
        elif isinstance(node, ast.Call):
            for value in self._changed_by_call(node):
                yield from self._sources_at(value, node)
        elif isinstance(node, ast.Attribute) and self._code.is_kept(node.attr):
            yield from scope.sources(node)
        elif isinstance(node, ast.Attribute) and node.attr in _HANDED_ON - self._code.bound:
            is_called = getattr(self._program.parents.get(node), "func", None) is node
            yield from [] if is_called else scope.sources(node.value)

    def _sources_at(self, value, node):
        root = (path_of(value) or "").split(".")[0]
        return [] if root in self.scope.parameters and self.scope.is_bound_anew(root, node) else self.scope.sources(value)

    def _changed_by_call(self, call):
        word, outer = name_of(call.func) or "", self._program.parents.get(call)
        yield from (keyword.value for keyword in call.keywords if keyword.arg == "out")
        if word in _OF_FIRST and call.args:
            yield call.args[0]
        elif isinstance(call.func, ast.Attribute) and (word in _CHANGING or word.endswith("_") and not word.startswith("__")):
            if word not in _WITHOUT_RESULT or isinstance(outer, (ast.Expr, ast.BoolOp)):
                yield call.func.value


def called_by(call, code):
    """Yields (program, function, receiver, call) of what a call may run. Of a class that is how its object begins."""
    if not isinstance(call, ast.Call):
        return
    function, name = call.func, name_of(call.func)
    if isinstance(function, ast.Attribute):
        found = [(program, one, function.value if is_method else None) for program, one, is_method in code.members(name)]
        is_object = not found and name in code.bound and name not in CHANGE_NOTHING and (path_of(function) or "").split(".")[0] not in code.libraries
    elif isinstance(function, ast.Name):
        found = [(program, one, None) for program, one in code.named(name)]
        is_object = not found and not hasattr(builtins, name) and name not in code.libraries
    else:
        found = [(program, one, None) for program, one, _ in code.members(name_of(getattr(function, "value", None)))]  # of a list or dict
        is_object = True
    found += [(program, one, function) for program, one in code.called_objects(name)] if is_object else []
    for program, one, receiver in found:
        if isinstance(one, ast.ClassDef):
            yield from ((program, begin, ast.Constant(None), call) for begin in code.methods_of(one, _BEGINNING))
        else:
            yield program, one, receiver, call


def handed_on_by(call, code):
    """Yields, as called_by(), what a call hands on, as `map(meter.update, losses)`. It may be called with all that is handed on with it."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)] if isinstance(call, ast.Call) else []
    for value in values:
        if isinstance(value, (ast.Name, ast.Attribute)):
            others = ast.Call(value, [ast.Starred(one, ast.Load()) for one in values if one is not value], [])
            for program, one, is_method in code.members(name_of(value)):
                if not isinstance(one, ast.ClassDef) and (not is_method or isinstance(value, ast.Attribute)):
                    yield program, one, value.value if is_method else None, others


def is_by_other_name(call, function):
    name = getattr(function, "name", None)
    return name is not None and name_of(call.func) not in (None, name) and name not in ("__call__", "forward", *_BEGINNING)


def name_of_function(function):
    return getattr(function, "name", "a lambda")


def _word(decorator):
    return (path_of(decorator.func if isinstance(decorator, ast.Call) else decorator) or "").split(".")[-1]


def _is_constant_by_default(function, name):
    """Is a parameter without a value of the caller's a number, a text or None?"""
    spec = function.args
    positional = [*spec.posonlyargs, *spec.args]
    defaults = dict(zip([one.arg for one in positional][len(positional) - len(spec.defaults):], spec.defaults))
    defaults.update({one.arg: value for one, value in zip(spec.kwonlyargs, spec.kw_defaults)})
    return isinstance(defaults.get(name), ast.Constant) or isinstance(defaults.get(name), ast.Tuple) and not defaults[name].elts


def _arguments_of(call, function, receiver):
    """Returns {parameter: [values]}. Where a call has `*` or `**`, each value may be of any."""
    spec = function.args
    if any(_word(one) == "staticmethod" for one in getattr(function, "decorator_list", ())):
        receiver = None
    names, values = [one.arg for one in [*spec.posonlyargs, *spec.args]], [*([] if receiver is None else [receiver]), *call.args]
    named = {keyword.arg: [keyword.value] for keyword in call.keywords}
    if None in named or any(isinstance(one, ast.Starred) for one in values):
        everything = [*values, *(keyword.value for keyword in call.keywords)]
        first = {names[0]: [receiver]} if receiver is not None and names else {}
        return {**{name: everything for name in parameters_of(function)}, **first}
    words = {**named, **{name: [value] for name, value in zip(names, values)}}
    for rest in (spec.vararg, spec.kwarg):
        words.update({} if rest is None else {rest.arg: [*values[len(names):], *(keyword.value for keyword in call.keywords)]})
    return words
