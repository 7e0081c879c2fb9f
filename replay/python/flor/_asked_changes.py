"""What a question changes by code of the program that it calls, and what the recorded program changes so. An object that only a question changes,
as an average that nothing else updates, is in no checkpoint: a replay that begins in the middle would lack what the iterations before it left."""
import ast
import builtins
import typing

from ._holders import path_of
from ._new_variables import word_of
from ._program import changed_in, parameters_of
from ._reached import name_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_FRESH = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr, ast.BinOp,
          ast.UnaryOp, ast.Compare, ast.Call, ast.Lambda)
_WITHOUT_RESULT = {"add", "sort"}  # where the result is used, these are other methods, as those of tensors
_CACHES = {"cache", "lru_cache"}
_ITSELF = "()"
_BY_OBJECT = ("__call__", "forward", "__init__")


class Change(typing.NamedTuple):
    """What changes. `root`: the variable that leads to it; of a function, a parameter or one from outside. `via`: the name of the object that was
    given, the last one of its path. `word`: the member of it that changes, or that leads to what does; "()" where it is changed itself."""
    root: str
    via: str
    word: str


class Changes:
    """Of the code of programs. `code`: their functions (_reached.py). By names alone, as that is."""

    def __init__(self, code):
        self._code = code
        self._functions, self._of = {}, {}  # by id, of those that were met: _Body, and what is known of it by now

    def of_question(self, program, log, parts):
        """Returns what lasts of what a log statement changes by what it calls: pairs (via, word). `parts`: its expressions."""
        body = _Body(program, program.scope_of(program.original(log)), parts, self._code)
        return {(one.via, one.word) for one in self._settled([body]) if body.scope.lasts(one.root)}

    def of_loops(self, programs):
        """Returns what the main loops of programs, and the functions that they may call, change: pairs (via, word)."""
        loops = [(program, loop) for program in programs for loop in program.main_loops()]
        bodies = [_Body(program, program.scope_of(loop), loop.body, self._code) for program, loop in loops]
        _, functions = self._code.reached_by([statement for _, loop in loops for statement in loop.body])
        bodies += [_body_of(program, node, self._code) for program, node in functions if isinstance(node, _FUNCTIONS)]
        return {(one.via, one.word) for one in self._settled(bodies)}

    def _settled(self, bodies):
        """Returns what bodies change. What a function changes that calls itself, or that others call by turns, shows when all are known."""
        while True:
            found, count, before = set().union(*map(self._in, bodies)), len(self._functions), dict(self._of)
            for key, body in list(self._functions.items()):
                self._of[key] = self._in(body)
            if len(self._functions) == count and self._of == before:
                return found

    def _of_function(self, program, function):
        if id(function) not in self._functions:
            self._functions[id(function)], self._of[id(function)] = _body_of(program, function, self._code), set()
        return self._of[id(function)]

    def _in(self, body):
        return body.changes.union(*(self._by_call(body.scope, call) for call in body.calls))

    def _by_call(self, scope, call):
        if isinstance(call.func, ast.Name) and call.func.id == "next" and call.args:
            yield from scope.reached(call.args[0], _ITSELF)
        for program, function, receiver in self._called(call):
            if isinstance(function, ast.ClassDef):
                begins = [one for one in function.body if isinstance(one, _FUNCTIONS) and one.name == "__init__"]
                pairs = [(program, one, ast.Constant(None)) for one in begins]
            else:
                pairs = [(program, function, receiver)]
            for one in pairs:
                yield from self._handed(scope, call, *one)

    def _handed(self, scope, call, program, function, receiver):
        """Yields what a call of a function changes, as its caller sees it."""
        words, own, name = _arguments_of(call, function, receiver), parameters_of(function), getattr(function, "name", "")
        is_given_more = isinstance(function, _FUNCTIONS) and name not in (word_of(call), *_BY_OBJECT)  # by a partial, as it may be
        for change in self._of_function(program, function):
            if change.root not in own:
                yield change
            elif change.root not in words or is_given_more:  # a default value lives as long as the function
                yield Change(name, name, change.root)
            for value in words.get(change.root, ()) if change.root in own else ():
                yield from scope.reached(value, change.word, None if change.via == change.root else change.via)

    def _called(self, call):
        """Yields (program, function or class, receiver) of what a call may run."""
        function, name = call.func, name_of(call.func)
        if isinstance(function, ast.Name):
            found = self._code.named(function.id)
            yield from ((program, one, None) for program, one in found)
            is_object = not found and not hasattr(builtins, function.id) and function.id not in self._code.imported
        elif isinstance(function, ast.Attribute):
            found = self._code.members(function.attr)
            yield from ((program, one, function.value if is_method else None) for program, one, is_method in found)
            is_object = not found and function.attr in self._code.bound and (path_of(function) or "").split(".")[0] not in self._code.imported
        else:
            found = self._code.members(name_of(getattr(function, "value", None)))  # of a list or dict of functions
            yield from ((program, one, None) for program, one, _ in found)
            is_object = True
        if is_object:
            yield from ((program, one, function) for program, one in self._code.called_objects(name))


def _arguments_of(call, function, receiver):
    """Returns {parameter: [values]}. Where a call has `*` or `**`, each value may be of any."""
    spec = function.args
    if any(path_of(one) == "staticmethod" for one in getattr(function, "decorator_list", ())):
        receiver = None
    names, values = [one.arg for one in [*spec.posonlyargs, *spec.args]], [*([] if receiver is None else [receiver]), *call.args]
    named = {keyword.arg: [keyword.value] for keyword in call.keywords}
    if None in named or any(isinstance(one, ast.Starred) for one in values):
        everything = [*values, *(keyword.value for keyword in call.keywords)]
        return {name: everything for name in parameters_of(function)}
    words = {**named, **{name: [value] for name, value in zip(names, values)}}
    for rest in (spec.vararg, spec.kwarg):
        words.update({} if rest is None else {rest.arg: [*values[len(names):], *(keyword.value for keyword in call.keywords)]})
    return words


class _Body:
    """Statements or expressions: `changes` that they make themselves, and `calls`. `scope`: their variables."""

    def __init__(self, program, scope, nodes, code):
        self.scope = _Scope(program, scope, code)
        self.changes = {one for path, node, _ in changed_in(nodes) for one in self.scope.changes(path, node)}
        inside = list(_inside(nodes))
        self.changes |= {Change(one.id, one.id, _ITSELF) for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
                         and one.id in self.scope.outer}
        self.calls = [one for one in inside if isinstance(one, ast.Call)]


def _body_of(program, function, code):
    found = _Body(program, function, function.body if isinstance(function.body, list) else [function.body], code)
    words = [path_of(one.func if isinstance(one, ast.Call) else one) or "" for one in getattr(function, "decorator_list", ())]
    if any(word.split(".")[-1] in _CACHES for word in words):
        found.changes.add(Change(function.name, function.name, _ITSELF))
    return found


class _Scope:
    """The variables of a function, or of a module. `outer`: those that it binds and that are not its own."""

    def __init__(self, program, node, code):
        self._program, self._code = program, code
        self._loops = [loop for loop in program.main_loops() if program.scope_of(loop) is node]
        is_function = not isinstance(node, ast.Module)
        self._lives = bool(self._loops) or not is_function  # its variables, longer than an iteration
        self._parameters = parameters_of(node) if is_function else set()
        body = node.body if isinstance(node.body, list) else [node.body]
        inside = list(_inside(body))
        self.outer = {name for one in inside if isinstance(one, (ast.Global, ast.Nonlocal)) for name in one.names}
        self._bound = {}  # by the names of its own variables: where each is bound, and what its value may lead to; None: to nothing that was there
        for one in inside:
            for name, value in _bindings(one):
                if name not in self.outer:
                    self._bound.setdefault(name, []).append((one, value))

    def changes(self, path, node):
        """Yields what a statement changes (changed_in())."""
        root, *members = path.split(".")
        is_other_now = isinstance(node, ast.AugAssign) and any(value is None for _, value in self._bound.get(root, ()))  # than what was given
        if root in self._code.imported or is_other_now:
            return
        if isinstance(node, ast.Call) and node.func.attr in _WITHOUT_RESULT and not isinstance(self._program.parents.get(node), ast.Expr):
            return
        for outer, last in self._roots(root):
            yield Change(outer, last, members[0] if members else _ITSELF)

    def reached(self, value, word, via=None):
        """Yields a change of what an expression leads to. `via`: of what it has inside; None: of itself."""
        if isinstance(value, (ast.IfExp, ast.BoolOp)):
            for one in [value.body, value.orelse] if isinstance(value, ast.IfExp) else value.values:
                yield from self.reached(one, word, via)
        path = path_of(value)
        if path is None or path.split(".")[0] in self._code.imported:
            return
        for root, last in self._roots(path.split(".")[0]):
            yield Change(root, via or (path.split(".")[-1] if "." in path else last), word)

    def _roots(self, name, above=()):
        """Yields what a variable may lead to that was there before: (variable, its last name)."""
        if name in self._parameters or name not in self._bound or name in above or self._lives:
            yield name, name
            return
        for _, value in self._bound[name]:
            for path in _paths_in(value):
                for root, last in self._roots(path.split(".")[0], (*above, name)):
                    yield root, path.split(".")[-1] if "." in path else last

    def lasts(self, name):
        """Does what a variable leads to live longer than an iteration of the main loop?"""
        if name not in self._bound or name in self._parameters:
            return True
        return self._lives and not any(value is None and any(self._program.is_inside(statement, loop) for loop in self._loops)
                                       for statement, value in self._bound[name])


def _bindings(node):
    """Yields (name, value) for each variable that a statement binds. Of a loop the value is the loop."""
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        value = None if isinstance(node.value, _FRESH) else node.value
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from ((one.id, value) for one in ast.walk(target) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        yield from ((one.id, node) for one in ast.walk(node.target) if isinstance(one, ast.Name))
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        yield from ((one.id, None) for item in node.items if item.optional_vars is not None for one in ast.walk(item.optional_vars)
                    if isinstance(one, ast.Name))


def _paths_in(value):
    """Returns the paths of what a value, or an element of what a loop goes over, may be or be a part of."""
    if isinstance(value, (ast.For, ast.AsyncFor)):
        return [node.id for node in ast.walk(value.iter) if isinstance(node, ast.Name)]
    return [path_of(value)] if value is not None and path_of(value) else []


def _inside(nodes):
    """As ast.walk(), without what nested functions and classes have inside."""
    todo = list(nodes)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            todo.extend(ast.iter_child_nodes(node))
