"""Log statements that read gradients. No checkpoint of a block holds their values (docs/semantics.md, rule 3)."""
import ast
import functools

from ._gradients import Gradients
from ._iteration import TooLong, Walk
from ._probed_calls import Calls
from ._project import File, Project
from ._reading import is_executed_by_a_call

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPOUND = (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith)
_JUMPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_CONDITIONAL = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class _Texts:
    """Programs as the files of a project."""

    defined = Project.named

    def __init__(self, programs):
        self.files = {program.path: File(program.path, program.tree) for program in programs}
        self.functions, self.methods = {}, {}
        for file in self.files.values():
            for node in file.nodes_in(file.tree):
                if isinstance(node, _FUNCTIONS):
                    (self.methods if file.is_method(node) else self.functions).setdefault(node.name, []).append((file, node))


class GradientReads:
    """Of `programs`, the recorded ones or the present ones."""

    def __init__(self, programs):
        self._programs = programs

    @functools.cached_property
    def _texts(self):
        return _Texts(self._programs)

    @functools.cached_property
    def _gradients(self):
        return Gradients(self._texts)

    @functools.cached_property
    def _calls(self):
        return Calls(self._texts, self._gradients.names)

    def any_in(self, program, node):
        """Does a log statement, or what computes its value, read gradients: itself, or by what it calls? It does if that is not sure."""
        return self._calls.may_read(self._texts.files[program.path], program.original(node))

    def named_in(self, program):
        """Returns the texts of a program that name gradients, or what reads them."""
        return self._calls.said_in(self._texts.files[program.path])

    def computed_in(self, program, node):
        """Returns the innermost statement around it in which the one backward() of the program is surely executed in front of it, in its
        iteration of the main loop or in its function. None if there is no such, if the program has several: the other one's gradients
        may be older; and if the iteration before may have left some of those that are read."""
        calls = [one for program in self._programs for one in ast.walk(program.tree) if _is_backward(one)]
        loops, inner = program.main_loops(), program.original(node)
        is_clear = len(calls) == 1 and "backward" not in self._texts.methods and self._are_of_the_iteration(program, inner)
        for outer in program.around(inner) if is_clear else ():
            for body in (getattr(outer, name, None) for name in ("body", "orelse", "finalbody")):
                if isinstance(body, list) and inner in body and self._compute(program, body[:body.index(inner)]):
                    return outer
            if outer in loops or isinstance(outer, _FUNCTIONS):
                return None
            inner = outer
        return None

    def _are_of_the_iteration(self, program, node):
        """Are the gradients that a log statement reads surely cleared in each iteration, in front of all that adds to them, or at its end?"""
        file, loops = self._texts.files[program.path], [(one, loop) for one in self._programs for loop in one.main_loops()]
        around = [(one, loop) for one, loop in loops if one is program and program.is_inside(node, loop)]
        return bool(loops) and node in file.parents and all(self._are_of(file, node, one, loop) for one, loop in around or loops)

    def _are_of(self, file, node, program, loop):
        walk = Walk(self._gradients, self._texts.files[program.path], loop)
        try:
            end, _ = walk.iteration()
            things = self._things_read(walk, file, node) if not self._gradients.are_hidden_from(self._texts.files[program.path], loop) else {None}
        except TooLong:
            return False
        is_last = not walk.is_entered_with_gradients()
        return all(thing is not None and (is_last and walk.is_in(thing, end.clean) or all(walk.is_in(thing, state.cleared) for state in walk.added_to))
                   for thing in things)

    def _things_read(self, walk, file, node):
        """What a log statement reads gradients of. None among them: it may be anything."""
        if any(self._calls.is_unsure(file, call) for call in file.calls_in(node)):
            return {None}
        added_to, walk.added_to = walk.added_to, []
        read = walk.used_by(file, node)
        walk.added_to = added_to
        return read or {None}

    def _compute(self, program, statements, depth=0):
        """Is it surely executed by these, whatever they ask for?"""
        for statement in statements:
            if self._computes(program, statement, depth):
                return True
            if any(isinstance(one, _JUMPS) for one in ast.walk(statement)):
                return False
        return False

    def _computes(self, program, statement, depth):
        if isinstance(statement, _COMPOUND) or isinstance(statement, ast.If) and _enters_block(statement.test):
            return self._compute(program, statement.body, depth)
        if not isinstance(statement, (ast.Expr, ast.Assign)) or any(isinstance(one, _CONDITIONAL) for one in ast.walk(statement)):
            return False
        return any(_is_backward(call) or depth < 5 and self._calls_one_that_computes(program, call, depth) for call in ast.walk(statement))

    def _calls_one_that_computes(self, program, call, depth):
        """Of a method only where the object surely is of the project's class: `net.train()` is no function of this name."""
        if not isinstance(call, ast.Call) or not isinstance(call.func, (ast.Name, ast.Attribute)):
            return False
        defined = self._texts.defined(self._texts.files[program.path], call.func)
        if len(defined) != 1 or not self._gradients.surely_calls(self._texts.files[program.path], call):
            return False
        file, function = defined[0]
        owner = next(one for one in self._programs if one.path == file.path)
        return is_executed_by_a_call(function) and self._compute(owner, function.body, depth + 1)


def _is_backward(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward"


def _enters_block(test):
    return isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr == "step_into"
