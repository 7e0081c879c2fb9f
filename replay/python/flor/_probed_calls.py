"""What may a log statement call? All but what is surely known to read no gradients counts as reading them."""
import ast
import builtins
import sys

from ._optimizers import _is_other as is_schedule
from ._reading import is_clipping, is_getting
from ._scopes import path_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_REVEALING = {"grad", "eval", "exec", "globals", "locals", "vars", "__dict__", "unscale_"}
_PLAIN_PACKAGES = {"torch", "numpy", "torchvision", "scipy", "flor", "__flor__", *getattr(sys, "stdlib_module_names", ("math", "time", "datetime", "random"))}
# Methods of tensors, arrays, modules, optimizers, schedules, collections and texts.
_PLAIN_METHODS = set("""
    item norm mean sum std var min max abs sqrt pow exp log log2 log10 sin cos tanh sigmoid relu softmax log_softmax argmax argmin argsort sort topk median
    quantile mode any all eq ne gt lt ge le float double half int long bool byte short to cpu cuda numpy tolist detach clone contiguous view reshape
    flatten squeeze unsqueeze transpose permute t expand repeat chunk split unbind size dim numel nelement element_size stride is_contiguous type
    astype round floor ceil clamp clip sign neg add sub mul div matmul mm bmm dot diag trace det inverse cumsum cumprod prod count_nonzero nonzero unique
    histc bincount isnan isinf isfinite logsumexp square reciprocal rsqrt masked_select gather index_select narrow select diff ravel copy nanmean
    masked_fill bool_ type_as new_zeros fill tobytes total square logical_not logical_and is_leaf data_ptr get_device amax amin nansum
    parameters named_parameters buffers named_buffers modules named_modules children named_children state_dict get_parameter get_buffer get_submodule
    forward extra_repr get_last_lr get_lr get_scale get is_enabled memory_allocated
    keys values items copy count index get most_common union intersection difference elements total issubset
    format join split rsplit strip lstrip rstrip upper lower title capitalize startswith endswith replace ljust rjust center zfill encode decode partition
    timestamp isoformat total_seconds strftime""".split())


class Calls:
    """Of the texts of a project. Finds what reads gradients, or may: `sure`, functions that do by what they say; `perhaps`, those that call what
    is not known; `leading`, variables and attributes that may be something to call that reads gradients."""

    def __init__(self, project, names):
        self._project, self._names = project, names
        self._imports = {file: _imports_of(file) for file in project.files.values()}
        self._own_modules = {path.rpartition("/")[2].partition(".")[0] for path in project.files} | {path.split("/")[-2] for path in project.files if path.count("/") > 1}
        self._modules = _module_words(project)
        self.sure, self.perhaps, self.leading, self._makers = set(), set(), set(), set()
        self._functions = [(file, node) for file in project.files.values() for node in file.nodes_in(file.tree) if isinstance(node, (*_FUNCTIONS, ast.Lambda))]
        self._plain = {}
        while self._grow():
            pass
        self._pervades = any(self._is_called_by_python(file, node) for file, node in self._functions if node in self.sure)
        self._escapes = any(self._is_value(file, node) for file in project.files.values() for node in file.nodes_in(file.tree))

    def _grow(self):
        before = self._count()
        self._sure_names = {function.name for function in self.sure if not isinstance(function, ast.Lambda)}
        self._sure_methods = {function.name for file, function in self._functions if function in self.sure and file.is_method(function)}
        for file, function in self._functions:
            if function not in self.sure and any(self._says(file, node) for node in file.nodes_in(function)):
                self.sure.add(function)
            if function not in self._makers and self._is_maker(file, function):
                self._makers.add(function)
            if function not in self.perhaps and any(self._is_unknown(file, call) for call in file.calls_in(function)):
                self.perhaps.add(function)
        for place, bindings in self._names.bound.items():
            if place not in self.leading and any(value is not None and self._leads(file, value) for file, _, _, value in bindings):
                self.leading.add(place)
        return self._count() > before

    def _count(self):
        return len(self.sure) + len(self.leading) + len(self.perhaps) + len(self._makers)

    def may_read(self, file, node):
        """Does a log statement, or what computes its value, perhaps read gradients?"""
        if node not in file.parents:
            return True
        nodes = file.nodes_in(node)
        return any(self._says(file, one) for one in nodes) or any(self.is_unsure(file, call) for call in file.calls_in(node)) or \
            self._pervades and any(isinstance(one, ast.Name) for one in nodes)

    def said_in(self, file):
        """Returns the texts of a file that name gradients, or what reads them."""
        return sorted(ast.unparse(node) for node in file.nodes_in(file.tree) if self._says(file, node))

    def is_unsure(self, file, call):
        """May a call read gradients though no text says so?"""
        return self._is_unknown(file, call) or self._escapes and not self._is_of_package(file, call)

    def _says(self, file, node):
        """Does it name gradients, or what reads them?"""
        if isinstance(node, ast.Constant):
            return node.value == "grad"
        if isinstance(node, ast.Call):
            return is_getting(node, False)
        if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Load):
            return False
        if isinstance(node, ast.Attribute):
            is_module = (path_of(node) or ("",))[0] in self._imports[file]
            known = self._sure_names | {place[1] for place in self.leading} if is_module else self._sure_methods
            return node.attr in _REVEALING or is_clipping(node.attr) or node.attr in known or (".", node.attr) in self.leading
        name = self._imports[file].get(node.id, ("", node.id))[1]
        owner = self._names.owner(file, node, node.id)
        if (owner or file.path, node.id) in self.leading:
            return True
        return owner is None and (name in _REVEALING or is_clipping(name) or any(one in self.sure for _, one in self._project.functions.get(name, ())) or
                                  any(place[0] in self._project.files and place[1] == name for place in self.leading if node.id in self._imports[file]))

    def _leads(self, file, value):
        """May a value be something to call that reads gradients? Not so what a function gave back, but where that made it."""
        reading = self.sure | self.perhaps
        for node in file.nodes_in(value):
            call = file.parents[node]
            is_called = isinstance(call, ast.Call) and call.func is node
            if isinstance(node, ast.Lambda) and node in reading or not is_called and isinstance(node, (ast.Name, ast.Attribute)) and self._says(file, node) \
                    and not (isinstance(node, ast.Attribute) and node.attr == "grad"):
                return True
            if isinstance(node, ast.Call) and self._makes(file, node) or not is_called and self._is_function_of_a_package(file, node):
                return True
        return False

    def _is_function_of_a_package(self, file, node):
        words = path_of(node) or ("A",)
        package = self._imports[file].get(words[0], ("torch",))[0].split(".")
        return words[-1][0].islower() and package[0] not in _PLAIN_PACKAGES and package[-1] not in self._own_modules and \
            not isinstance(file.parents[node], ast.Attribute) and self._names.owner(file, node, words[0]) is None

    def _is_maker(self, file, function):
        """Does a function give back something to call that reads gradients?"""
        reading = self.sure | self.perhaps
        given = [part.value for part in file.nodes_in(function) if isinstance(part, (ast.Return, ast.Yield)) and part.value is not None]
        inner = {part.name for part in file.nodes_in(function) if isinstance(part, _FUNCTIONS) and part is not function and part in reading}
        return any(self._leads(file, one) or any(isinstance(part, ast.Name) and part.id in inner for part in file.nodes_in(one)) for one in given)

    def _makes(self, file, call):
        name = self._last(file, call.func)
        kinds, reading = self._names.classes.get(name, ()), self.sure | self.perhaps
        if any(one in reading and owner.is_method(one) and one.name.startswith("__") and one.name != "__init__"
               for owner, kind in kinds for one in kind.body if isinstance(one, _FUNCTIONS)):
            return True
        if any(function in self._makers for _, function in self._project.functions.get(name, ())):
            return True
        words = [path_of(value) for value in [*call.args, *(keyword.value for keyword in call.keywords)]]
        is_package = not kinds and name is not None and name[:1].isupper() and not is_schedule(name) and not self._is_of_package(file, call)
        return is_package and any(word is not None and word[-1] in self._modules for word in words)

    def _last(self, file, function):
        if isinstance(function, ast.Name):
            return self._imports[file].get(function.id, ("", function.id))[1]
        return function.attr if isinstance(function, ast.Attribute) else None

    def _is_of_package(self, file, call):
        """Is it a function of a package that is known to read no gradients, or one of Python's own?"""
        words = path_of(call.func)
        if words is None or self._names.owner(file, call, words[0]) is not None:
            return False
        package = self._imports[file].get(words[0], ("", ""))[0].split(".")[0]
        is_own = len(words) == 1 and words[0] not in self._imports[file] and hasattr(builtins, words[0]) and (file.path, words[0]) not in self._names.bound
        return is_own and words[0] not in self._project.functions or package in _PLAIN_PACKAGES

    def _is_unknown(self, file, call):
        """May it execute something that the project's text does not have, which is given parameters?"""
        if self._is_of_package(file, call):
            return is_getting(call) and not is_getting(call, False)
        function, name = call.func, self._last(file, call.func)
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        if isinstance(function, ast.Name):
            if self._names.owner(file, call, function.id) is not None or (file.path, function.id) in self._names.bound:
                return self._is_forward_reading()  # a model, as it seems: what else it may be, `leading` says
            if name in self._names.classes:
                return any(one in self.perhaps for _, kind in self._names.classes[name] for one in kind.body if getattr(one, "name", "") == "__init__")
            if name in self._project.functions:
                return any(one in self.perhaps for _, one in self._project.functions[name])
            is_variable = self._imports[file].get(function.id, ("",))[0].split(".")[-1] in self._own_modules  # of another file of the project
            return self._is_forward_reading() if is_variable else not all(self._is_plain(file, value) for value in values)
        if not isinstance(function, ast.Attribute):
            return isinstance(function, ast.Call) or self._is_forward_reading()
        root = path_of(function) or ("",)
        if root[0] in self._imports[file] and self._imports[file][root[0]][0].split(".")[-1] not in self._own_modules and \
                self._names.owner(file, call, root[0]) is None:
            return name not in _PLAIN_METHODS and not all(self._is_plain(file, value) for value in values)
        if (".", name) in self._names.bound and name not in self._project.methods:
            return self._is_forward_reading()  # a part of a model, as it seems
        defined = [*self._project.methods.get(name, ()), *(self._project.functions.get(name, ()) if root[0] in self._imports[file] else ())]
        if defined:
            return any(one in self.perhaps for _, one in defined)
        return name not in _PLAIN_METHODS and not all(self._is_plain(file, value) for value in (function.value, *values))

    def _is_forward_reading(self):
        return any(one in self.sure for _, one in self._project.methods.get("forward", ()))

    def _is_plain(self, file, value):
        """Is it surely a number, a text, a tensor, or a collection of these?"""
        if isinstance(value, (ast.Constant, ast.JoinedStr, ast.Compare)):
            return True
        if isinstance(value, (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.IfExp, ast.Tuple, ast.List, ast.Set, ast.Dict)):
            parts = [part for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr)]
            return all(self._is_plain(file, part) for part in parts)
        if isinstance(value, (ast.Subscript, ast.Starred)):
            return self._is_plain(file, value.value)
        if isinstance(value, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return self._is_plain(file, value.elt)
        if isinstance(value, ast.Call):
            inner = [value.func.value] if isinstance(value.func, ast.Attribute) else []
            name = self._last(file, value.func)
            if name in ("list", "tuple", "set", "sorted", "reversed", "enumerate", "zip", "filter", "map", "next", "iter", "dict", "chain", "deepcopy", "copy"):
                return all(self._is_plain(file, one) for one in value.args)
            if name in ("parameters", "named_parameters", "modules", "children", "named_modules", "named_children", "get_parameter", "get_submodule"):
                return False
            package = self._imports[file].get((path_of(value.func) or ("",))[0], ("",))[0]
            is_number = bool(inner) and name in _PLAIN_METHODS - {"get", "values", "items", "keys", "copy", "to", "cpu", "cuda", "float", "double", "half", "type"}
            return is_number or self._is_of_package(file, value) and not (name or "A")[:1].isupper() and not package.startswith("torch.nn.Mod")
        if isinstance(value, ast.Name):
            return self._is_plain_name(file, value)
        return False

    def _is_plain_name(self, file, node):
        place = (self._names.owner(file, node, node.id) or file.path, node.id)
        if place not in self._plain:
            self._plain[place] = True
            function = place[0] if not isinstance(place[0], str) else None
            is_parameter = function is not None and node.id in self._names.own(file, function)[0]
            bindings = self._names.bound.get(place, ())
            self._plain[place] = bool(bindings) and not is_parameter and all(value is not None and self._is_plain(owner, value) for owner, _, _, value in bindings)
        return self._plain[place]

    @staticmethod
    def _is_called_by_python(file, function):
        name = getattr(function, "name", "")
        decorators = {getattr(one, "attr", getattr(one, "id", None)) for one in getattr(function, "decorator_list", ())}
        is_dunder = name.startswith("__") and name.endswith("__") and name not in ("__init__", "__call__", "__new__", "__del__")
        return file.is_method(function) and (is_dunder or bool(decorators & {"property", "cached_property"}))

    def _is_value(self, file, node):
        """Is what reads gradients handed to a call, as a hook, so that it may be called from anywhere?"""
        call = file.parents.get(node)
        call = file.parents[call] if isinstance(call, ast.keyword) else call
        if not isinstance(call, ast.Call) or call.func is node:
            return False
        if isinstance(node, ast.Lambda):
            return node in self.sure
        return isinstance(node, ast.Name) and any(one in self.sure for _, one in self._project.functions.get(node.id, ())) or \
            isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self" and node.attr in self._sure_methods


def _module_words(project):
    """The last words of what surely is a module or an optimizer."""
    words = set()
    for file in project.files.values():
        for call in file.calls:
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("parameters", "named_parameters", "zero_grad", "train", "eval", "state_dict", "step"):
                words.update((path_of(call.func.value) or ())[-1:])
    return words


def _imports_of(file):
    """Returns (module, name there) by each name that a file imports. Of `import a.b` the name is a."""
    out = {}
    for node in file.nodes_in(file.tree):
        if isinstance(node, ast.Import):
            out.update({(alias.asname or alias.name.split(".")[0]): (alias.name, "") for alias in node.names})
        elif isinstance(node, ast.ImportFrom):
            out.update({alias.asname or alias.name: (node.module or alias.name, alias.name) for alias in node.names})
    return out
