"""The files of a program that is recorded unchanged, and which of its functions train: read, not run.

They are found from the script, by its import statements, in its own folder or where else its imports look (_folders.py). A function trains if it holds a call of
`backward()` or of an optimizer's `step()`, or of another function that trains."""
import ast
import bisect
import functools
import os
import warnings

from ._calls import Calls

_MOST_FILES = 500
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)

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
        self.renamed = {alias.asname: alias.name for node in self._nodes if isinstance(node, ast.ImportFrom)
                        for alias in node.names if alias.asname}  # by the name that it has here

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
        self.module_words = set()  # the parts of the names by which its files import each other
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
        trains = any(is_training(call) for file in self.files.values() for call in file.calls)
        self._calls = Calls(self.files.values(), trains)
        self.functions, self.methods = self._calls.functions, self._calls.methods  # by name: (file, function)
        self._called = {call: self._calls.of(file, call) if trains else () for file in self.files.values() for call in file.calls}
        self._training, self._looping = set(), set()  # functions that train, and those of them that do it in a loop
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
        return any(is_training(call) or not self._training.isdisjoint(self._called[call]) for call in file.calls_in(node))

    def steps(self, file, node):
        """Does a statement step an optimizer: itself or in functions of the project that it leads to?"""
        seen, todo = set(), [(file, node)]
        while todo:
            owner, part = todo.pop()
            for call in owner.calls_in(part):
                if is_training(call) and call.func.attr == "step":
                    return True
                new = [one for one in self._called[call] if one not in seen]
                seen.update(new)
                todo.extend((self._file_of[one], one) for one in new)
        return False

    def called(self, call):
        """Returns the functions of the project that a call may call."""
        return self._called[call]

    def file_of(self, function):
        return self._file_of[function]

    def is_called_in_a_loop(self, function):
        """Is a function called in a loop, or by one that is? Calls inside of the function itself do not count."""
        seen, todo = {function}, [function]
        while todo:
            for outer in self._callers.get(todo.pop(), ()):
                if outer not in seen:
                    if isinstance(outer, _LOOPS):
                        if not self._is_inside(outer, function):
                            return True
                    else:
                        todo.append(outer)
                    seen.add(outer)
        return False

    def _is_inside(self, node, function):
        return any(outer is function for outer in self._file_of[function].around(node))

    @functools.cached_property
    def _callers(self):
        """By a function: the loops and functions right around its calls."""
        callers = {}
        for file in self.files.values():
            for call in (one for one in file.calls if self._called[one]):
                outer = next((outer for outer in file.around(call) if isinstance(outer, (*_LOOPS, *_FUNCTIONS))), None)
                for function in self._called[call] if outer is not None else ():
                    callers.setdefault(function, []).append(outer)
        return callers

    @functools.cached_property
    def _file_of(self):
        return {node: file for named in (self.functions, self.methods) for pairs in named.values() for file, node in pairs}

    def _find_training(self):
        while True:
            before = len(self._training) + len(self._looping)
            for function, file in self._file_of.items():
                if function.name != "forward" and self.trains(file, function):
                    self._training.add(function)
                    if self._has_training_loop(file, function) or self.calls_training_loop(file, function):
                        self._looping.add(function)
            if len(self._training) + len(self._looping) == before:
                return

    def _has_training_loop(self, file, function):
        return any(isinstance(part, _LOOPS) and self.trains(file, part) for part in file.nodes_in(function))

    def calls_training_loop(self, file, node):
        """Does a function or a loop call a function that trains in a loop?"""
        return any(not self._looping.isdisjoint(self._called[call]) for call in file.calls_in(node))

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

    def _found(self, folders, words):
        """Returns the files of a module and of the packages around it: those in the first folder that has any."""
        paths = next((paths for paths in (_files_at(folder, words) for folder in folders) if paths), [])
        self.module_words.update(words if paths else ())
        return paths


def _files_at(base, words):
    stems = [os.path.join(base, *words[:count]) for count in range(1, len(words) + 1)]
    paths = [path for stem in stems for path in (stem + ".py", os.path.join(stem, "__init__.py"))]
    return [os.path.realpath(path) for path in paths if os.path.isfile(path)]


def is_training(node):
    """Is it a call of backward(), or of step() of what is named as an optimizer?"""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr == "backward" or (node.func.attr == "step" and "optim" in ast.unparse(node.func.value).lower())


def _imported_modules(nodes):
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in node.names)
    return names
