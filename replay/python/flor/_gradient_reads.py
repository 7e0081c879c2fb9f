"""Where does a text read gradients? Read, not run: what no text shows, the program shows (_gradient_uses.py)."""
import ast

from ._program import reads_in

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def are_read_outside(project, file, loop, blocks):
    """Does the main loop read gradients outside of its blocks, itself or in functions of the project that it calls there? A checkpoint of a
    block that leaves them out would not do."""
    seen, todo = set(blocks), [(file, loop)]
    while todo:
        owner, part = todo.pop()
        for node in _outside(part, seen):
            if _reads(owner, node):
                return True
            for function in project.called(node) if isinstance(node, ast.Call) else ():
                if function not in seen:
                    seen.add(function)
                    todo.append((project.file_of(function), function))
    return False


def _outside(part, left_out):
    todo = [part]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(child for child in ast.iter_child_nodes(node) if child not in left_out)


class GradientReads:
    """Of programs, by what their texts show."""

    def __init__(self, programs):
        functions = [(program, node) for program in programs for node in ast.walk(program.tree) if isinstance(node, _FUNCTIONS)]
        self._names = set()  # of functions that read gradients, themselves or by others of these
        while True:
            found = {function.name for program, function in functions if self._reads_in(program, function)}
            if found <= self._names:
                return
            self._names |= found

    def any_in(self, program, node):
        """Does a log statement, or what computes its value, read gradients?"""
        return bool(self._reads_in(program, program.original(node)))

    def paths_in(self, program, node):
        """Returns the paths of what it reads gradients of. A variable of a comprehension stands for what that goes over."""
        node = program.original(node)
        over = {name.id: one.iter for one in ast.walk(node) if isinstance(one, ast.comprehension) for name in ast.walk(one.target)
                if isinstance(name, ast.Name)}
        imported = {(alias.asname or alias.name).split(".")[0] for one in ast.walk(program.tree) if isinstance(one, (ast.Import, ast.ImportFrom))
                    for alias in one.names}
        paths, todo = set(), [value for one in self._reads_in(program, node) for value in _read_of(one)]
        for value in todo:
            for path, read in reads_in([value]):
                if path in over:
                    todo.append(over.pop(path))
                elif path.split(".")[0] not in imported and not (isinstance(read, ast.Name) and _is_called(program, read)):
                    paths.add(path)
        return paths

    def _reads_in(self, program, node):
        return [one for one in ast.walk(node) if _reads(program, one) or isinstance(one, ast.Call) and _last(one.func) in self._names]


def _reads(owner, node):
    """Is it `.grad`, other than of `autograd.grad()`, or a call that names it as a text, or of a function that clips gradients?"""
    if isinstance(node, ast.Attribute):
        return node.attr == "grad" and isinstance(node.ctx, ast.Load) and not _is_called(owner, node)
    return isinstance(node, ast.Call) and ((_last(node.func) or "").startswith("clip_grad") or any(
        isinstance(one, ast.Constant) and "grad" in str(one.value).split(".") for one in node.args))


def _read_of(node):
    """Returns the expressions whose gradients are read: the object of `.grad`, the arguments of a function, or the object of a method that has
    none."""
    if isinstance(node, ast.Attribute):
        return [node.value]
    values = [*node.args, *(keyword.value for keyword in node.keywords)] if isinstance(node, ast.Call) else []
    return values or [node.func.value] if isinstance(getattr(node, "func", None), ast.Attribute) else values


def _is_called(owner, node):
    call = owner.parents.get(node)
    return isinstance(call, ast.Call) and call.func is node


def _last(function):
    return getattr(function, "attr", getattr(function, "id", None))
