"""Whose is a name in a text: a function's own, an object's, or everybody's? So that `opt` in two functions, or `self.opt` in two classes,
are not taken for one thing."""
import ast
import re

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Scopes:
    """Of a project, as its files were read."""

    def __init__(self, project):
        self._own = {}  # by function: its parameters, and the names that it binds
        self._family = {}  # by the name of a class: another one of the same family, or itself
        classes = {node.name: node for file in project.files.values() for node in file.nodes_in(file.tree) if isinstance(node, ast.ClassDef)}
        for node in classes.values():
            for base in (ast.unparse(base).rpartition(".")[2] for base in node.bases):
                if base in classes:  # not those of packages, from which all modules are derived
                    self._family[self._first(node.name)] = self._first(base)

    def of(self, file, node, text):
        """Returns what the first word of a text at a node belongs to: a function, the name of a family of classes that are derived from
        each other, or None for what is a module's."""
        found = re.match(r"\w+", text)
        word = found.group() if found else ""
        for function in (outer for outer in file.around(node) if isinstance(outer, _FUNCTIONS)):
            parameters, bound = self._names_of(file, function)
            if parameters[:1] == [word] and file.is_method(function):
                return self._first(file.parents[function].name)
            if word in parameters or word in bound:
                return function
        return None

    def _names_of(self, file, function):
        if function not in self._own:
            of = function.args
            parameters = [one.arg for one in (*of.posonlyargs, *of.args, *of.kwonlyargs, of.vararg, of.kwarg) if one is not None]
            nodes = file.nodes_in(function)
            bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            bound -= {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
            self._own[function] = parameters, bound
        return self._own[function]

    def _first(self, name):
        while self._family.get(name, name) != name:
            name = self._family[name]
        return name
