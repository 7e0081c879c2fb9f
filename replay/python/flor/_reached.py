"""What a question reads: the words in its expressions, and in the program's own code that these may run."""
import ast
import builtins

from ._new_code import bound_by_import
from ._new_variables import CHANGE_NOTHING

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TO_TEXT = {"__str__", "__repr__", "__format__"}
_CALLED = {"__call__", "forward"}


class Code:
    """The functions of programs, by all names under which code may run them. By names alone: there may be more than what runs, and what a list or
    dict of functions, a partial or a method such as `__len__` leads to is not among it."""

    def __init__(self, programs):
        self._of = {}  # what a name stands for: (program, node, is it a method?)
        self._imported = {name for program in programs for node in ast.walk(program.tree) if isinstance(node, (ast.Import, ast.ImportFrom))
                          for name in bound_by_import(node)}
        for program in programs:
            for node in ast.walk(program.tree):
                self._enter(program, node)

    def reached_by(self, parts):
        """Returns the words in expressions and in what they may run, names of variables, functions and members; and what that is: pairs of a program
        and a function of it."""
        words, functions, todo = set(), {}, [(None, part) for part in parts]
        while todo:
            program, node = todo.pop()
            if id(node) in functions:
                continue
            functions[id(node)] = program, node
            for one in ast.walk(node):
                todo += self._behind(one, program is not None, words)
        return words, sorted((pair for pair in functions.values() if pair[0] is not None), key=lambda pair: pair[1].lineno)

    def _enter(self, program, node):
        if isinstance(node, _FUNCTIONS):
            self._of.setdefault(node.name, []).append((program, node, isinstance(program.parents.get(node), ast.ClassDef)))
        elif isinstance(node, ast.ClassDef):
            self._of.setdefault(node.name, []).append((program, node, False))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            for target in node.targets:
                name = getattr(target, "id", getattr(target, "attr", None))
                self._of.setdefault(name, []).append((program, node.value, isinstance(target, ast.Attribute)))

    def _behind(self, node, is_inside, words):
        """Adds the words of a node of what is reached. Returns what that leads to. `is_inside`: is it code of the program's, and not of the
        question?"""
        if isinstance(node, ast.Name):
            words.add(node.id)
            return [(program, one) for program, one, is_method in self._of.get(node.id, ()) if not is_method]
        if isinstance(node, ast.Attribute):
            words.add(node.attr)
            return [(program, one) for program, one, _ in self._of.get(node.attr, ())]
        if isinstance(node, ast.Call):
            return self._methods(_CALLED) if self._is_of_object(node.func) else []
        if isinstance(node, ast.JoinedStr) or isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
            if is_inside and any(isinstance(part, ast.FormattedValue) and part.format_spec is None for part in ast.walk(node)):
                words.add("str")  # the text of a tensor shows more than its values
            return self._methods(_TO_TEXT)
        return []

    def _is_of_object(self, function):
        """May it be an object that is called?"""
        root = function
        while isinstance(root, ast.Attribute):
            root = root.value
        if getattr(root, "id", None) in self._imported:
            return False
        if isinstance(function, ast.Name):
            return function.id not in self._of and not hasattr(builtins, function.id)
        return isinstance(function, ast.Attribute) and function.attr not in self._of and function.attr not in CHANGE_NOTHING

    def _methods(self, names):
        return [(program, one) for name in names for program, one, is_method in self._of.get(name, ()) if is_method]
