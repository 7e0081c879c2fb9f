"""What the expressions of a function may lead to that was there before: parameters, variables from outside, and members of these. For what a question
changes (_asked_changes.py)."""
import ast

from ._program import parameters_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
# What gives a part of the object that it is called on, or of its first argument.
_GETTING, _GIVING_A_PART = {"get", "setdefault", "pop", "popleft", "values", "items"}, {"getattr", "iter", "next", "vars", "reversed", "enumerate", "zip"}
_COPYING = {"list", "tuple", "sorted", "dict", "set"}  # their elements are those of the first argument
_WRAPPING = {"compile", "DataParallel", "DistributedDataParallel", "script"}  # whose results are the network that they are given
_DEEPEST = 3  # names of a path


class Scope:
    """The variables of a function, or of a module. `outer`: those that it binds and that are not its own. `returned(scope, call)` gives what a call
    of the program's code may return, as sources(); None where it calls nothing of the program's."""

    def __init__(self, program, node, code, returned):
        self._program, self._code, self._returned = program, code, returned
        self._loops = [loop for loop in program.main_loops() if program.scope_of(loop) is node]
        is_function = not isinstance(node, ast.Module)
        self._lives = bool(self._loops) or not is_function  # its variables, longer than an iteration
        self.parameters = parameters_of(node) if is_function else set()
        self._body = node.body if isinstance(node.body, list) else [node.body]
        inside = list(inside_of(self._body))
        self.outer = {name for one in inside if isinstance(one, (ast.Global, ast.Nonlocal)) for name in one.names}
        self._bound, self._known = {}, {}  # by the names of its own variables: [(statement, value)]; what they lead to
        self._calls = {}  # by id: what calls lead to
        for one in inside:
            for name, value in _bindings(one):
                if name not in self.outer:
                    self._bound.setdefault(name, []).append((one, value))

    def sources(self, value):
        """Returns [(variable, path)] of what an expression may be, or be a part of; [] of what was made here, and of what a library has."""
        if isinstance(value, ast.Name):
            return self._of_name(value.id)
        if isinstance(value, ast.Attribute):
            return [(root, cut(f"{path}.{value.attr}")) for root, path in self.sources(value.value)]
        if isinstance(value, ast.Subscript):
            return self._of_element(value)
        if isinstance(value, ast.Call):
            return self._of_call(value)
        if isinstance(value, (ast.For, ast.AsyncFor, ast.comprehension)):
            return [] if _counts(value) else self._elements(value.iter)
        inner = {ast.IfExp: ("body", "orelse"), ast.Starred: ("value",), ast.NamedExpr: ("value",), ast.Await: ("value",)}.get(type(value), ())
        parts = value.values if isinstance(value, ast.BoolOp) else [getattr(value, name) for name in inner]
        return [found for part in parts for found in self.sources(part)]

    def lasts(self, name):
        """Does what a variable leads to live longer than an iteration of the main loop?"""
        if name not in self._bound or name in self.parameters:
            return True
        return self._lives and not any(self._is_fresh(value) and any(self._program.is_inside(statement, loop) for loop in self._loops)
                                       for statement, value in self._bound[name])

    def is_bound_anew(self, name, node):
        """Did a parameter get a value that was made here, whatever happens, in front of a node?"""
        return any(self._is_fresh(value) and statement in self._body and statement.lineno < getattr(node, "lineno", 0)
                   for statement, value in self._bound.get(name, ()))

    def is_made_here(self, name):
        """Is a variable bound here to a value that was made here?"""
        return any(self._is_fresh(value) for _, value in self._bound.get(name, ()))

    def _is_fresh(self, value):
        return not isinstance(value, (ast.For, ast.AsyncFor)) and not self.sources(value)

    def _of_name(self, name):
        if name in self._code.libraries:
            return []
        values = [value for _, value in self._bound.get(name, ())]
        if values and all(_counts(value) for value in values):
            return []
        if self._lives and len(values) == 1 and _name_of_called(values[0]) in _WRAPPING and values[0].args and isinstance(values[0].args[0], ast.Name):
            return self._of_name(values[0].args[0].id)
        if name in self.parameters or name not in self._bound or self._lives:
            return [(name, name)]
        if name not in self._known:
            self._known[name] = []  # one that leads to itself leads nowhere else by that
            self._known[name] = list(dict.fromkeys(found for _, value in self._bound[name] for found in self.sources(value)))
        return self._known[name]

    def _of_element(self, value):
        if isinstance(value.value, _DISPLAYS) or _name_of_called(value.value) in _COPYING:
            return self._elements(value.value)
        index = f"[{value.slice.value!r}]" if isinstance(value.slice, ast.Constant) else ""
        return [(root, path + index) for root, path in self.sources(value.value)]

    def _elements(self, value):
        """As sources(), of what a loop over a value gives."""
        if isinstance(value, _DISPLAYS):
            parts = value.values if isinstance(value, ast.Dict) else value.elts
        elif _name_of_called(value) in _COPYING | _GIVING_A_PART:
            parts = value.args
        else:
            return self.sources(value)
        return [found for part in parts for found in self._elements(part)]

    def _of_call(self, call):
        if id(call) not in self._calls:  # one has others as arguments, and each may run many functions
            self._calls[id(call)] = []
            self._calls[id(call)] = self._found_by(call)
        return self._calls[id(call)]

    def _found_by(self, call):
        found = self._returned(self, call)
        if found is not None:
            return found
        if _name_of_called(call) in _GIVING_A_PART and isinstance(call.func, ast.Name):
            return [found for part in call.args for found in self.sources(part)]
        return self.sources(call.func.value) if isinstance(call.func, ast.Attribute) and call.func.attr in _GETTING else []


def _counts(value):
    """Is it a loop over numbers?"""
    over = value.iter if isinstance(value, (ast.For, ast.AsyncFor, ast.comprehension)) else None
    if _name_of_called(over) in ("loop", "main_loop") and len(over.args) > 1:
        over = over.args[1]
    return _name_of_called(over) in ("range", "trange")


def cut(path):
    """Returns the first names of a path: what leads from object to object of the same kind may be of any length."""
    return ".".join(path.split(".")[:_DEEPEST])


def _name_of_called(value):
    return getattr(value.func, "id", getattr(value.func, "attr", None)) if isinstance(value, ast.Call) else None


def _bindings(node):
    """Yields (name, value) for each variable that a statement binds. Of a loop the value is the loop."""
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            are_pairs = all(isinstance(one, (ast.Tuple, ast.List)) for one in (target, node.value)) and len(target.elts) == len(node.value.elts)
            for one, value in zip(target.elts, node.value.elts) if are_pairs else [(target, node.value)]:
                yield from ((name.id, value) for name in ast.walk(one) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store))
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield from ((one.id, node) for one in ast.walk(node.target) if isinstance(one, ast.Name))
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        yield from ((one.id, item.context_expr) for item in node.items if item.optional_vars is not None for one in ast.walk(item.optional_vars)
                    if isinstance(one, ast.Name))


def inside_of(nodes):
    """As ast.walk(), without what nested functions and classes have inside. A lambda is taken to be called where it stands."""
    todo = list(nodes)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            todo.extend(ast.iter_child_nodes(node))
