"""What a question reads: the words in its expressions, and in the program's own code that these may run."""
import ast
import builtins
import os

from ._new_code import bound_by_import, imported_roots
from ._new_variables import CHANGE_NOTHING

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TO_TEXT = {"__str__", "__repr__", "__format__"}
_CALLED = {"__call__", "forward"}
_ELEMENTS = {"__iter__", "__next__", "__getitem__", "__len__"}
_NUMBER = {"__float__", "__int__", "__index__", "__bool__", "__abs__", "__round__", "__len__"}
_BUILTINS = {"len": {"__len__"}, **dict.fromkeys(("float", "int", "bool", "abs", "round"), _NUMBER), **dict.fromkeys(("str", "repr", "format"), _TO_TEXT)}
_NO_OPERATION = {"__init__", "__new__", "__call__", "__enter__", "__exit__", "__getattr__", "__setattr__", "__post_init__"} | _ELEMENTS | _TO_TEXT


class Code:
    """The functions of programs, by all names under which code may run them: their own, and those of variables that were given one, alone or in a
    list, a dict or a partial. By names alone: there may be more than what runs. What an operator runs (`__len__`, `__add__`) is known of a variable
    that an object was made for (`x = Ema(0.9)`)."""

    def __init__(self, programs):
        self._of = {}  # what a name stands for: (program, node, is it a method?)
        self.bound = {name_of(node) for program in programs for node in ast.walk(program.tree) if isinstance(getattr(node, "ctx", None), ast.Store)}
        self._classes, self._unclear = {}, set()  # of a variable's objects; names that stand for other ones, too
        self._foreign, self._given = {}, set()  # is a variable's object a library's alone? Names of parameters
        self.imported = {name for program in programs for node in ast.walk(program.tree) if isinstance(node, (ast.Import, ast.ImportFrom))
                          for name in bound_by_import(node)}
        stems = {os.path.basename(program.path).partition(".")[0] for program in programs}
        self.libraries = {name for program in programs for node in ast.walk(program.tree) if isinstance(node, (ast.Import, ast.ImportFrom))
                          and not any(root is None or root in stems for root in imported_roots(node)) for name in bound_by_import(node)}
        for program in programs:
            for node in ast.walk(program.tree):
                self._enter(program, node)
        for _ in range(2):  # also variables that were given what such a one has
            for program in programs:
                for node in ast.walk(program.tree):
                    self._enter_variables(node)

    def named(self, name):
        """Returns (program, function or class) of what a variable's name may stand for."""
        return [(program, node) for program, node, is_method in self._of.get(name, ()) if not is_method]

    def members(self, name):
        """Returns (program, function or class, is it a method?) of what a member's name may stand for."""
        return list(self._of.get(name, ()))

    def called_objects(self, name):
        """Returns (program, method) of what may run where an object is called that a variable or member of this name has."""
        if self._foreign.get(name) and name not in self._given:
            return []
        kinds = None if name in self._unclear or name not in self._classes else self._with_bases(self._classes[name])
        return [(program, one) for program, one in self._methods(_CALLED) if kinds is None or program.parents.get(one) in kinds]

    def reached_by(self, parts):
        """Returns the words in expressions and in what they may run, names of variables, functions and members; and what that is: pairs of a program
        and a function of it."""
        words, functions, todo = set(), {}, [(None, part) for part in parts]
        todo += self._methods(_TO_TEXT) if any(isinstance(part, (ast.Name, ast.Attribute)) for part in parts) else []
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

    def _enter_variables(self, node):
        if isinstance(node, ast.arg):
            self._unclear.add(node.arg)
            self._given.add(node.arg)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension, ast.withitem)):
            target = node.optional_vars if isinstance(node, ast.withitem) else node.target
            names = {name_of(one) for one in (ast.walk(target) if target is not None else ())}
            self._unclear |= names
            self._given |= names
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                are_pairs = all(isinstance(one, (ast.Tuple, ast.List)) for one in (target, node.value)) and len(target.elts) == len(node.value.elts)
                for one, value in zip(target.elts, node.value.elts) if are_pairs else [(target, node.value)]:
                    self._enter_variable(one, value)

    def _enter_variable(self, target, value):
        made = self._of.get(name_of(value.func), ()) if isinstance(value, ast.Call) else ()
        classes = [node for _, node, _ in made if isinstance(node, ast.ClassDef)]
        found = [] if isinstance(value, ast.Lambda) else [*self._handed(value), *_inner_functions(made)]
        for name in map(name_of, [target] if name_of(target) else getattr(target, "elts", ())):
            known = self._of.setdefault(name, []) if found else []
            known += [(program, node, False) for program, node in found if not any(node is other for _, other, _ in known)]
            self._classes.setdefault(name, set()).update(classes)
            self._unclear.update([] if classes else [name])
            self._foreign[name] = self._foreign.get(name, True) and self._is_foreign(value)

    def _is_foreign(self, value):
        """Does a library make a value, of nothing that may be an object of the program's?"""
        root = value.func if isinstance(value, ast.Call) else None
        while isinstance(root, ast.Attribute):
            root = root.value
        names = {name_of(node) for node in ast.walk(value) if isinstance(node, (ast.Name, ast.Attribute))}
        return name_of(root) in self.libraries and not names & self._given and not any(self._of.get(name) or self._classes.get(name) for name in names)

    def _handed(self, value):
        """Returns the functions that a value stands for: `model.norm`, `{"norm": norm}`, `partial(norm, 2)`. What any other call is given, as a
        loader, it is taken not to hand out."""
        if isinstance(value, (ast.Dict, ast.List, ast.Tuple, ast.Set, ast.IfExp)) or isinstance(value, ast.Call) and name_of(value.func) == "partial":
            parts = [part for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr)]
            return [pair for part in parts for pair in self._handed(part)]
        is_member = isinstance(value, ast.Attribute)
        return [(program, function) for program, function, is_method in self._of.get(name_of(value), ()) if is_member or not is_method]

    def _with_bases(self, classes):
        found, todo = [], list(classes)
        while todo:
            kind = todo.pop()
            if kind not in found:
                found.append(kind)
                todo += [base for name in map(name_of, kind.bases) for _, base, _ in self._of.get(name, ()) if isinstance(base, ast.ClassDef)]
        return found

    def methods_of(self, kind, names):
        """Returns those methods of a class that have one of these names, also of its bases."""
        kinds = self._with_bases([kind])
        return [one for _, one in self._methods(names) if any(one in base.body for base in kinds)]

    def operations(self, node):
        """Yields (program, method, receiver, call) of what a node runs that is no call of its own: a property, and an operation on an object that a
        variable was made for."""
        nothing = ast.Call(ast.Constant(None), [], [])
        if isinstance(node, ast.Attribute):
            yield from ((program, one, node.value, nothing) for program, one, is_method in self._of.get(node.attr, ()) if is_method and
                        any("property" in ast.dump(word) for word in getattr(one, "decorator_list", ())))
        for value, names in _operands(node):
            for kind in self._with_bases(self._classes.get(name_of(value), ())):
                methods = [(program, one) for name, found in self._of.items() if name is not None and name.startswith("__") for program, one, _ in found
                           if names is None and name not in _NO_OPERATION or names is not None and name in names]
                yield from ((program, one, value, nothing) for program, one in methods if program.parents.get(one) is kind)

    def is_kept(self, name):
        """Is a member of this name computed once for an object, and kept in it?"""
        return any("cached_property" in ast.dump(word) for _, one, _ in self._of.get(name, ()) for word in getattr(one, "decorator_list", ()))

    def _by_operation(self, node):
        return [(program, one) for program, one, *_ in self.operations(node)] if not isinstance(node, ast.Attribute) else []

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
            return self._by_operation(node) + (self._methods(_CALLED) if self._is_of_object(node.func) else [])
        if isinstance(node, ast.JoinedStr) or isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
            if is_inside and any(isinstance(part, ast.FormattedValue) and part.format_spec is None for part in ast.walk(node)):
                words.add("str")  # the text of a tensor shows more than its values
            return self._methods(_TO_TEXT)
        return self._by_operation(node)

    def _is_of_object(self, function):
        """May it be an object that is called?"""
        root = function
        while isinstance(root, ast.Attribute):
            root = root.value
        if getattr(root, "id", None) in self.imported:
            return False
        if isinstance(function, ast.Name):
            return function.id not in self._of and not hasattr(builtins, function.id)
        return isinstance(function, ast.Attribute) and function.attr not in self._of and function.attr not in CHANGE_NOTHING

    def _methods(self, names):
        return [(program, one) for name in names for program, one, is_method in self._of.get(name, ()) if is_method]


def _operands(node):
    """Yields (expression, names of the methods that a node runs of its object; None: any of an operator)."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id):
        yield from ((one, _BUILTINS.get(node.func.id, _ELEMENTS)) for one in node.args)
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield node.iter, _ELEMENTS
    elif isinstance(node, ast.Subscript):
        yield node.value, _ELEMENTS
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        yield from ((item.context_expr, {"__enter__", "__exit__"}) for item in node.items)
    elif isinstance(node, (ast.BinOp, ast.Compare, ast.UnaryOp)):
        yield from ((one, None) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield node.test, _NUMBER
    elif isinstance(node, ast.FormattedValue):
        yield node.value, _TO_TEXT


def _inner_functions(made):
    """Returns those that stand inside of a function, which may give one of them, as a counter that counts on."""
    return [(program, inner) for program, outer, _ in made if isinstance(outer, _FUNCTIONS) for inner in ast.walk(outer)
            if inner is not outer and isinstance(inner, (*_FUNCTIONS, ast.Lambda))]


def name_of(node):
    """Returns the name of a variable, or the last one of a member; None of what is neither."""
    return getattr(node, "id", getattr(node, "attr", None))
