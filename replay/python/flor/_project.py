"""The files of a program that is recorded unchanged, and which of its functions train: read, not run.

They are found from the script, by its import statements, in its own folder and below. A function trains if it holds a call of
`backward()` or of an optimizer's `step()`, or of another function that trains."""
import ast
import os
import warnings

_MOST_FILES = 500
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class File:
    def __init__(self, path, tree):
        self.path, self.tree = path, tree
        self.parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self.modules = _imported_modules(tree)

    def around(self, node):
        while node in self.parents:
            node = self.parents[node]
            yield node

    def function_of(self, node):
        """Returns the function around a node, or None in the module itself."""
        return next((outer for outer in self.around(node) if isinstance(outer, (*_FUNCTIONS, ast.Lambda))), None)

    def is_method(self, function):
        return isinstance(self.parents.get(function), ast.ClassDef)


class Project:
    """`files`: by their paths, the script first. `read`: returns the text of a path, or raises OSError. Raises SyntaxError if
    the script is none; leaves out other files that Python cannot read."""

    def __init__(self, script, read):
        self.script, self._root = script, os.path.dirname(script)
        self.files = {script: File(script, ast.parse(read(script), script))}
        todo = [script]
        while todo and len(self.files) < _MOST_FILES:
            file = self.files[todo.pop(0)]
            for path in self._imports_of(file):
                if path in self.files:
                    continue
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # Python says them when it loads the file
                        self.files[path] = File(path, ast.parse(read(path), path))
                    todo.append(path)
                except (OSError, SyntaxError, ValueError, RecursionError):
                    continue
        self._functions, self._methods = set(), set()  # the names of those that train
        self._looping = set()  # and of those that train in a loop
        self._find_training()

    def has_words(self):
        """Does the program name its loops, blocks or guards itself?"""
        words = {"loop", "skip_block", "checkpointing"}
        for file in self.files.values():
            for node in ast.walk(file.tree):
                if isinstance(node, ast.ImportFrom) and node.module == "flor" and words & {alias.name for alias in node.names}:
                    return True
                if isinstance(node, ast.Attribute) and node.attr in words and isinstance(node.value, ast.Name) and node.value.id == "flor":
                    return True
        return False

    def trains(self, file, node):
        """Does a statement or expression train: itself or by what it calls?"""
        return any(is_training(part) or self.calls_training(file, part) for part in ast.walk(node))

    def calls_training(self, file, node):
        if not isinstance(node, ast.Call):
            return False
        function = node.func
        if isinstance(function, ast.Name):
            return function.id in self._functions
        if not isinstance(function, ast.Attribute):
            return False
        of_module = isinstance(function.value, ast.Name) and function.value.id in file.modules
        return function.attr in (self._functions if of_module else self._methods)

    def is_called_in_a_loop(self, function):
        """Is a function of this name called in a loop, or by one that is?"""
        names = {function.name}
        while True:
            before = len(names)
            for file in self.files.values():
                for call in ast.walk(file.tree):
                    if not isinstance(call, ast.Call) or _last(call.func) not in names:
                        continue
                    for outer in file.around(call):
                        if isinstance(outer, (ast.For, ast.AsyncFor, ast.While)):
                            return True
                        if isinstance(outer, _FUNCTIONS):
                            names.add(outer.name)
                            break
            if len(names) == before:
                return False

    def _find_training(self):
        while True:
            before = len(self._functions) + len(self._methods) + len(self._looping)
            for file in self.files.values():
                for node in ast.walk(file.tree):
                    if isinstance(node, _FUNCTIONS) and node.name != "forward" and self.trains(file, node):
                        (self._methods if file.is_method(node) else self._functions).add(node.name)
                        if self._has_training_loop(file, node) or self.calls_training_loop(file, node):
                            self._looping.add(node.name)
            if len(self._functions) + len(self._methods) + len(self._looping) == before:
                return

    def _has_training_loop(self, file, function):
        return any(isinstance(part, (ast.For, ast.AsyncFor, ast.While)) and self.trains(file, part) for part in ast.walk(function))

    def calls_training_loop(self, file, node):
        """Does a function or a loop call a function that trains in a loop?"""
        return any(self.calls_training(file, part) and _last(part.func) in self._looping for part in ast.walk(node))

    def _imports_of(self, file):
        """Yields the paths of the project's files that a file imports."""
        here = os.path.dirname(file.path)
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._files_at(self._root, alias.name.split("."))
            elif isinstance(node, ast.ImportFrom):
                base = self._root
                if node.level:
                    base = here
                    for _ in range(node.level - 1):
                        base = os.path.dirname(base)
                words = node.module.split(".") if node.module else []
                yield from self._files_at(base, words)
                for alias in node.names:
                    yield from self._files_at(base, [*words, alias.name])

    @staticmethod
    def _files_at(base, words):
        for count in range(1, len(words) + 1):
            stem = os.path.join(base, *words[:count])
            for path in (stem + ".py", os.path.join(stem, "__init__.py")):
                if os.path.isfile(path):
                    yield os.path.realpath(path)


def is_training(node):
    """Is it a call of backward(), or of step() of what is named as an optimizer?"""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr == "backward" or (node.func.attr == "step" and "optim" in ast.unparse(node.func.value).lower())


def _last(function):
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None


def _imported_modules(tree):
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in node.names)
    return names
