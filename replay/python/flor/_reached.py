"""What a question reads: the words in its expressions, and in the program's own code that these may run."""
import ast
import builtins

from ._new_code import bound_by_import
from ._new_variables import CHANGE_NOTHING

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TO_TEXT = {"__str__", "__repr__", "__format__"}
_CALLED = {"__call__", "forward"}


class Reached:
    """`parts`: expressions, `programs`: all of them. `words`: names of variables, functions and members. `functions`: pairs of a program and a
    function of it that may run. By names alone, so that there may be more than what runs."""

    def __init__(self, parts, programs):
        self._of = {}  # what a name stands for: (program, node, is it a method?)
        self._imported = {name for program in programs for node in ast.walk(program.tree) if isinstance(node, (ast.Import, ast.ImportFrom))
                          for name in bound_by_import(node)}
        for program in programs:
            for node in ast.walk(program.tree):
                self._enter(program, node)
        self.words, self.functions = set(), []
        todo, known = [(None, part) for part in parts], set()
        while todo:
            program, node = todo.pop()
            if id(node) in known:
                continue
            known.add(id(node))
            if program is not None:
                self.functions.append((program, node))
            for one in ast.walk(node):
                todo += self._behind(one, program is not None)
        self.functions.sort(key=lambda pair: pair[1].lineno)

    def _enter(self, program, node):
        if isinstance(node, _FUNCTIONS):
            self._of.setdefault(node.name, []).append((program, node, isinstance(program.parents.get(node), ast.ClassDef)))
        elif isinstance(node, ast.ClassDef):
            self._of.setdefault(node.name, []).append((program, node, False))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            for target in node.targets:
                name = getattr(target, "id", getattr(target, "attr", None))
                self._of.setdefault(name, []).append((program, node.value, isinstance(target, ast.Attribute)))

    def _behind(self, node, is_inside):
        """Takes in a node of what is reached. Returns what that leads to. `is_inside`: is it code of the program's, and not of the question?"""
        if isinstance(node, ast.Name):
            self.words.add(node.id)
            return [(program, one) for program, one, is_method in self._of.get(node.id, ()) if not is_method]
        if isinstance(node, ast.Attribute):
            self.words.add(node.attr)
            return [(program, one) for program, one, _ in self._of.get(node.attr, ())]
        if isinstance(node, ast.Call):
            return self._methods(_CALLED) if self._is_of_object(node.func) else []
        if isinstance(node, ast.JoinedStr) or isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
            if is_inside and any(isinstance(part, ast.FormattedValue) and part.format_spec is None for part in ast.walk(node)):
                self.words.add("str")  # the text of a tensor shows more than its values
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
