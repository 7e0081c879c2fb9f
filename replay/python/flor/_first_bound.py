"""Does whatever executes some statements bind a name before it reads it? By the text. A name that is surely bound needs no checkpoint; one
that a loop or `with` binds may keep the value of an earlier iteration, where the loop has no element or the `with` takes an exception back."""
import ast

from ._holders import path_of
from ._program import COMPREHENSIONS, binds, bound_in, is_step_into, names_in, parameters_of

# Whose `with` takes no exception back, by their last words. What is not known might, also what is imported from a module of the program's.
_PASSING_ON = {"no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "set_detect_anomaly", "detect_anomaly", "autocast", "device", "stream",
               "profile", "record_function", "no_sync", "join", "open", "catch_warnings", "fork_rng", "sdp_kernel", "skip_block", "checkpointing",
               "tqdm", "trange", "errstate", "printoptions", "Lock", "TemporaryDirectory", "NamedTemporaryFile", "SummaryWriter", "ZipFile"}
# Packages that these words come from. A name that no line imports is Python's own, or a variable's.
_KNOWN = {"torch", "contextlib", "warnings", "numpy", "tqdm", "threading", "multiprocessing", "tempfile", "zipfile", "gzip", "bz2", "lzma",
          "io", "codecs", "tarfile", "tensorboardX", "accelerate", "lightning", "lightning_fabric", "pytorch_lightning", "deepspeed", "flor"}
_ALIKE = {"enumerate", "reversed", "sorted", "list", "tuple", "iter", "tqdm", "track", "set"}  # as many elements as they are given


def is_first_bound(program, body, name, is_sure=True):
    """A block counts as one that executes: whether what it changes is held, is another question. `is_sure`: or does a loop count as one that
    has an element, and a `with` as one that takes no exception back?"""
    for statement in body:
        if name not in names_in(statement) and not binds(statement, name):
            continue
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            return _is_by_with(program, statement, name, is_sure)
        if binds(statement, name):
            return True
        if isinstance(statement, (ast.For, ast.AsyncFor)):
            return _is_by_loop(program, statement, name, is_sure)
        if isinstance(statement, ast.If):
            if name in names_in(statement.test) or not is_first_bound(program, statement.body, name, is_sure):
                return False
            return is_step_into(statement.test) or is_first_bound(program, statement.orelse, name, is_sure)
        return False
    return False


def _is_by_with(program, statement, name, is_sure):
    passes_on = not is_sure or _is_flors(program, statement)
    for item in statement.items:
        if name in names_in(item.context_expr):
            return False
        if item.optional_vars is not None and name in names_in(item.optional_vars):
            return passes_on or item is statement.items[0]
        passes_on = passes_on or _passes_on(program, item.context_expr)
        if not passes_on:
            return False
        passes_on = not is_sure or _is_flors(program, statement)
    return is_first_bound(program, statement.body, name, is_sure)


def _is_flors(program, statement):
    return any(one.node is statement for one in [*program.blocks, *program.guards])


def _passes_on(program, manager):
    """Does what a `with` is given surely pass an exception on? A name that the file itself defines is another one."""
    path = path_of(manager.func if isinstance(manager, ast.Call) else manager)
    if path is None:
        return False
    words = path.split(".")
    return words[-1] in _PASSING_ON and not _is_defined_here(program, words[-1]) and _origins_of(program, words[0]) <= _KNOWN


def _is_defined_here(program, name):
    return any(isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name for node in ast.walk(program.tree))


def _origins_of(program, name):
    """Returns the packages that a file imports a name from, by their first words; "" for a module beside it."""
    found = set()
    for node in ast.walk(program.tree):
        if isinstance(node, ast.ImportFrom) and any((alias.asname or alias.name) == name for alias in node.names):
            found.add("" if node.level else (node.module or "").split(".")[0])
        elif isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names if (alias.asname or alias.name.split(".")[0]) == name)
    return found


def _is_by_loop(program, loop, name, is_sure):
    if name in names_in(loop.iter):
        return False
    if is_sure and not has_element(program, loop.iter):
        return False
    if name in names_in(loop.target):
        return True
    is_left = any(isinstance(node, (ast.Break, ast.Continue)) for statement in loop.body for node in ast.walk(statement))
    return not (is_sure and is_left) and is_first_bound(program, loop.body, name, is_sure)


def has_element(program, elements):
    """Does what a loop goes over surely have an element?"""
    if isinstance(elements, (ast.List, ast.Tuple, ast.Set)):
        return any(not isinstance(one, ast.Starred) for one in elements.elts)
    if isinstance(elements, ast.Dict):
        return any(key is not None for key in elements.keys)
    if isinstance(elements, ast.Constant):
        return isinstance(elements.value, (str, bytes)) and len(elements.value) > 0
    if not isinstance(elements, ast.Call):
        return False
    if program.called(elements) in ("loop", "main_loop"):
        return len(elements.args) > 1 and has_element(program, elements.args[1])
    word = (path_of(elements.func) or "").split(".")[-1]
    if word in ("range", "trange"):
        bounds = [_number(one) for one in elements.args]
        return 0 < len(bounds) < 4 and None not in bounds and 0 not in bounds[2:] and len(range(*bounds)) > 0
    if word == "zip":
        return bool(elements.args) and all(has_element(program, one) for one in elements.args)
    return word in _ALIKE and bool(elements.args) and has_element(program, elements.args[0])


def _number(node):
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def is_bound_outside(program, loop, name):
    """Does the loop's function bind a name in another place than in the loop: does it have a value of its own where the loop begins?"""
    scope = program.scope_of(loop)
    body = scope.body if isinstance(scope.body, list) else [scope.body]
    is_parameter = isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and name in parameters_of(scope)
    return is_parameter or any(bound == name and node is not loop and not program.is_inside(node, loop) for bound, node in bound_in(body))


def is_bound_near(program, read, name, changer):
    """Is the name that is read bound anew between `changer`, which bound it or changed its object, and this place, whatever
    happens? By a loop or comprehension around it, by a parameter, or by a statement in front of it: behind the changer; or, if
    the read comes first and so is met by the next iteration, in the innermost loop around the changer, or in the changer if
    that is a loop."""
    within = changer if isinstance(changer, (ast.For, ast.AsyncFor)) else program.loop_of(changer)
    is_behind = not program.is_inside(read, changer) and read.lineno > getattr(changer, "end_lineno", changer.lineno)
    node = read
    for outer in program.around(read):
        is_around_both = program.is_inside(changer, outer)
        if isinstance(outer, (ast.For, ast.AsyncFor)) and not is_around_both and node in outer.body:
            if name in names_in(outer.target):
                return True
        if isinstance(outer, COMPREHENSIONS) and any(name in names_in(part.target) for part in outer.generators):
            return True
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and not is_around_both:
            if name in parameters_of(outer):
                return True
        for body in _bodies(outer):
            before = body[:body.index(node)] if node in body else []
            if any(_surely_binds(program, statement, name) and (statement.lineno > changer.lineno or
                                                                        (not is_behind and program.is_inside(statement, within))) for statement in before):
                return True
        node = outer
    return False


def _surely_binds(program, statement, name):
    return binds(statement, name) or is_first_bound(program, [statement], name)


def _bodies(node):
    return [body for field in ("body", "orelse", "finalbody") for body in [getattr(node, field, None)]
            if isinstance(body, list)]
