"""Rewrites a program that names nothing of Flor's: its training loops become flor.loop, the innermost of them blocks, and
what it prints becomes rows.

    for epoch in range(9):                      for epoch in __flor__.main_loop("epoch", range(9)):
        for x, y in loader:                         with __flor__.skip_block("x") as __flor_block__:
            …                           →               if __flor_block__.step_into():
                                                            for x, y in __flor__.loop("x", loader):
                                                                …

The main loop is the outermost one that trains in a function that no loop calls. A `while` becomes a `for`:

    while step < 100:                           for __flor_loop__ in __flor__.main_loop("iteration", __flor__.Conditions()):
        …                                  →        if not __flor_loop__.goes_on(step < 100): break
                                                    …

Every other statement, and each function without a training loop or a row, stays what it was, at the same lines."""
import ast
import itertools
import os

from ._conditions import ChangingConditions
from ._gradient_reads import are_read_outside
from ._read_back import loads_elsewhere, reads_back
from ._reports import HANDLE, Reporter, kind_of

BLOCK, LOOP = "__flor_block__", "__flor_loop__"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Plan:
    """What becomes of the loops of one file. `main`, `loops`, `blocks`: loops, of which the first two are disjoint, and only those of
    `main` may be `while` statements; `names`: of blocks; `marks`: of main loops, the words of main_loop() that are true. `taken`: the
    names of all blocks by now."""

    def __init__(self, project, file, taken):
        self._project, self._file, self._taken = project, file, taken
        self.main, self.loops, self.blocks, self.names, self.marks = [], [], [], {}, {}
        self._conditions = ChangingConditions(project)
        for node in file.nodes_in(file.tree):
            if isinstance(node, ast.For) and self._is_outermost(node) and project.trains(file, node) or self._is_main_while(node):
                self._plan(node)

    def _is_main_while(self, node):
        if not isinstance(node, ast.While) or node.orelse or not self._project.trains(self._file, node):
            return False
        function = self._file.function_of(node)
        around = list(itertools.takewhile(lambda outer: outer is not function, self._file.around(node)))
        is_outermost = not any(isinstance(outer, (ast.For, ast.AsyncFor, ast.While)) for outer in around)
        return is_outermost and (function is None or not self._project.is_called_in_a_loop(function))

    def _is_outermost(self, loop):
        for outer in self._file.around(loop):
            if isinstance(outer, ast.For) or self._is_main_while(outer):
                return False
            if isinstance(outer, _FUNCTIONS):
                return True
        return True

    def _plan(self, loop):
        function = self._file.function_of(loop)
        if function is not None and (isinstance(function, (ast.AsyncFunctionDef, ast.Lambda)) or _is_generator(function)):
            return
        is_in_while = any(isinstance(outer, ast.While) and self._file.function_of(outer) is function for outer in self._file.around(loop))
        is_main = not is_in_while and (function is None or not self._project.is_called_in_a_loop(function))
        steps = self._steps_of(loop)
        (self.main if is_main else self.loops).append(loop)
        for step in steps:
            if step is not loop:
                self.loops.append(step)
                self.loops.extend(outer for outer in self._file.around(step) if isinstance(outer, ast.For) and outer not in self.loops
                                  and outer is not loop and self._file.function_of(outer) is function)
            if (step is not loop or not is_main) and not self._project.calls_training_loop(self._file, step):
                self.blocks.append(step)
                self.names[step] = self._name_of(step, function)
        if is_main:
            has_blocks = any(step in self.blocks for step in steps) or self._project.calls_training_loop(self._file, loop)
            self.marks[loop] = self._marks_of(loop, has_blocks)

    def _marks_of(self, loop, has_blocks):
        is_so = {"reads_gradients": has_blocks and are_read_outside(self._project, self._file, loop, self.blocks),
                 "has_changing_condition": isinstance(loop, ast.While) and self._conditions.may_change(self._file, loop.test),
                 "reads_back": reads_back(self._project, self._file, loop),
                 "loads_elsewhere": loads_elsewhere(self._project, self._file, loop)}
        return [word for word in is_so if is_so[word]]

    def _steps_of(self, loop):
        """Returns the innermost loops that train; of one whose inner loop only gathers gradients, the outer one."""
        inner = [node for node in _nearest_loops(loop) if self._project.trains(self._file, node)]
        if not inner or (_steps(loop) and not any(_steps(node) or self._project.steps(self._file, node) for node in inner)):
            return [loop]
        return [step for node in inner for step in self._steps_of(node)]

    def _name_of(self, loop, function):
        below = os.path.splitext(os.path.relpath(self._file.path, os.path.dirname(self._project.script)))[0].split(os.sep)
        words = [] if self._file.path == self._project.script else [word for word in below if word != os.pardir]
        name = ".".join([*words, *([function.name] if function is not None else []), loop_name(loop)])
        name = next(one for one in [name, *(f"{name}.{count}" for count in range(2, 1000))] if one not in self._taken)
        self._taken.add(name)
        return name


def loop_name(loop):
    """Returns the name of a loop: that of its variable, or "iteration"."""
    if isinstance(loop, ast.While):
        return "iteration"
    first = next((node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name) and node.id.strip("_")), "step")
    return first


def rewritten(project):
    """Returns the trees of a project's files as they are executed, by their paths, without those of which nothing is rewritten. All
    stay as they are where the program names its loops itself, or has no main loop. Changes the project's own trees."""
    if project.has_words():
        return {}
    plans = plans_of(project)
    return by_plan(project, plans) if any(plan.main for plan in plans.values()) else {}


def keep_marks(recorded, present):
    """Gives the main loops of a rewritten tree the marks that those of the recorded one had: a log statement that reads gradients
    changes nothing in that, nor one in a function that a condition calls. Takes words of ours over, and no code: the recorded
    sources may be another user's."""
    before, now = ([node for node in ast.walk(tree) if hasattr(node, "marks")] for tree in (recorded, present))
    if len(before) == len(now):
        for old, new in zip(before, now):
            _mark(new, old.marks)


def main_loop(name, elements, marks=()):
    """Returns a call of main_loop(). It has an attribute that tells it from what a program's text has."""
    call = ast.Call(_word("main_loop"), [ast.Constant(name), elements], [])
    _mark(call, marks)
    return call


def _mark(call, marks):
    call.marks = marks
    call.keywords = [ast.keyword(word, ast.Constant(True)) for word in marks]
    _at(call, call)


def plans_of(project):
    taken = set()
    return {path: Plan(project, file, taken) for path, file in project.files.items()}


def by_plan(project, plans):
    trees = {path: _rewritten(plans[path], file, path == project.script) for path, file in project.files.items()}
    return {path: tree for path, tree in trees.items() if tree is not None}


def _rewritten(plan, file, is_script):
    tree, nodes = file.tree, file.nodes_in(file.tree)
    is_planned = bool(plan.main or plan.loops)
    if is_planned:
        tree = _Loops(plan).visit(tree)
    reporter = Reporter(nodes)
    if any(isinstance(node, ast.Expr) and kind_of(node) for node in nodes):
        tree = reporter.visit(tree)
    if not is_planned and not reporter.is_any:
        return None
    _insert_prologue(tree, is_script)
    return tree


class _Loops(ast.NodeTransformer):
    def __init__(self, plan):
        self._plan = plan

    def visit(self, node):
        return node if isinstance(node, ast.expr) else super().visit(node)

    def visit_For(self, node):
        self.generic_visit(node)
        if node not in self._plan.main and node not in self._plan.loops:
            return node
        if node in self._plan.main:
            call = main_loop(loop_name(node), node.iter, self._plan.marks[node])
        else:
            call = ast.Call(_word("loop"), [ast.Constant(loop_name(node)), node.iter], [])
        node.iter = _at(node.iter, call)
        if node not in self._plan.names:
            return node
        enter = ast.Call(ast.Attribute(ast.Name(BLOCK, ast.Load()), "step_into", ast.Load()), [], [])
        block = ast.Call(_word("skip_block"), [ast.Constant(self._plan.names[node])], [])
        outer = ast.With([ast.withitem(block, ast.Name(BLOCK, ast.Store()))], [ast.If(enter, [node], [])])
        return _at(node, outer)

    def visit_While(self, node):
        self.generic_visit(node)
        if node not in self._plan.main:
            return node
        conditions = ast.Call(_word("Conditions"), [], [])
        elements = main_loop(loop_name(node), conditions, self._plan.marks[node])
        asked = ast.Call(ast.Attribute(ast.Name(LOOP, ast.Load()), "goes_on", ast.Load()), [node.test], [])
        head = ast.If(ast.UnaryOp(ast.Not(), asked), [ast.Break()], [])
        loop = ast.For(_at(node.test, ast.Name(LOOP, ast.Store())), _at(node.test, elements), [_at(node.test, head), *node.body], [])
        return ast.copy_location(loop, node)


def _word(name):
    return ast.Attribute(ast.Name(HANDLE, ast.Load()), name, ast.Load())


def _at(place, node):
    """Gives new nodes the place of an old one."""
    for part in ast.walk(node):
        if not hasattr(part, "lineno") and "lineno" in part._attributes and hasattr(place, "lineno"):
            ast.copy_location(part, place)
    return node


def _insert_prologue(tree, is_script):
    at = 0
    if tree.body and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant) and \
            isinstance(tree.body[0].value.value, str):
        at = 1
    while at < len(tree.body) and isinstance(tree.body[at], ast.ImportFrom) and tree.body[at].module == "__future__":
        at += 1
    prologue = [ast.Import([ast.alias("flor._free", HANDLE)])]
    if is_script:
        prologue.append(ast.Expr(ast.Call(_word("be_main"), [ast.Call(ast.Name("globals", ast.Load()), [], [])], [])))
    for statement in prologue:
        for part in ast.walk(statement):
            if "lineno" in part._attributes:
                part.lineno = part.end_lineno = 1
                part.col_offset = part.end_col_offset = 0
    tree.body[at:at] = prologue


def _is_generator(function):
    return any(isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)) for node in _own(function))


def _own(function):
    """Yields the nodes of a function without those of functions in it."""
    todo = list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, _FUNCTIONS):
            todo.extend(ast.iter_child_nodes(node))


def _nearest_loops(loop):
    """Yields the `for` statements in a loop that lie in no other one, in order."""
    for node in [*loop.body, *loop.orelse]:
        yield from _first_loops(node)


def _first_loops(node):
    if isinstance(node, ast.For):
        yield node
    elif not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        for child in ast.iter_child_nodes(node):
            yield from _first_loops(child)


def _steps(loop):
    return any(isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step" for node in ast.walk(loop))

