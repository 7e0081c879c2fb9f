"""The files of a program that is recorded unchanged, and which of its functions train: read, not run.

They are found from the script, by its import statements, in its own folder or where else its imports look (_folders.py). A function trains if it holds a call of
`backward()` or of an optimizer's `step()`, or of another function that trains."""
import ast
import bisect
import functools
import os
import warnings

_MOST_FILES = 500
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_IN_A_LOOP = object()


_SHARED = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)  # one node stands for all of its kind


class File:
    """A file's tree as it was read. What it answers stays so when the tree is changed."""

    def __init__(self, path, tree):
        self.path, self.tree = path, tree
        self.parents, self._nodes, self._ends, self._places = {}, [], [], {}
        self._enter(tree)
        self.calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        self._calls_at = [self._places[call] for call in self.calls]
        self.modules = _imported_modules(self._nodes)

    def _enter(self, node):
        place = len(self._nodes)
        self._places[node] = place
        self._nodes.append(node)
        self._ends.append(place)
        for name in node._fields:
            value = getattr(node, name, None)
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.AST) and not isinstance(child, _SHARED):
                    self.parents[child] = node
                    self._enter(child)
        self._ends[place] = len(self._nodes)

    def nodes_in(self, node):
        """Returns a node and all that lie in it, in the order of the tree."""
        place = self._places[node]
        return self._nodes[place:self._ends[place]]

    def calls_in(self, node):
        place = self._places[node]
        return self.calls[bisect.bisect_left(self._calls_at, place):bisect.bisect_left(self._calls_at, self._ends[place])]

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
    """`files`: by their paths, the script first. `read`: returns the text of a path, or raises OSError. `folders`: where imports look, in
    order; None: in the script's folder. Raises SyntaxError if the script is none; leaves out other files that Python cannot read."""

    def __init__(self, script, read, folders=None):
        self.script, self._folders = script, folders or [os.path.dirname(script)]
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
        self.functions, self.methods = {}, {}  # by name: (file, function)
        for file in self.files.values():
            for node in file.nodes_in(file.tree):
                if isinstance(node, _FUNCTIONS):
                    (self.methods if file.is_method(node) else self.functions).setdefault(node.name, []).append((file, node))
        self._training_functions, self._training_methods = set(), set()  # names
        self._looping = set()  # the names of those that train in a loop
        self._find_training()

    def has_words(self):
        """Does the program name its loops, blocks or guards itself?"""
        words = {"loop", "skip_block", "checkpointing"}
        return any(self._is_word(node, words) for file in self.files.values() for node in file.nodes_in(file.tree))

    @staticmethod
    def _is_word(node, words):
        if isinstance(node, ast.ImportFrom):
            return node.module == "flor" and any(alias.name in words for alias in node.names)
        return isinstance(node, ast.Attribute) and node.attr in words and isinstance(node.value, ast.Name) and node.value.id == "flor"

    def trains(self, file, node):
        """Does a statement or expression train: itself or by what it calls?"""
        return any(is_training(call) or self._calls_training(file, call) for call in file.calls_in(node))

    def defined(self, file, function):
        """Returns the functions of the project, with their files, that an expression in a file may name."""
        name, is_method = _named(file, function)
        return (self.methods if is_method else self.functions).get(name, ())

    def _calls_training(self, file, call):
        name, is_method = _named(file, call.func)
        return name in (self._training_methods if is_method else self._training_functions)

    def is_called_in_a_loop(self, function):
        """Is a function of this name called in a loop, or by one that is?"""
        seen, todo = set(), [function.name]
        while todo:
            name = todo.pop()
            if name is _IN_A_LOOP:
                return True
            if name not in seen:
                seen.add(name)
                todo.extend(self._callers.get(name, ()))
        return False

    @functools.cached_property
    def _callers(self):
        """By the name of what is called: the names of the functions around its calls, and _IN_A_LOOP."""
        callers = {}
        for file in self.files.values():
            for call in file.calls:
                for outer in file.around(call):
                    if isinstance(outer, (*_LOOPS, *_FUNCTIONS)):
                        callers.setdefault(_last(call.func), set()).add(_IN_A_LOOP if isinstance(outer, _LOOPS) else outer.name)
                        break
        return callers

    def _find_training(self):
        while True:
            before = len(self._training_functions) + len(self._training_methods) + len(self._looping)
            for named, training in ((self.functions, self._training_functions), (self.methods, self._training_methods)):
                for file, function in (pair for name, pairs in named.items() if name != "forward" for pair in pairs):
                    if self.trains(file, function):
                        training.add(function.name)
                        if self._has_training_loop(file, function) or self.calls_training_loop(file, function):
                            self._looping.add(function.name)
            if len(self._training_functions) + len(self._training_methods) + len(self._looping) == before:
                return

    def _has_training_loop(self, file, function):
        return any(isinstance(part, _LOOPS) and self.trains(file, part) for part in file.nodes_in(function))

    def calls_training_loop(self, file, node):
        """Does a function or a loop call a function that trains in a loop?"""
        return any(_last(call.func) in self._looping and self._calls_training(file, call) for call in file.calls_in(node))

    def _imports_of(self, file):
        """Yields the paths of the project's files that a file imports."""
        for node in file.nodes_in(file.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._found(self._folders, alias.name.split("."))
            elif isinstance(node, ast.ImportFrom):
                folders, words = self._folders, node.module.split(".") if node.module else []
                if node.level:
                    base = os.path.dirname(file.path)
                    for _ in range(node.level - 1):
                        base = os.path.dirname(base)
                    folders = [base]
                yield from self._found(folders, words)
                for alias in node.names:
                    yield from self._found(folders, [*words, alias.name])

    @staticmethod
    def _found(folders, words):
        """Returns the files of a module and of the packages around it: those in the first folder that has any."""
        return next((paths for paths in (_files_at(folder, words) for folder in folders) if paths), [])


def _files_at(base, words):
    stems = [os.path.join(base, *words[:count]) for count in range(1, len(words) + 1)]
    paths = [path for stem in stems for path in (stem + ".py", os.path.join(stem, "__init__.py"))]
    return [os.path.realpath(path) for path in paths if os.path.isfile(path)]


def is_training(node):
    """Is it a call of backward(), or of step() of what is named as an optimizer?"""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr == "backward" or (node.func.attr == "step" and "optim" in ast.unparse(node.func.value).lower())


def _named(file, function):
    """Returns the name of what an expression in a file may name, or None, and whether that is a method."""
    if isinstance(function, ast.Attribute):
        of_module = isinstance(function.value, ast.Name) and function.value.id in file.modules
        return function.attr, not of_module
    return (function.id if isinstance(function, ast.Name) else None), False


def _last(function):
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None


def _imported_modules(nodes):
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in node.names)
    return names
