"""What does a text stand for while a main loop runs? `opt` in two functions, or `self.opt` of two objects, are two things.

A thing is a pair: a function, or the path of a module's file, and words that lead from one of its variables to the thing. While the
loop runs, these words lead to one object, or there is no pair: where a word may be bound anew in an iteration, where a function was
given something that the text does not name, and where a text is more than names and dots. Two pairs may be one object."""
import ast

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_MODES = {"train", "eval", "step"}  # methods of modules and optimizers: they are not taken for the function around the loop
_WRAPPERS = {"to", "cuda", "cpu", "float", "half", "double", "train", "eval", "compile", "DataParallel", "DistributedDataParallel", "DDP", "prepare"}


class Names:
    """Where the names of a project are bound, and where they are mentioned."""

    def __init__(self, project):
        self.project = project
        self.bound = {}  # by (function or path, name), and by "." and an attribute: (file, node, target, value or None)
        self.mentions = {}  # by name: (file, node)
        self.classes = {}  # by name: (file, node)
        self._own, self._found = {}, {}
        for file in project.files.values():
            for node in file.nodes_in(file.tree):
                self._note(file, node)

    def _note(self, file, node):
        kind = type(node)
        if kind is ast.ClassDef:
            self.classes.setdefault(node.name, []).append((file, node))
        elif kind is ast.Name or kind is ast.Attribute:
            name = node.id if kind is ast.Name else node.attr
            if type(node.ctx) is ast.Load:
                self.mentions.setdefault(name, []).append((file, node))
            else:
                place = (self.owner(file, node, name) or file.path) if kind is ast.Name else "."
                self.bound.setdefault((place, name), []).append((file, node, node, _value_of(file, node)))
                if kind is ast.Name and isinstance(file.parents.get(file.parents[node]), ast.ClassDef):
                    self.bound.setdefault((".", name), []).append((file, node, ast.Attribute(node, name, node.ctx), _value_of(file, node)))
        elif kind is ast.Import or kind is ast.ImportFrom:
            for alias in (alias for alias in node.names if alias.asname is not None):
                self.mentions.setdefault(alias.name.rpartition(".")[2], []).append((file, node))

    def found_in(self, file, part):
        """Returns the Found of a function or a loop."""
        if part not in self._found:
            self._found[part] = Found(self, file, part)
        return self._found[part]

    def defined(self, file, text):
        """Returns the functions of the project, with their files, that an expression may name: also `package.module.function`."""
        words = path_of(text) or ()
        more = self.project.functions.get(words[-1], ()) if len(words) > 2 and words[0] in file.modules else ()
        return [*self.project.defined(file, text), *more]

    def owner(self, file, node, name):
        """Returns the function whose variable a name at a node is, or None for the module's."""
        for function in (outer for outer in (node, *file.around(node)) if isinstance(outer, _FUNCTIONS)):
            parameters, bound = self.own(file, function)
            if name in parameters or name in bound:
                return function
        return None

    def own(self, file, function):
        """Returns the parameters of a function, and the other names that it binds."""
        if function not in self._own:
            of = function.args
            parameters = [one.arg for one in (*of.posonlyargs, *of.args, *of.kwonlyargs, of.vararg, of.kwarg) if one is not None]
            nodes = file.nodes_in(function)
            bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
            bound |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node is not function}
            bound -= {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
            self._own[function] = parameters, bound
        return self._own[function]

    def is_settled(self, file, node, target):
        """Is what a text names bound no more behind a node, other than to a wrapper of itself?"""
        function = file.function_of(node)
        in_loop = any(isinstance(outer, _LOOPS) for outer in file.around(node))
        for place, word in self._places(file, node, path_of(target) or ()):
            others = [one for one in self.bound.get((place, word), ()) if not _is_wrapper(one[3], word)]
            is_behind = in_loop or any(one[0] is not file or file.function_of(one[1]) is not function or one[1].lineno > node.lineno for one in others)
            if len(others) > 1 and is_behind:
                return False
        return True

    def _places(self, file, node, words):
        for index, word in enumerate(words):
            yield (self.owner(file, node, word) or file.path) if not index else ".", word

    def is_complete(self, file, node, module):
        """Does a module get no other part behind a node, as by `net.head = …`?"""
        text = ast.unparse(module)
        for (place, _), bindings in self.bound.items():
            for other, at, target, value in bindings if place == "." else ():
                inside = ast.unparse(target.value)
                is_part = (inside == text or inside.startswith(text + ".")) and not isinstance(value, ast.Constant)
                if is_part and (other is not file or at.lineno > node.lineno or other.function_of(at) is not file.function_of(node)):
                    return False
        return True


class Found:
    """What the text of a function or a loop names. `named`: functions, each with its file, and is it named as a method that modules have, too?
    `changed`: attributes that are bound anew; `declared`: names of other scopes."""

    def __init__(self, names, file, part):
        nodes = file.nodes_in(part)
        self.named = [found for node in nodes if isinstance(node, (ast.Name, ast.Attribute)) for found in _named_by(names, file, node)]
        self.changed = {node.attr for node in nodes if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)}
        self.changed |= {_set_by(node) for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "id", None) in ("setattr", "delattr")}
        self.declared = {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}


def _named_by(names, file, node):
    name = node.id if isinstance(node, ast.Name) else node.attr
    inits = [(owner, one, False) for owner, kind in names.classes.get(name, ()) for one in kind.body if getattr(one, "name", None) == "__init__"]
    pairs = [] if name == "__init__" else names.defined(file, node)
    return [*inits, *((owner, one, name in _MODES) for owner, one in pairs)]


class Things:
    """While one main loop runs."""

    def __init__(self, names, file, loop):
        self.names, self._file, self._loop = names, file, loop
        self._around = [outer for outer in file.around(loop) if isinstance(outer, _FUNCTIONS)]
        self.reached = self._reach()
        found = [names.found_in(owner, part) for part, owner in [(loop, file), *self.reached.items()]]
        self._bound = {node.id for node in file.nodes_in(loop) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
        self._changed = {name for one in found for name in one.changed}
        self._declared = {name for one in found for name in one.declared}

    def _reach(self):
        """Returns all functions that the loop may execute, by their names, with their files."""
        project, seen, todo = self.names.project, {}, [(self._file, self._loop)]
        for name, pairs in project.methods.items():
            if name == "forward" or name.startswith("__") and name != "__init__":
                todo += [(file, function) for file, function in pairs if function not in self._around]
        seen.update((function, file) for file, function in todo[1:])
        while todo:
            owner, part = todo.pop()
            for file, function, is_mode in self.names.found_in(owner, part).named:
                if function not in seen and not (is_mode and function in self._around):
                    seen[function] = file
                    todo.append((file, function))
        return seen

    def of(self, file, node, text, frames):
        """Returns the thing that an expression is, as at a node, or None. `frames`: of functions that the loop called, what their
        parameters are."""
        words = path_of(text)
        if words is None or words[0] in self._declared or not self.are_kept(words[1:]):
            return None
        root = self._root(file, node, words[0], frames)
        return None if root is None else (root[0], root[1] + words[1:])

    def are_kept(self, attributes):
        """Is none of them bound anew while the loop runs?"""
        return not attributes or not self._changed & {"*", *attributes}

    def _root(self, file, node, name, frames):
        function = self.names.owner(file, node, name)
        if function is None:
            is_loops = not self._around and file is self._file
            return None if is_loops and name in self._bound else (file.path, (name,))
        parameters, bound = self.names.own(file, function)
        if function in frames:
            return frames[function].get(name) if name not in bound else self._alias(file, function, name, frames)
        if function in self.reached or isinstance(function, ast.Lambda) or (function in self._around and name in self._bound):
            return None
        passed = self._passed(file, function, name) if name in parameters and name not in bound else None
        return passed or (function, (name,))

    def _alias(self, file, function, name, frames):
        bindings = self.names.bound.get((function, name), ())
        value = bindings[0][3] if len(bindings) == 1 and name not in self.names.own(file, function)[0] else None
        return self.of(file, bindings[0][1], value, frames) if value is not None and name not in (path_of(value) or (name,)) else None

    def _passed(self, file, function, name):
        """What a function around the loop was given, if it is called in one place."""
        mentions = self.names.mentions.get(getattr(function, "name", None), ())
        if len(mentions) != 1 or file.is_method(function) or self.names.owner(*mentions[0], name=function.name) is function:
            return None
        owner, mention = mentions[0]
        call = owner.parents.get(mention)
        given = arguments_of(function, call) if isinstance(call, ast.Call) and call.func is mention else {}
        return self.of(owner, call, given[name], {}) if name in given and not self._is_inside(owner, call, function) else None

    @staticmethod
    def _is_inside(file, node, function):
        return any(outer is function for outer in file.around(node))


def arguments_of(function, call, receiver=None):
    """Returns the expressions that a call gives to a function, by its parameters. Those that the text does not show are left out."""
    of, given = function.args, [*([receiver] if receiver is not None else []), *call.args]
    out = {}
    for parameter, value in zip([*of.posonlyargs, *of.args], given):
        if isinstance(value, ast.Starred):
            break
        out[parameter.arg] = value
    out.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None})
    return out


def path_of(text):
    """Returns the words of `a.b.c`, or None for any other expression."""
    if isinstance(text, ast.Name):
        return (text.id,)
    inner = path_of(text.value) if isinstance(text, ast.Attribute) else None
    return None if inner is None else (*inner, text.attr)


def _set_by(call):
    name = call.args[1] if len(call.args) > 1 else None
    return name.value if isinstance(name, ast.Constant) else "*"


def _value_of(file, target):
    """Returns the expression that a target is bound to, or None where it is bound in another way than by `a = …` or `a, b = …, …`."""
    around = file.parents[target]
    if isinstance(around, ast.Tuple) and isinstance(file.parents[around], ast.Assign):
        value = file.parents[around].value
        is_alike = isinstance(value, ast.Tuple) and len(value.elts) == len(around.elts)
        return value.elts[around.elts.index(target)] if is_alike else None
    if isinstance(around, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and target is not around.value:
        return around.value
    return None


def _is_wrapper(value, word):
    """Is it the same module again, as `net.to(device)` and `DDP(net)` are?"""
    if not isinstance(value, ast.Call):
        return False
    name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", None)
    inner = value.func.value if isinstance(value.func, ast.Attribute) and not value.args[:1] else None
    words = [path_of(one) for one in (inner, *value.args[:1], getattr(value.func, "value", None)) if one is not None]
    return name in _WRAPPERS and any(one is not None and one[-1] == word for one in words)
