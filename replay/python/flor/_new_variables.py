"""Variables that a question brings, and whose objects it may change itself: a replay that begins in the middle would lack that."""
import ast

# Of a tensor's methods and attributes: whose results are numbers, or show no more than values do.
NUMBERS = {"item", "tolist", "numel", "size", "dim", "shape", "dtype", "device"}
OF_VALUES = {"sum", "mean", "norm", "abs", "max", "min", "std", "var", "argmax", "argmin", "median", "prod", "any", "all", "isnan", "isfinite", "detach"}
_CHANGE_NOTHING = NUMBERS | OF_VALUES | {"clone", "cpu", "numpy", "float", "double", "flatten", "reshape", "view", "state_dict", "items", "keys",
                                         "values", "copy", "named_parameters", "parameters", "t", "squeeze", "unsqueeze", "to", "get", "index", "count",
                                         "sub", "mul", "div", "dot", "matmul", "mm", "pow", "square", "sqrt", "exp", "sign", "eq", "ne", "gt", "lt", "ge",
                                         "le", "equal", "allclose", "isclose", "clamp", "clip", "diff", "topk", "unique", "ravel", "astype", "transpose",
                                         "permute", "join", "format", "split", "strip", "startswith", "endswith"}


def passed_by_steps(program, names):
    """Returns one of the names that is bound outside of a block and read inside of one, where it may change; None if there is none."""
    nodes = [(node, program.block_of(node) is not None) for node in _named(program, names)]
    outside = {node.id for node, is_inside in nodes if isinstance(node.ctx, ast.Store) and not is_inside}
    return next((node.id for node, is_inside in nodes if is_inside and node.id in outside), None)


def passed_by_iterations(program, names, programs):
    """Returns one of the names that is bound in no main loop, and handed in one to a function of the programs', or whose method is called there
    that may change it; None if there is none."""
    own = {node.name for one in programs for node in ast.walk(one.tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}
    main_loops, nodes = program.main_loops(), list(_named(program, names))
    bound = {node.id: program.scope_of(node) for node in nodes if isinstance(node.ctx, ast.Store) and not _is_in(program, node, main_loops)}
    return next((node.id for node in nodes if node.id in bound and isinstance(node.ctx, ast.Load) and _may_change(program, node, own) and
                 (program.scope_of(node) is not bound[node.id] or _is_in(program, node, main_loops))), None)


def _named(program, names):
    return [node for node in ast.walk(program.tree) if isinstance(node, ast.Name) and node.id in names]


def _is_in(program, node, loops):
    return any(program.is_inside(node, loop) for loop in loops)


def _may_change(program, node, own):
    outer = program.parents.get(node)
    while isinstance(outer, (ast.Starred, ast.List, ast.Tuple, ast.keyword)):
        outer = program.parents.get(outer)
    if isinstance(outer, ast.Attribute):
        call = program.parents.get(outer)
        return isinstance(call, ast.Call) and call.func is outer and outer.attr not in _CHANGE_NOTHING
    if not isinstance(outer, ast.Call) or outer.func is node:
        return isinstance(outer, ast.Call)  # an object that is called
    called = outer.func.attr if isinstance(outer.func, ast.Attribute) else getattr(outer.func, "id", None)
    return called in own
