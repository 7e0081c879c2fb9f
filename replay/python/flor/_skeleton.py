"""A program without its log statements, so that two versions of it can be compared."""
import ast
import copy
import pathlib

from ._holders import path_of
from ._new_code import bound_by_import, imported_roots, is_harmless_import, only_computes
from ._reports import kind_of

BINDING = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


class Skeleton(ast.NodeTransformer):
    """`tree`: a program without its log statements and without what only computes their values: assignments of names that
    the program did not have, conditions and torch.no_grad() around nothing else, and new functions and imports. `computations`: the expressions
    of these, and the functions.
    Without `known`, Names, keeps all assignments."""

    def __init__(self, program, known=None):
        self._program, self._known = program, known
        self.computations = []
        self.bound = set()  # new names
        self.removed = set()  # places of statements that are left out
        self._classes, self._function = 0, ()
        self.tree = self.visit(copy.deepcopy(program.tree))

    def generic_visit(self, node):
        super().generic_visit(node)
        if isinstance(node, (ast.stmt, ast.ExceptHandler)) and getattr(node, "body", None) == []:
            node.body = [ast.Pass()]
        return node

    def visit_Expr(self, node):
        is_log = self._program.called(node.value) == "log" or (self._program.is_rewritten and kind_of(node) is not None)
        return self._without(node) if is_log and not any(isinstance(part, BINDING) for part in ast.walk(node)) else node

    def visit_Import(self, node):
        is_of_flor = isinstance(node, ast.Import) and [(alias.name, alias.asname) for alias in node.names] == [("flor", None)]
        is_new = self._known is not None and self._are_new(bound_by_import(node)) and is_harmless_import(node, self._known.packages)
        return self._without(node) if is_of_flor or is_new else node

    visit_ImportFrom = visit_Import

    def visit_For(self, node):
        """A new loop over what a module or a dict has, with log statements alone."""
        self.generic_visit(node)
        targets = {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
        if not self._are_new(targets) or node.orelse or not _is_empty(node.body) or not _is_listing(node.iter):
            return node
        self.computations.append(node.iter)
        return self._without(node)

    def visit_AugAssign(self, node):
        if not isinstance(node.target, ast.Name) or not self._are_new({node.target.id}) or any(isinstance(part, BINDING) for part in ast.walk(node.value)):
            return node
        self.computations.append(node.value)
        return self._without(node)

    def _without(self, node):
        self.removed.add((node.lineno, node.col_offset))

    def visit_ClassDef(self, node):
        self._classes += 1  # an attribute of a class may hide one of its base
        try:
            return self.generic_visit(node)
        finally:
            self._classes -= 1

    def visit_FunctionDef(self, node):
        if self._are_new({node.name}) and only_computes(node):
            self.computations.append(node)
            return self._without(node)
        before = self._classes, self._function
        self._classes, self._function = 0, (*self._function, node.name)
        try:
            return self.generic_visit(node)
        finally:
            self._classes, self._function = before

    visit_AsyncFunctionDef = visit_FunctionDef

    def _are_new(self, names):
        return self._known is not None and not self._classes and self._known.are_new(names, self._function)

    def visit_Assign(self, node):
        if not all(isinstance(target, ast.Name) for target in node.targets) or not self._are_new({target.id for target in node.targets}):
            return node
        if any(isinstance(part, BINDING) for part in ast.walk(node.value)):
            return node
        self.computations.append(node.value)
        self.bound.update(target.id for target in node.targets)
        return self._without(node)

    def visit_If(self, node):
        self.generic_visit(node)
        if not _is_empty(node.body) or not _is_empty(node.orelse):
            return node
        if any(isinstance(part, BINDING) for part in ast.walk(node.test)):
            return node
        self.computations.append(node.test)
        return self._without(node)

    def visit_With(self, node):
        self.generic_visit(node)
        is_quiet = all(isinstance(item.context_expr, ast.Call) and item.optional_vars is None and
                       (path_of(item.context_expr.func) or "").split(".")[-1] in ("no_grad", "inference_mode")
                       for item in node.items)
        return self._without(node) if is_quiet and _is_empty(node.body) else node


_LISTING = {"named_parameters", "parameters", "named_buffers", "buffers", "named_modules", "modules", "named_children", "children",
            "items", "keys", "values", "enumerate", "zip", "range", "sorted", "list", "len"}


def _is_listing(node):
    """Does an expression only list what an object has, so that to iterate over it changes nothing?"""
    calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
    return bool(calls) and all((part.func.attr if isinstance(part.func, ast.Attribute) else getattr(part.func, "id", None)) in _LISTING
                               for part in calls)


def _is_empty(body):
    return all(isinstance(statement, ast.Pass) for statement in body)


class Names:
    """The names that programs have. A variable of another name is read by nothing that was there."""

    _FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

    def __init__(self, programs):
        self._everywhere, self._of = set(), {}
        folders = {part for program in programs for part in pathlib.Path(program.path).parent.parts}
        self.packages = set()  # that the program imports already; of its own without those that are folders: another file there may do anything
        for program in programs:
            self.packages |= {root for node in ast.walk(program.tree) if isinstance(node, (ast.Import, ast.ImportFrom)) for root in imported_roots(node)
                              if root is not None and root not in folders}
            self._everywhere |= _names_below(program.tree)
            for node in ast.walk(program.tree):
                if isinstance(node, self._FUNCTIONS):
                    path = tuple(reversed([outer.name for outer in [node, *program.around(node)] if isinstance(outer, self._FUNCTIONS)]))
                    self._of.setdefault(path, set()).update(_names_below(node))

    def are_new(self, names, function):
        """`function`: the names of the functions around, the outermost first. A new variable of one is its own alone."""
        known = self._of.get(function, self._everywhere) if function else self._everywhere
        return not names & known and "*" not in known


def _names_below(tree):
    names = set()
    for node in ast.walk(tree):
        for field in ("id", "arg", "name", "attr", "asname"):
            value = getattr(node, field, None)
            names.update([value] if isinstance(value, str) else [])
        if isinstance(node, ast.Name) and node.id in ("locals", "vars", "eval", "exec"):
            names.add("*")  # they read variables by no name
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            names.update(node.names)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)  # of getattr()
    return names


def added(recorded, present, removed_then, removed_now, is_changed=False):
    """Returns the log statements of the present program that the recorded one does not have in the same place. `is_changed`: other code is not
    the same, so that statements may have moved; those that are left then belong together in the order in which they stand."""
    known = [_identity(recorded, log, removed_then) for log in recorded.logs]
    added = _left(present.logs, known, lambda log: _identity(present, log, removed_now))
    if is_changed:
        known = list(map(_without_counts, known))
        added = _left(added, known, lambda log: _without_counts(_identity(present, log, removed_now)))
    return added


def _left(logs, known, identity_of):
    """Returns the logs whose identities are not among those known. Takes the others out of these."""
    left = []
    for log in logs:
        identity = identity_of(log)
        if identity in known:
            known.remove(identity)
        else:
            left.append(log)
    return left


def _without_counts(identity):
    return [part if isinstance(part, str) else part[0] for part in identity]


def _identity(program, log, removed):
    """A log statement; the functions, loops, blocks and conditions around it; and in each of them the branch, and how many
    statements stand in front that are not left out."""
    out = [ast.dump(log)]
    inner = log
    for node in program.around(log):
        for field in ("body", "orelse", "finalbody", "handlers"):
            body = getattr(node, field, None)
            if isinstance(body, list) and inner in body:
                before = body[:body.index(inner)]
                out.append((field, sum((one.lineno, one.col_offset) not in removed for one in before)))
        inner = node
        if isinstance(node, (ast.If, ast.While)):
            out.append(ast.dump(node.test))
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            out.append(ast.dump(node.iter))
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            out.extend(ast.dump(item.context_expr) for item in node.items)
        elif hasattr(node, "name"):
            out.append(str(node.name))
    return out


def first_difference(old, new):
    """Returns the innermost statement or expression of `new` where the trees begin to differ."""
    for field in new._fields:
        before, after = getattr(old, field, None), getattr(new, field, None)
        before, after = (one if isinstance(one, list) else [one] for one in (before, after))
        for one, other in zip(before, after):
            if isinstance(one, ast.AST) and isinstance(other, ast.AST) and ast.dump(one) != ast.dump(other):
                inner = first_difference(one, other) if type(one) is type(other) else other
                return next((node for node in (inner, other, new) if hasattr(node, "lineno")), new)
        if len(before) != len(after):
            longer = after[len(before):] or after[-1:]
            return next((node for node in [*longer, new] if hasattr(node, "lineno")), new)
    return new


def name_anew(recorded, present):
    """Gives log statements that the recorded program does not have another name, where it has that name as well: it comes
    from what is shown, and the recorded rows of that name are to be found again."""
    taken = {_name_of(log) for log in recorded.logs}
    old, new = Skeleton(recorded), Skeleton(present, Names([recorded]))
    is_changed = ast.dump(old.tree) != ast.dump(new.tree)
    for log in added(recorded, present, old.removed, new.removed, is_changed):
        if _name_of(log) in taken and present.called(log) == "noted":
            log.args[0].value += " (new)"


def _name_of(log):
    first = log.args[0] if log.args else None
    return first.value if isinstance(first, ast.Constant) else None
