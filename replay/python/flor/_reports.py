"""What a program says by itself, as rows: print(), logging, SummaryWriter, wandb and mlflow.

A Reporter finds such statements in a syntax tree, and hands each of their values through `__flor__.noted(NAME, VALUE)`: the
value goes on as before, and becomes a row where it is a number, an array, or a list or dict of these."""
import ast
import functools

HANDLE = "__flor__"  # the name under which a rewritten module has flor._free

# Values of clocks and of the machine, which differ in each run (docs/semantics.md, rule 18b).
CLOCKS = {"time", "datetime", "psutil", "resource", "uuid", "secrets", "memory_allocated", "max_memory_allocated", "memory_reserved",
          "perf_counter", "monotonic", "now"}
OF_THE_MOMENT = CLOCKS | {"platform", "socket", "getpass", "os"}
_GIVING = {"update", "append", "add", "push", "extend"}  # methods that keep what they are given
_LEVELS = {"debug", "info", "warning", "error", "critical"}
_SCALARS = {"add_scalar", "log_metric"}  # NAME, VALUE
_METRICS = {"log", "log_metrics"}  # {NAME: VALUE}
_TRACKERS = {"wandb", "mlflow", "run", "logger", "tracker"}
# Around a value that is shown: the name of the row is that of the value.
_CONVERSIONS = {"item", "cpu", "detach", "numpy", "tolist", "float", "int", "round"}
_HARMLESS = {"no_grad", "inference_mode", "enable_grad", "staticmethod", "classmethod", "property", "main", "record", "command", "option",
             "argument", "contextmanager", "wraps"}
_LONGEST = 60  # characters of a name
_QUIET = {"sep", "end", "flush"}


def _last(decorator):
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)


def _root(node):
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def kind_of(statement):
    """Returns "print", "logging", "scalar" or "metrics" for a statement that says something and does nothing else, or None."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    function = call.func
    if isinstance(function, ast.Name):
        is_plain = function.id == "print" and all(one.arg in _QUIET and isinstance(one.value, ast.Constant) for one in call.keywords)
        return "print" if is_plain else None
    if not isinstance(function, ast.Attribute) or any(one.arg is None for one in call.keywords):
        return None
    root = _root(function.value).lower()
    if function.attr in _LEVELS and ("log" in root):
        return "logging"
    if function.attr in _SCALARS and len(call.args) >= 2:
        return "scalar"
    if function.attr in _METRICS and root in _TRACKERS and call.args and isinstance(call.args[0], ast.Dict):
        return "metrics"
    if function.attr == "write" and root == "tqdm" and not call.keywords:
        return "print"
    return None


def name_of(expression):
    """Returns the name of a row: the text of its value, without conversions around it."""
    while True:
        inner = None
        if isinstance(expression, ast.Call) and not expression.keywords:
            function = expression.func
            if isinstance(function, ast.Attribute) and function.attr in _CONVERSIONS and not expression.args:
                inner = function.value
            elif isinstance(function, ast.Name) and function.id in _CONVERSIONS and expression.args:
                inner = expression.args[0]
        if inner is None:
            break
        expression = inner
    text = " ".join(ast.unparse(expression).split())
    return text if len(text) <= _LONGEST else text[:_LONGEST - 1] + "…"


def moments_in(nodes):
    """Returns the names of all variables that may hold a clock's value, in whatever place: those bound from one, and those of
    objects that were given one, as by `meter.update(time.time() - start)`. `nodes`: all of a tree."""
    return names_given(nodes, CLOCKS)


def names_given(nodes, words, is_given=None):
    """As moments_in(), of values that come from what has one of these words for its name. `is_given`: as is_of()."""
    is_given = is_given or is_of
    found, imported = set(words), {"self", "cls"}
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imported.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
    pairs = [pair for node in nodes for pair in (*bindings_of(node), *_givings(node, imported))]
    while True:
        before = len(found)
        for target, value in pairs:
            if is_given(value, found):
                found.update(_bound(target))
        if len(found) == before:
            return found


def bindings_of(node):
    """Yields (target, value) of a statement that binds; of `a, b = x, y` each for itself."""
    if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) or node.value is None:
        return
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        both = (target, node.value)
        if all(isinstance(one, (ast.Tuple, ast.List)) for one in both) and len(target.elts) == len(node.value.elts):
            yield from zip(target.elts, node.value.elts)
        else:
            yield both


def _givings(node, others):
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr not in _GIVING:
        return
    if isinstance(call.func.value, ast.Name) and call.func.value.id in others:
        return
    for value in [*call.args, *(keyword.value for keyword in call.keywords)]:
        yield call.func.value, value


def is_of(node, names):
    return any((isinstance(part, ast.Name) and part.id in names) or (isinstance(part, ast.Attribute) and part.attr in names)
               for part in ast.walk(node))


def _bound(target):
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute):
        yield target.attr
    elif isinstance(target, ast.Starred):
        yield from _bound(target.value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _bound(part)


class Reporter(ast.NodeTransformer):
    """Rewrites a tree in place. `nodes`: all of the tree, as they were. `is_any`: it found a value."""

    def __init__(self, nodes):
        self._nodes = nodes
        self.is_any = False

    @functools.cached_property
    def _moments(self):
        return moments_in(self._nodes) | OF_THE_MOMENT

    def visit_FunctionDef(self, node):
        # Of a decorator's function the code may go elsewhere: to a compiler, or to another machine.
        return self.generic_visit(node) if all(_last(one) in _HARMLESS for one in node.decorator_list) else node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Expr(self, node):
        kind = kind_of(node)
        if kind in ("print", "logging"):
            node.value.args = [self._shown(argument) for argument in node.value.args]
        elif kind == "scalar":
            tag, value = node.value.args[:2]
            node.value.args[1] = self._noted(value, _text_of(tag))
        elif kind == "metrics":
            metrics = node.value.args[0]
            metrics.values = [value if key is None else self._noted(value, _text_of(key))
                              for key, value in zip(metrics.keys, metrics.values)]
        else:
            self.generic_visit(node)
        return node

    def _shown(self, argument):
        if isinstance(argument, ast.JoinedStr):
            for part in argument.values:
                if isinstance(part, ast.FormattedValue):
                    part.value = self._noted(part.value)
            return argument
        if isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Mod) and _is_text(argument.left):
            values = argument.right
            if isinstance(values, ast.Tuple):
                values.elts = [self._noted(value) for value in values.elts]
            elif not isinstance(values, ast.Dict):
                argument.right = self._noted(values)
            return argument
        call = argument
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "format" and _is_text(call.func.value):
            call.args = [self._noted(value) for value in call.args]
            for keyword in call.keywords:
                keyword.value = self._noted(keyword.value)
            return call
        return self._noted(argument)

    def _noted(self, value, name=None):
        if isinstance(value, (ast.Constant, ast.Starred)) or _is_text(value):
            return value
        self.is_any = True
        words = [ast.Constant(name or name_of(value)), value]
        if is_of(value, self._moments):
            words.append(ast.Constant(True))
        call = ast.Call(ast.Attribute(ast.Name(HANDLE, ast.Load()), "noted", ast.Load()), words, [])
        for node in (call, call.func, call.func.value, *words):
            if node is not value:
                ast.copy_location(node, value)
        return call


def _is_text(node):
    return isinstance(node, ast.JoinedStr) or isinstance(node, ast.Constant) and isinstance(node.value, str)


def _text_of(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return name_of(node)
