"""What a question brings beside log statements and variables: imports and functions that change nothing, and code that may leave something to
later iterations, which a replay that begins in the middle would lack."""
import ast
import collections
import sys

from ._holders import path_of

# Beside Python's own and what the program imports already: packages that change nothing that a program computes with.
_OTHERS = {"numpy", "scipy", "pandas", "sklearn", "matplotlib", "torch", "torchvision", "torchmetrics", "einops", "tqdm", "PIL", "flor"}
_OWN = getattr(sys, "stdlib_module_names", ("collections", "copy", "functools", "itertools", "json", "math", "os", "pathlib", "random", "re",
                                             "statistics", "sys", "time"))


def imported_roots(node):
    """Returns the packages that an import statement imports; None of the program's own folder ("." in front)."""
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    return {node.module.partition(".")[0]} if node.module and not node.level else {None}


def bound_by_import(node):
    return {alias.asname or alias.name.partition(".")[0] for alias in node.names}


def is_harmless_import(node, known):
    """`known`: the packages that the program imports already."""
    return all(root in known or root in _OTHERS or root in _OWN for root in imported_roots(node)) and "*" not in bound_by_import(node)


def only_computes(function):
    """Does a function change no more than its own variables, as far as its statements show? What it calls is looked at elsewhere."""
    defaults = [one for one in [*function.args.defaults, *function.args.kw_defaults] if one is not None]
    if function.decorator_list or not all(isinstance(one, ast.Constant) for one in defaults):  # a list there lives as long as the function
        return False
    own = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal, ast.ClassDef, ast.Delete, ast.Yield, ast.YieldFrom, ast.Await)):
            return False
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            return False
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and (path_of(node.value) or "") not in own:
            return False
        if isinstance(node, (ast.Import, ast.ImportFrom)) and not is_harmless_import(node, ()):
            return False
    return True


def lasting(old, new, program, is_harmless):
    """Returns a statement of a skeleton that the recorded one does not have and that may leave something to later iterations; or None.
    `program`: the present one, for the scopes. `is_harmless(call)`: does a call change nothing?"""
    known = collections.Counter(map(ast.dump, _parts_of(old)))
    for part in _parts_of(new):
        name = ast.dump(part)
        if known[name]:
            known[name] -= 1
        elif _may_last(program, part, is_harmless):
            return part
    return None


def _parts_of(tree):
    """Yields the statements that have no others inside, and the expressions in the heads of those that have."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            yield node
        elif isinstance(node, ast.stmt):
            yield from (part for name, part in ast.iter_fields(node) if isinstance(part, ast.expr))
            yield from (item.context_expr for item in getattr(node, "items", ()))


def _may_last(program, part, is_harmless):
    if any(isinstance(node, ast.Call) and not is_harmless(node) for node in ast.walk(part)):
        return True
    stored = [node for node in ast.walk(part) if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))]
    return isinstance(part, (ast.Global, ast.Nonlocal)) or any(not isinstance(node, (ast.Name, ast.Tuple, ast.List, ast.Starred)) or
                                                                _outlives(program, node) for node in stored)


def _outlives(program, node):
    """May what is bound here live longer than an iteration of the main loop? Not so a variable of a function that has no main loop."""
    scope = program.scope_of(program.original(node))
    return scope is program.tree or any(program.scope_of(loop) is scope for loop in program.main_loops())
