"""Variables that a question brings, and whose objects it may change itself: a replay that begins in the middle would lack that."""
import ast
import builtins

from ._new_code import imported_roots
from ._program import MUTATORS

# Of a tensor's methods and attributes: whose results are numbers, or show no more than values do.
NUMBERS = {"item", "tolist", "numel", "size", "dim", "shape", "dtype", "device"}
OF_VALUES = {"sum", "mean", "norm", "abs", "max", "min", "std", "var", "argmax", "argmin", "median", "prod", "any", "all", "isnan", "isfinite", "detach"}
_LEAD_ON = {"state_dict", "items", "keys", "values", "named_parameters", "parameters", "get", "numpy", "view", "reshape", "flatten", "ravel", "t", "squeeze",
            "unsqueeze", "to", "cpu", "float", "double", "detach", "transpose", "permute"}  # methods whose results may share what the object has
CHANGE_NOTHING = NUMBERS | OF_VALUES | _LEAD_ON | {"clone", "copy", "index", "count", "sub", "mul", "div", "dot", "matmul", "mm", "pow", "square", "sqrt",
                                                    "exp", "log", "sign", "eq", "ne", "gt", "lt", "ge", "le", "equal", "allclose", "isclose", "clamp", "clip",
                                                    "diff", "topk", "unique", "astype", "join", "format", "split", "strip", "startswith", "endswith"}
_BUILTINS = {"abs", "all", "any", "bool", "float", "format", "getattr", "hasattr", "int", "isinstance", "len", "max", "min", "print", "range", "repr", "round",
             "str", "sum", "type"}
_GATHER = {"dict", "enumerate", "list", "reversed", "set", "sorted", "tuple", "zip"}  # whose results lead to what they were given, and which take its elements
_ONCE = {"iter", "map", "filter", "zip", "enumerate", "reversed", "open", "cycle", "chain", "count", "islice", "repeat", "reader"}
_PURE = {"torch", "numpy", "math", "scipy", "sklearn", "statistics", "copy"}  # packages
_SETTING = {"manual_seed", "seed", "shuffle", "save", "load", "copyto", "put", "place", "fill_diagonal"}  # functions of these that change something
_PASS = (ast.Starred, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.keyword, ast.IfExp, ast.BoolOp)
_SHOW = (ast.Compare, ast.BinOp, ast.UnaryOp, ast.FormattedValue, ast.Expr, ast.If, ast.While, ast.Assert)


class Harmless:
    """Tells calls that change nothing, as far as names show."""

    def __init__(self, program):
        self._packages, self.functions, self._own = {}, {}, set()
        self._changes_input = False  # does a forward() of the program, which is not called by that name?
        for node in ast.walk(program.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._own.add(node.name)
            if isinstance(node, ast.FunctionDef) and node.name == "forward":
                self._changes_input = self._changes_input or any(_is_changed_first(node, one.arg) for one in ast.walk(node.args) if isinstance(one, ast.arg))
            if isinstance(node, ast.FunctionDef):
                self.functions[node.name] = None if node.name in self.functions or program.scope_of(node) is not program.tree else node
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                root = next(iter(imported_roots(node)), None)
                for alias in node.names:
                    self._packages[alias.asname or alias.name.partition(".")[0]] = alias.name.partition(".")[0] if isinstance(node, ast.Import) else root

    def is_of_object(self, call):
        """Is an object of a library's called, or a method of one? That it does not change what it is given is taken for granted."""
        word = word_of(call)
        is_known = self._package_of(call) is not None or isinstance(call.func, ast.Name) and hasattr(builtins, word)
        return not is_known and not self._changes_input and not {word, "__call__"} & self._own and word not in MUTATORS | _SETTING

    def _package_of(self, call):
        root = call.func
        while isinstance(root, ast.Attribute):
            root = root.value
        return self._packages.get(root.id) if isinstance(root, ast.Name) else None

    def __call__(self, call):
        word, package = word_of(call), self._package_of(call)
        if package is not None:
            is_setting = word in _SETTING or word.endswith("_") or word.startswith(("set_", "use_"))
            return package in ("flor", *_PURE) and not is_setting and not any(keyword.arg in ("out", "generator") for keyword in call.keywords)
        if isinstance(call.func, ast.Name):
            return word in _BUILTINS | _GATHER
        return word in CHANGE_NOTHING


def _is_changed_first(function, name):
    """Does a function change what it was given by this name, before it binds the name anew?"""
    for node in sorted((one for one in ast.walk(function) if hasattr(one, "lineno")), key=lambda one: (one.lineno, one.col_offset)):
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == name for target in node.targets):
            return False
        target = node.target if isinstance(node, ast.AugAssign) else node if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) else None
        if isinstance(node, ast.Call) and word_of(node).endswith("_") and isinstance(node.func, ast.Attribute):
            target = node.func.value
        while isinstance(target, (ast.Subscript, ast.Attribute)):
            target = target.value
        if isinstance(target, ast.Name) and target.id == name and name != "self":
            return True
    return False


def word_of(call):
    """Returns the last name of what is called, or ""."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def passed_by_steps(program, names):
    """Returns one of the names that is bound outside of a block and read inside of one, where it may change; None if there is none."""
    nodes = [(node, program.block_of(node) is not None) for node in _named(program, names)]
    outside = {node.id for node, is_inside in nodes if isinstance(node.ctx, ast.Store) and not is_inside and not _is_number(program.parents.get(node))}
    return next((node.id for node, is_inside in nodes if is_inside and node.id in outside), None)


def _is_number(statement):
    """Does a statement bind what no step can change?"""
    def is_number(node):
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            return all(is_number(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
        return isinstance(node, ast.Constant) or isinstance(node, ast.Call) and word_of(node) in \
            (("item", "numel") if isinstance(node.func, ast.Attribute) else ("float", "int", "len"))

    return isinstance(statement, ast.Assign) and is_number(statement.value)


def passed_by_iterations(program, names):
    """Returns one of the names that is bound in no main loop, and used in one, or in another function, so that what it leads to may change; None
    if there is none."""
    main_loops, nodes, harmless = program.main_loops(), list(_named(program, names)), Harmless(program)
    scopes = {program.tree, *map(program.scope_of, main_loops)}  # where variables live longer than an iteration
    stored = [node for node in nodes if isinstance(node.ctx, ast.Store) and not _is_in(program, node, main_loops)]
    bound, iterators = {(node.id, program.scope_of(node)) for node in stored}, {node.id for node in stored if _is_iterator(program.parents.get(node))}
    for name, scope in bound:
        for node in nodes if scope in scopes else ():
            is_own = program.scope_of(node) is scope
            is_used = node.id == name and isinstance(node.ctx, ast.Load) and (_is_in(program, node, main_loops) if is_own else _is_seen(program, node, scope))
            if is_used and (name in iterators or _may_change(program, node, harmless)):
                return name
    return None


def _is_iterator(statement):
    """Does a statement bind what may give each element once, so that to read it is to change it?"""
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.GeneratorExp) or isinstance(value, ast.Call) and word_of(value) in _ONCE


def _is_seen(program, node, scope):
    """Is a name in a function the variable of a scope around it?"""
    for outer in program.around(node):
        if outer is scope:
            return True
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            words = {one.arg for one in ast.walk(outer.args) if isinstance(one, ast.arg)} | {one.id for one in ast.walk(outer) if isinstance(one, ast.Name)
                                                                                           and isinstance(one.ctx, ast.Store)}
            if node.id in words:
                return False
    return False


def _named(program, names):
    return [node for node in ast.walk(program.tree) if isinstance(node, ast.Name) and node.id in names]


def _is_in(program, node, loops):
    return any(program.is_inside(node, loop) for loop in loops)


def _may_change(program, node, harmless, depth=0):
    """May an expression change what a name in it leads to? `depth`: through how many functions it was handed."""
    while True:
        outer = program.parents.get(node)
        if isinstance(outer, (ast.Subscript, ast.Attribute)) and not isinstance(outer.ctx, ast.Load):
            return True
        if isinstance(outer, ast.Subscript) and node is outer.slice or isinstance(outer, _SHOW):
            return False
        if isinstance(outer, ast.comprehension) or isinstance(outer, (ast.For, ast.AsyncFor)):
            return node is outer.iter and _may_change_elements(program, outer, harmless, depth)
        if isinstance(outer, ast.Call):
            word = word_of(outer)
            if outer.func is node and not isinstance(node, ast.Attribute):
                return True
            if not harmless(outer):
                parameter = _parameter_of(outer, node, harmless.functions.get(word) if isinstance(outer.func, ast.Name) else None)
                if parameter is not None:
                    return depth > 3 or any(_may_change(program, use, harmless, depth + 1) for use in _uses_of(harmless.functions[word], parameter))
                return outer.func is node or not harmless.is_of_object(outer)
            if word not in (_LEAD_ON if outer.func is node else _GATHER):
                return False
        elif not isinstance(outer, (ast.Subscript, ast.Attribute, *_PASS)):
            return True
        node = outer


def _may_change_elements(program, loop, harmless, depth):
    inside = loop if isinstance(loop, ast.stmt) else program.parents[loop]
    targets = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    return any(_may_change(program, node, harmless, depth) for name in targets for node in _uses_of(inside, name))


def _uses_of(tree, name):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)]


def _parameter_of(call, argument, function):
    """Returns the name by which a function knows an argument of a call; None where that is not clear."""
    if function is None or function.args.vararg or any(isinstance(one, ast.Starred) for one in call.args) or function.decorator_list:
        return None
    named = [*function.args.posonlyargs, *function.args.args]
    if argument in call.args and call.args.index(argument) < len(named):
        return named[call.args.index(argument)].arg
    return argument.arg if isinstance(argument, ast.keyword) and argument.arg else None
