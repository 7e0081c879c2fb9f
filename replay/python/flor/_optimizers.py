"""Whose parameters does an optimizer train, and which objects are no optimizers? Read, not run."""
import ast
import functools
import re

from ._scopes import path_of

_SAME = {"list", "tuple", "chain"}  # what gives the parameters that it is given
_NO_OPTIMIZERS = re.compile(r"lr|LR|[Ss]ched|[Ww]arm_?up|[Ee]nv|gym|[Pp]rof|[Tt]imer|[Bb]ar$|[Pp]rogress|^make$")


class Optimizers:
    """Of a project, while a main loop runs."""

    def __init__(self, names, things):
        self._names, self._things, self._known = names, things, {}

    def of(self, thing):
        """Returns the modules that a thing's gradients are all of, and those whose gradients are all the thing's; or None, (), if the
        text does not tell."""
        if thing not in self._known:
            self._known[thing] = None, ()
            self._known[thing] = self._of(thing)
        return self._known[thing]

    @functools.cached_property
    def _get_more(self):
        """Is an optimizer given other parameters than when it was made?"""
        mentions = self._names.mentions
        groups = [file.parents[file.parents[node]] for file, node in mentions.get("param_groups", ()) if isinstance(file.parents[node], ast.Subscript)]
        return "add_param_group" in mentions or any(isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Constant) and one.slice.value == "params"
                                                    for one in groups)

    def is_of_the_project(self, thing):
        """Was it made by a class of the project, whose methods may do anything?"""
        return any(_made_by(value) in self._names.classes for _, _, _, value in self._bindings(thing))

    def _of(self, thing):
        if self._get_more:
            return None, ()
        bindings = self._bindings(thing)
        made = [self._modules(file, node, target, value, thing) for file, node, target, value in bindings if not _is_none(value)]
        if not made or any(one is None for one in made):
            return None, ()
        return {module for one in made for module, _ in one}, set.intersection(*({module for module, is_whole in one if is_whole} for one in made))

    def _bindings(self, thing):
        scope, words = thing
        return self._names.bound.get((scope, words[0]) if len(words) == 1 else (".", words[-1]), ())

    def _modules(self, file, node, target, value, thing):
        found = _parameters(_first(value)) if isinstance(value, ast.Call) else None
        if not found:
            return None
        out = []
        for module, is_whole in found:
            key = self._beside(file, node, target, module, thing)
            if key is None or not self._names.is_settled(file, node, module):
                return None
            out.append((key, is_whole and self._names.is_complete(file, node, module)))
        return out

    def _beside(self, file, node, target, module, thing):
        """The thing that a module is, in whose function an optimizer was made: of `self.opt = SGD(self.net.parameters())` the net beside
        that optimizer."""
        scope, words = thing
        if len(words) == 1:
            return self._things.of(file, node, module, {})
        holder, path = path_of(target.value), path_of(module)
        function = file.function_of(node)
        if path is not None and len(path) == 1:
            path = next((path_of(other) for (place, _), found in self._names.bound.items() if place == "." for owner, at, other, value in found
                         if owner is file and file.function_of(at) is function and path_of(value) == path and path_of(other.value) == holder), path)
        if holder is None or path is None or path[:len(holder)] != holder or len(path) == len(holder):
            return None
        return (scope, words[:-1] + path[len(holder):]) if self._things.are_kept(path[len(holder):]) else None

    def is_none(self, thing, text):
        """Is it surely no optimizer whose step() is called: a schedule, an environment, a profiler? By what made it, or else by its name."""
        values = [value for _, _, _, value in self._bindings(thing)] if thing is not None else []
        words = [_made_by(value) for value in values]
        return all(map(_is_other, words)) if words and None not in words else _is_other(text.rpartition(".")[2])


def _is_other(word):
    return _NO_OPTIMIZERS.search(word) is not None and "opt" not in word.lower()


def _made_by(value):
    if not isinstance(value, ast.Call):
        return None
    return value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", None)


def _first(call):
    return call.args[0] if call.args else next((one.value for one in call.keywords if one.arg in ("params", "model_params")), None)


def _parameters(text):
    """Returns (module, whether all of it) for each whose parameters an expression lists. None where it may list others."""
    if isinstance(text, ast.Call):
        name = text.func.attr if isinstance(text.func, ast.Attribute) else getattr(text.func, "id", None)
        if name in ("parameters", "named_parameters") and isinstance(text.func, ast.Attribute):
            return [(text.func.value, not text.args and not text.keywords)]
        if name == "filter" and len(text.args) == 2:
            return _parts(_parameters(text.args[1]))
        return _joined(text.args) if name in _SAME and not text.keywords else None
    if isinstance(text, ast.BinOp) and isinstance(text.op, ast.Add):
        return _joined([text.left, text.right])
    if isinstance(text, (ast.List, ast.Tuple)):
        return _joined(text.elts)
    if isinstance(text, ast.Starred):
        return _parameters(text.value)
    if isinstance(text, ast.Dict):
        values = [value for key, value in zip(text.keys, text.values) if isinstance(key, ast.Constant) and key.value == "params"]
        return _joined(values) if len(values) == 1 else None
    if isinstance(text, (ast.ListComp, ast.GeneratorExp)) and len(text.generators) == 1:
        target = text.generators[0].target
        name = target.elts[-1] if isinstance(target, ast.Tuple) else target
        is_each = isinstance(name, ast.Name) and isinstance(text.elt, ast.Name) and text.elt.id == name.id
        return _parts(_parameters(text.generators[0].iter)) if is_each else None
    return None


def _joined(texts):
    found = [_parameters(text) for text in texts]
    return [pair for one in found for pair in one] if found and None not in found else None


def _parts(found):
    return None if found is None else [(module, False) for module, _ in found]


def module_of_parameters(text):
    """Returns the module whose parameters() an expression goes over, or None."""
    found = _parameters(text.args[0] if isinstance(text, ast.Call) and getattr(text.func, "id", None) in ("enumerate", "list") and text.args
                        else text)
    return found[0][0] if found is not None and len(found) == 1 else None


def _is_none(node):
    return isinstance(node, ast.Constant) and node.value is None
