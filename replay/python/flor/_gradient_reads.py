"""Log statements that read gradients. No checkpoint of a block holds their values (docs/semantics.md, rule 3)."""
import ast

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPOUND = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)
_JUMPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_CONDITIONAL = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class GradientReads:
    """Of the present `programs`."""

    def __init__(self, programs):
        self._programs = programs
        self._functions, self._methods = {}, {}  # definitions by name
        for program in programs:
            for node in ast.walk(program.tree):
                if isinstance(node, _FUNCTIONS):
                    is_method = isinstance(program.parents.get(node), ast.ClassDef)
                    (self._methods if is_method else self._functions).setdefault(node.name, []).append(node)
        self._reading = None  # the functions and methods that read gradients, by name

    def any_in(self, node):
        """Does a log statement, or what computes its value, read gradients: itself, or by functions of the program?"""
        if self._reading is None:
            self._reading = set(), set()
            while any(self._takes(named, reading) for named, reading in zip((self._functions, self._methods), self._reading)):
                pass
        return self._reads(node)

    def _takes(self, named, reading):
        new = {name for name, functions in named.items() if name not in reading and any(map(self._reads, functions))}
        reading |= new
        return bool(new)

    def _reads(self, node):
        functions, methods = self._reading
        return any((isinstance(one, ast.Attribute) and (one.attr == "grad" and isinstance(one.ctx, ast.Load) or one.attr in functions | methods)) or
                   (isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load) and one.id in functions) or
                   (isinstance(one, ast.Constant) and one.value == "grad") for one in ast.walk(node))

    def computed_in(self, program, node):
        """Returns the innermost statement around it in which the one backward() of the program is surely executed in front of it, in its
        iteration of the main loop or in its function. None if there is no such, or if the program has several: the other one's gradients
        may be older."""
        calls = [one for program in self._programs for one in ast.walk(program.tree) if _is_backward(one)]
        loops, inner = program.main_loops(), program.original(node)
        for outer in program.around(inner) if len(calls) == 1 else ():
            for body in (getattr(outer, name, None) for name in ("body", "orelse", "finalbody")):
                if isinstance(body, list) and inner in body and self._compute(body[:body.index(inner)]):
                    return outer
            if outer in loops or isinstance(outer, _FUNCTIONS):
                return None
            inner = outer
        return None

    def _compute(self, statements, depth=0):
        """Is it surely executed by these, whatever they ask for?"""
        for statement in statements:
            if self._computes(statement, depth):
                return True
            if any(isinstance(one, _JUMPS) for one in ast.walk(statement)):
                return False
        return False

    def _computes(self, statement, depth):
        if isinstance(statement, _COMPOUND) or isinstance(statement, ast.If) and _enters_block(statement.test):
            return self._compute(statement.body, depth)
        if not isinstance(statement, (ast.Expr, ast.Assign)) or any(isinstance(one, _CONDITIONAL) for one in ast.walk(statement)):
            return False
        return any(_is_backward(call) or depth < 5 and self._calls_one_that_computes(call, depth) for call in ast.walk(statement))

    def _calls_one_that_computes(self, call, depth):
        if not isinstance(call, ast.Call) or not isinstance(call.func, (ast.Name, ast.Attribute)):
            return False
        name = call.func.id if isinstance(call.func, ast.Name) else call.func.attr
        defined = [*self._functions.get(name, ()), *self._methods.get(name, ())]
        return len(defined) == 1 and self._compute(defined[0].body, depth + 1)


def _is_backward(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward"


def _enters_block(test):
    return isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr == "step_into"
