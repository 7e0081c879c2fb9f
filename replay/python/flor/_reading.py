"""Where a text reads or clears gradients."""
import ast

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_HIDING = {ast.ImportFrom, ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.Name, ast.Attribute}
_PLAIN_DECORATORS = {"no_grad", "enable_grad", "inference_mode", "autocast", "staticmethod", "classmethod", "override"}
_WORDS = {"grad", "backward", "step", "unscale_"}
_MODES = {"train", "eval", "step"}  # methods of modules and optimizers, as a rule


def is_executed_by_a_call(function):
    """Does a call surely execute it, at once? A decorator may do otherwise."""
    names = {getattr(one.func if isinstance(one, ast.Call) else one, "attr", getattr(one.func if isinstance(one, ast.Call) else one, "id", None))
             for one in function.decorator_list}
    return isinstance(function, ast.FunctionDef) and names <= _PLAIN_DECORATORS and not any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in ast.walk(function))


def is_clipping(name):
    return name is not None and name.startswith("clip_grad")


def grads_read_in(file, node):
    """Returns the parts of a statement or expression that compute with gradients, other than to clear them or to see whether there are any."""
    nodes, left_out, found = file.nodes_in(node), set(), []
    for part in nodes:
        if isinstance(part, ast.Attribute) and part.attr in ("zero_", "detach_", "requires_grad_"):
            is_data = isinstance(part.value, ast.Attribute) and part.value.attr == "data"
            left_out.add(part.value.value if is_data else part.value)
        elif isinstance(part, ast.Compare) and any(isinstance(one, ast.Constant) and one.value is None for one in part.comparators):
            left_out.add(part.left)
        elif isinstance(part, ast.Call):
            left_out.add(part.func)  # autograd.grad()
            found += [part] if is_getting(part) else []
    return found + [part for part in nodes if is_gradient(part) and isinstance(part.ctx, ast.Load) and part not in left_out]


def is_getting(call, or_perhaps=True):
    """Does it read an attribute whose name is "grad", or perhaps is?"""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
    words = {"getattr": call.args[1:2], "attrgetter": call.args}.get(name, ())
    return any("grad" in str(word.value).split(".") if isinstance(word, ast.Constant) else or_perhaps for word in words)


def working_in(project):
    """Returns the names of functions that do something with gradients, themselves or by functions that they call."""
    functions = [(owner, function) for named in (project.functions, project.methods) for pairs in named.values() for owner, function in pairs]
    naming = {file for file in project.files.values() if any(map(_names_gradients, file.nodes_in(file.tree)))}
    todo = [function.name for owner, function in functions if owner in naming and _works_with_gradients(owner, function)]
    working, callers = set(), {}
    for owner, function in functions if todo else ():
        for call in owner.calls_in(function):
            callers.setdefault(getattr(call.func, "attr", getattr(call.func, "id", None)), set()).add(function.name)
    while todo:
        name = todo.pop()
        if name not in working:
            working.add(name)
            todo += callers.get(name, ()) if name not in _MODES else ()
    return working


def _names_gradients(node):
    kind = type(node)
    if kind is ast.Constant:
        return isinstance(node.value, str) and "grad" in node.value
    return kind is ast.Attribute and (node.attr in _WORDS or is_clipping(node.attr)) or kind is ast.Name and is_clipping(node.id)


def hiding_in(file, working):
    """Returns what of a file does something with gradients and no text calls by its name: a lambda, a property, a method that Python calls,
    a function or a method that is a value. By the names of functions; None: it does so whatever these do. `working`: names of functions that
    do something with them."""
    return {name for node in file.nodes_in(file.tree) if type(node) in _HIDING for name in _hiding_by(file, node, working)}


def _hiding_by(file, node, working):
    if isinstance(node, ast.ImportFrom):
        return [alias.name for alias in node.names if alias.asname not in (None, alias.name) and alias.name in working]
    if isinstance(node, ast.Lambda):
        return [None] if _works_with_gradients(file, node) and not _is_given_to_step(file, node) else []
    if isinstance(node, _FUNCTIONS):
        return [node.name] if node.name in working and _is_called_unseen(file, node) else []
    if isinstance(node.ctx, ast.Load) and _is_value(file, node, working):
        word = node.id if isinstance(node, ast.Name) else node.attr
        return [word if word in working and not _is_value(file, node, working - {word}) else None]
    return []


def _is_called_unseen(file, function):
    is_pythons = function.name.startswith("__") and function.name != "__init__"
    names = {getattr(one, "attr", getattr(one, "id", None)) for one in function.decorator_list}
    return file.is_method(function) and (is_pythons or bool(names & {"property", "cached_property"}))


def _is_value(file, node, working):
    word = node.id if isinstance(node, ast.Name) else node.attr
    if word not in working and word not in _WORDS and not is_clipping(word):
        return False
    around = file.parents[node]
    if isinstance(around, ast.Call) and around.func is node or _is_given_to_step(file, node):
        return False
    if isinstance(node, ast.Name):
        return node.id in working
    if node.attr == "step":
        return "opt" in ast.unparse(node.value).lower() and not isinstance(around, ast.Attribute)
    return node.attr in ("backward", "unscale_") or is_clipping(node.attr) or node.attr in working and getattr(node.value, "id", None) == "self"


def _is_given_to_step(file, node):
    call = file.parents[node]
    call = file.parents[call] if isinstance(call, ast.keyword) else call
    return isinstance(call, ast.Call) and node is not call.func and isinstance(call.func, ast.Attribute) and call.func.attr == "step"


def _works_with_gradients(file, node):
    names = [call.func.attr for call in file.calls_in(node) if isinstance(call.func, ast.Attribute)] + \
        [call.func.id for call in file.calls_in(node) if isinstance(call.func, ast.Name)]
    calls = [call for call in file.calls_in(node) if isinstance(call.func, ast.Attribute) and call.func.attr == "step"]
    read = [one for one in grads_read_in(file, node) if not isinstance(one, ast.Call) or is_getting(one, False)]
    return any(name in ("backward", "unscale_") or is_clipping(name) for name in names) or bool(read) or \
        any("opt" in ast.unparse(call.func.value).lower() for call in calls)


def clears_of(node):
    """Returns the module whose gradients a loop over its parameters clears, as `for p in net.parameters(): p.grad = None`, or None."""
    if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call) or not isinstance(node.iter.func, ast.Attribute) or \
            node.iter.func.attr not in ("parameters", "named_parameters") or node.iter.args or node.iter.keywords:
        return None
    name = node.target.elts[-1] if isinstance(node.target, ast.Tuple) else node.target
    body = [*node.body, *(part for one in node.body if isinstance(one, ast.If) and _asks_for_gradient(one.test) for part in one.body)]
    is_left = any(isinstance(part, (ast.Continue, ast.Break, ast.Return)) for part in ast.walk(node))
    is_cleared = isinstance(name, ast.Name) and not is_left and any(_clears(one, name.id) for one in body)
    return node.iter.func.value if is_cleared else None


def _clears(statement, name):
    """Is it `NAME.grad = None` or `NAME.grad.zero_()`?"""
    if isinstance(statement, ast.Assign):
        value = statement.value
        return isinstance(value, ast.Constant) and value.value is None and any(is_gradient(one, name) for one in statement.targets)
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "zero_" and is_gradient(call.func.value, name)


def _asks_for_gradient(test):
    """Is it `p.grad is not None`, or `p.grad` alone?"""
    return is_gradient(test.left if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot) else test)


def is_gradient(node, name=None):
    return isinstance(node, ast.Attribute) and node.attr == "grad" and (name is None or isinstance(node.value, ast.Name) and node.value.id == name)
