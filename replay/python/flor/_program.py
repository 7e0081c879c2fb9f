"""A Python source as Flor's analysis sees it: its loops, blocks, guards and log statements, and which names it binds,
changes and reads where. Reads the syntax tree alone; runs nothing."""
import ast
import functools
import os

from ._holders import Holder, SlotHolder, clean, path_of
from ._reports import CLOCKS, HANDLE, moments_in

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

LEFT = "@left"  # stands for a path in the record: the block may be left in its middle

# Methods that change the object that they are called on. What ends in `_` does so in torch.
MUTATORS = {"add", "append", "appendleft", "clear", "discard", "extend", "insert", "load_state_dict", "pop", "popitem",
            "popleft", "remove", "reverse", "setdefault", "sort", "step", "update", "zero_grad"}
# Of those, what only adds to a collection. As a statement of its own it reads nothing of what was there.
_ADDING = {"add", "append", "appendleft", "discard", "extend", "insert", "remove", "setdefault", "update"}


def _is_of_handle(call):
    return isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == HANDLE


def _literal(nodes):
    first = nodes[0] if nodes else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


class Program:
    """One source file: its text, or the tree of a rewritten one. Raises SyntaxError where Python cannot read it."""

    def __init__(self, path, text, tree=None):
        self.path = path
        self.tree = ast.parse(text, path) if tree is None else tree
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self._modules, self._names = self._imported()
        self.blocks, self.guards, self.loops, self.logs = [], [], [], []
        self.unclear = []  # uses of flor's functions in other forms than the documented ones
        for node in ast.walk(self.tree):
            self._note(node)
        self.is_rewritten = HANDLE in self._modules
        self.outermost = None  # the names of the loops that no other ran around when they were recorded; None where that is not known
        self._moments = None

    @functools.cached_property
    def methods(self):
        """Names of functions of its classes, properties too."""
        return {one.name for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef) for one in node.body
                if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))}

    def _imported(self):
        """Names of the module flor, and of what was imported from it."""
        modules, names = set(), {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                modules.update(alias.asname or alias.name for alias in node.names
                               if alias.name in ("flor", "flor._free"))
            elif isinstance(node, ast.ImportFrom) and node.module == "flor":
                names.update({alias.asname or alias.name: alias.name for alias in node.names})
        if "*" in names:
            names.update({name: name for name in ("arg", "checkpointing", "log", "loop", "skip_block")})
        return modules, names

    def called(self, node):
        """Returns the name of a function of flor's that an expression calls, or None."""
        if not isinstance(node, ast.Call):
            return None
        function = node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            return function.attr if function.value.id in self._modules else None
        return self._names.get(function.id) if isinstance(function, ast.Name) else None

    def _note(self, node):
        if isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                called = self.called(item.context_expr)
                if called == "skip_block":
                    first = item.context_expr.args[:1]
                    self.blocks.append(SlotHolder(node, clean(_literal(first))) if _is_of_handle(item.context_expr) else
                                       Holder(node, item.context_expr, _literal(first), item.context_expr.args[1:]))
                elif called == "checkpointing":
                    self.guards.append(Holder(node, item.context_expr, None, item.context_expr.args))
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            called = {self.called(part) for part in ast.walk(node.iter)}
            if called & {"loop", "main_loop"}:
                self.loops.append(node)
            if "main_loop" in called:
                self.guards.append(SlotHolder(node, self._loop_name(node)))
        elif self.called(node) in ("log", "noted"):
            self.logs.append(node)
        elif self.called(node) == "loop" and not self._is_iterated(node):
            self.unclear.append(node)
        elif self.called(node) in ("skip_block", "checkpointing") and not isinstance(self.parents.get(node), ast.withitem):
            self.unclear.append(node)

    def _loop_name(self, loop):
        """Returns "@FILE.FUNCTION.VARIABLE", which no block is called."""
        words = [os.path.splitext(os.path.basename(self.path))[0], getattr(self.scope_of(loop), "name", ""), _literal(loop.iter.args) or ""]
        name = "@" + ".".join(words)
        taken = {guard.name for guard in self.guards}
        return next(one for one in [name, *(f"{name}.{count}" for count in range(2, 1000))] if one not in taken)

    def moments(self):
        """Returns the names of variables and members that may hold a clock's value."""
        if self._moments is None:
            self._moments = moments_in(list(ast.walk(self.tree))) - CLOCKS
        return self._moments

    def calls(self):
        return [node for node in self.parents if isinstance(node, ast.Call)]

    def guard_of(self, loop):
        return next(guard for guard in self.guards if guard.node is loop)

    def _is_iterated(self, call):
        """Does the call stand in the head of a `for` statement?"""
        node = call
        for outer in self.around(call):
            if isinstance(outer, (ast.For, ast.AsyncFor)):
                return node is outer.iter
            if isinstance(outer, ast.stmt) or isinstance(outer, (*COMPREHENSIONS, ast.Lambda)):
                return False
            node = outer
        return False

    def around(self, node):
        """Yields the nodes around this one, the innermost first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def handles(self):
        return {name for holder in [*self.blocks, *self.guards] for name in holder.handles()}

    def original(self, node):
        """Returns the node of the tree that a copy of it stands for."""
        if node in self.parents:
            return node
        return next((one for one in self.parents if type(one) is type(node) and getattr(one, "lineno", 0) == node.lineno
                     and one.col_offset == node.col_offset), node)

    def is_inside(self, node, outer):
        return any(one is outer for one in self.around(node))

    def block_of(self, node):
        """Returns the innermost block around a node."""
        for outer in self.around(node):
            for block in self.blocks:
                if block.node is outer:
                    return block
        return None

    def scope_of(self, node):
        """Returns the function around a node, or the module. A class does not count."""
        for outer in self.around(node):
            if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                return outer
        return self.tree

    def loop_of(self, node):
        """Returns the innermost loop around a node, or None."""
        return next((outer for outer in self.around(node) if isinstance(outer, (ast.For, ast.AsyncFor, ast.While))), None)

    def main_loops(self):
        """Returns the loops of flor's that lie in no other one of the same function, and bear the name of an outermost one where those are
        known: a function that has a loop may be called in another loop. Of a rewritten program, its main loops."""
        if self.is_rewritten:
            return [guard.node for guard in self.guards if isinstance(guard, SlotHolder)]
        return [loop for loop in self.loops if self.may_be(loop, self.outermost)
                and not any(other is not loop and self.is_inside(loop, other) for other in self.loops)]

    def may_be(self, loop, names):
        """May a loop bear one of these names? None: any."""
        name = next((_literal(part.args) for part in ast.walk(loop.iter) if self.called(part) == "loop"), None)
        return names is None or name is None or name in names or clean(name) in names


def program_of(file):
    """Returns the program that a file of this process is, as it is executed, or None. Reads each file once."""
    if file not in _programs:
        try:
            if file in rewritten_trees:
                _programs[file] = Program(file, "", rewritten_trees[file])
            else:
                with open(file, encoding="utf-8") as source:
                    _programs[file] = Program(file, source.read())
        except (OSError, SyntaxError, ValueError, RecursionError):
            _programs[file] = None
    return _programs[file]


_programs = {}
rewritten_trees = {}  # by the names of their files, as they were compiled


def bound_in(nodes):
    """Yields (name, node) for each name that statements bind, nested functions left out. `x += 1` counts as a change: what
    a block can hold, it changes in place."""
    changed = {id(node.target) for node in _walk(nodes) if isinstance(node, ast.AugAssign)}
    for node in _walk(nodes):
        if id(node) in changed:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield node.id, node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node
        elif type(node).__name__ in ("ExceptHandler", "MatchAs", "MatchStar") and node.name:
            yield node.name, node
        elif type(node).__name__ == "MatchMapping" and node.rest:
            yield node.rest, node
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield (alias.asname or alias.name).split(".")[0], node


def changed_in(nodes):
    """Yields (path, node, is_bound) for each object that statements change in place, as far as the statement shows it, and
    each member that they bind."""
    for node in _walk(nodes):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            if path_of(node):
                yield path_of(node), node, isinstance(node, ast.Attribute)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node, False
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and path_of(node.func.value):
            name = node.func.attr
            if name in MUTATORS or (name.endswith("_") and not name.startswith("__")):
                yield path_of(node.func.value), node, False


def _walk(nodes):
    """As ast.walk(), without the bodies of nested functions."""
    todo = list(nodes)
    while todo:
        node = todo.pop(0)
        yield node
        if not isinstance(node, _SCOPES) or isinstance(node, ast.ClassDef):
            todo.extend(ast.iter_child_nodes(node))


def reads_in(nodes):
    """Yields (path, node) for each name or member that is read, in nested functions, too. Of a.b.c only the whole; of the call
    a.b.c() the object a.b, all of which the method may read."""
    todo = list(nodes)
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and path_of(node.func.value):
            yield path_of(node.func.value), node.func
            todo.extend([*_indices(node.func), *node.args, *node.keywords])
            continue
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load) and path_of(node):
            yield path_of(node), node
            todo.extend(_indices(node))
            continue
        if isinstance(node, ast.AugAssign) and path_of(node.target):
            yield path_of(node.target), node
        todo.extend(ast.iter_child_nodes(node))


def _indices(node):
    """Yields the indices in a path: i of a[i].b."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript):
            yield node.slice
        node = node.value


def is_adding(program, read):
    """Is it the `x.append` of a statement `x.append(…)`?"""
    call = program.parents.get(read)
    return (isinstance(read, ast.Attribute) and read.attr in _ADDING and isinstance(call, ast.Call) and call.func is read
            and isinstance(program.parents.get(call), ast.Expr))


def is_local_elsewhere(program, read, name, scope):
    """Does a function around the read, inside of `scope`, have a variable of this name for itself?"""
    for outer in program.around(read):
        if outer is scope:
            return False
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
            others = {one for node in ast.walk(outer) if isinstance(node, (ast.Global, ast.Nonlocal)) for one in node.names}
            if name not in others and name in {bound for bound, _ in bound_in(outer.body)} | parameters_of(outer):
                return True
    return False


def parameters_of(function):
    arguments = function.args
    return {one.arg for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg,
                                arguments.kwarg] if one}


def names_in(target):
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def binds(statement, name):
    """Does a simple statement, or the head of a `with`, bind the name without reading it?"""
    if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        stored = {node.id for target in targets for node in ast.walk(target)
                  if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        return name in stored and name not in names_in(statement.value)
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return statement.name == name
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return name in {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return any(item.optional_vars is not None and name in names_in(item.optional_vars) for item in statement.items)
    return False


def leaves(program, block):
    """Returns a statement by which the block may be left in the middle, so that what follows does not execute; or the block
    itself, if its body is not `if NAME.step_into():` alone; else None."""
    body = block.node.body
    if len(body) != 1 or not isinstance(body[0], ast.If) or body[0].orelse or not is_step_into(body[0].test):
        return block.node
    for node in _walk(body):
        if isinstance(node, ast.Return):
            return node
        if isinstance(node, (ast.Break, ast.Continue)) and not _is_in_own_loop(program, node, block.node):
            return node
    return None


def may_be_left(program, loop):
    """Returns a statement by which a main loop may be left early, or None."""
    for node in _walk(loop.body):
        if isinstance(node, (ast.Return, ast.Raise)):
            return node
        if isinstance(node, ast.Break) and not _is_in_own_loop(program, node, loop) and not _is_by_condition(program.parents[node]):
            return node
    return None


def _is_by_condition(outer):
    """Does a rewritten `while` end here because its condition says so?"""
    called = getattr(getattr(outer, "test", None), "operand", None)
    return isinstance(called, ast.Call) and isinstance(called.func, ast.Attribute) and called.func.attr == "goes_on"


def _is_in_own_loop(program, jump, block):
    """Does the loop lie in a block that a `break` or `continue` is of? In the `else` of a loop it is of the next one around that."""
    node = jump
    for outer in program.around(jump):
        if outer is block:
            return False
        if isinstance(outer, (ast.For, ast.AsyncFor, ast.While)) and node not in outer.orelse:
            return True
        node = outer
    return False


def is_step_into(test):
    return isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr == "step_into"
