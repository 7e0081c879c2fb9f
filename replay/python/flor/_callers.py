"""Who may call a function of a program, by the names in its text."""
import ast

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def callers_of(programs, name):
    """Returns the names of all functions, classes and variables through which a function may be called."""
    names, nodes = {name}, [node for program in programs for node in ast.walk(program.tree)]
    while True:
        found = {one for node in nodes for one in _users(node, names)}
        if found <= names:
            return names
        names |= found


def is_called_plainly(programs, name):
    """Is a function called by its name wherever it is named? Not if it is decorated, handed on or called by Python."""
    if name == "forward" or name.startswith("__"):
        return False
    nodes = [(program, node) for program in programs for node in ast.walk(program.tree)]
    functions = [node for _, node in nodes if isinstance(node, _FUNCTIONS) and node.name == name]
    calls = [(program.parents.get(node), node) for program, node in nodes if mentions_itself(node, {name})]
    is_called = bool(calls) and all(isinstance(call, ast.Call) and call.func is node for call, node in calls)
    return not functions or (is_called and not any(function.decorator_list for function in functions))


def mentions(nodes, names):
    """Has one of these nodes, or a part of it, one of these names?"""
    return any(mentions_itself(node, names) for root in nodes for node in ast.walk(root))


def mentions_itself(node, names):
    """As mentions(), without the parts."""
    return (isinstance(node, ast.Name) and node.id in names) or (isinstance(node, ast.Attribute) and node.attr in names)


def _users(node, names):
    """Yields the names of a definition or an assignment that mentions one of these."""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and mentions(node.body, names):
        yield node.name
    elif isinstance(node, ast.Assign) and mentions([node.value], names):
        for target in node.targets:
            yield from (part.id if isinstance(part, ast.Name) else part.attr for part in ast.walk(target)
                        if isinstance(part, (ast.Name, ast.Attribute)))
