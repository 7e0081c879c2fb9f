"""May the condition of a `while` change something? Flor begins such a loop in its middle behind a condition that was evaluated on the
restored state, once more than without it: that must make no difference. Read, not run: what is not known may change anything."""
import ast

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CHANGING = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.ClassDef,
             ast.AsyncFor, ast.AsyncWith)
_BUILTINS = {"abs", "all", "any", "bool", "callable", "dict", "divmod", "enumerate", "float", "frozenset", "getattr", "hasattr", "hash", "int",
             "isinstance", "issubclass", "len", "list", "max", "min", "pow", "range", "repr", "reversed", "round", "set", "sorted", "str",
             "sum", "tuple", "type", "zip"}
# Methods of numbers, texts, containers, tensors, arrays, schedulers, paths, events and processes, none of which changes its object.
_METHODS = {"abs", "all", "any", "argmax", "argmin", "copy", "count", "cpu", "detach", "dim", "endswith", "exists", "float", "get", "get_last_lr",
            "index", "is_alive", "is_dir", "is_file", "is_set", "isdigit", "isfinite", "isinf", "isnan", "item", "items", "keys", "lower", "max",
            "mean", "median", "min", "norm", "numel", "numpy", "size", "split", "square", "startswith", "std", "strip", "sum", "tolist",
            "total_seconds", "upper", "values", "var"}
_OF_MODULES = {"math": None, "time": None, "datetime": None, "operator": None, "os": {"getenv", "exists", "isfile", "isdir", "getsize", "join"},
               "np": _METHODS, "numpy": _METHODS, "torch": _METHODS | {"no_grad", "inference_mode", "is_available"}}  # None: all
# What Python itself calls for an operator or a member. Not so __getitem__(), which many data sets have.
_CALLED_BY_PYTHON = {"__bool__", "__len__", "__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__", "__contains__", "__getattr__",
                     "__getattribute__"}
_PROPERTIES = {"property", "cached_property"}


class ChangingConditions:
    """Those of a project."""

    def __init__(self, project):
        self._project, self._changing = project, {}  # by a function

    def may_change(self, file, test):
        unseen = [] if isinstance(test, ast.Constant) else [pair for name in _CALLED_BY_PYTHON for pair in self._project.methods.get(name, ())]
        return self._part_may(file, test) or any(self._function_may(one, function) for one, function in unseen)

    def _function_may(self, file, function):
        if function not in self._changing:
            self._changing[function] = False  # of one that calls itself, the rest says it
            decorators = {_last(one.func if isinstance(one, ast.Call) else one) for one in function.decorator_list}
            is_known = isinstance(function, ast.FunctionDef) and decorators <= _PROPERTIES | {"staticmethod", "classmethod", "no_grad"}
            self._changing[function] = not is_known or any(self._part_may(file, part) for part in function.body)
        return self._changing[function]

    def _part_may(self, file, node):
        return any(self._node_may(file, one) for one in file.nodes_in(node))

    def _node_may(self, file, node):
        if isinstance(node, _CHANGING) or isinstance(node, _FUNCTIONS):
            return True
        if isinstance(node, ast.AugAssign):
            return not isinstance(node.target, ast.Name) or not _is_number_in(file, node)
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            return True
        if isinstance(node, ast.Call):
            return self._call_may(file, node)
        if isinstance(node, ast.Attribute):
            return any(self._function_may(one, method) for one, method in self._project.methods.get(node.attr, ()) if _is_property(method))
        return False

    def _call_may(self, file, call):
        called = self._project.called(call)
        if called:
            return any(self._function_may(self._project.file_of(one), one) for one in called)
        function = call.func
        if isinstance(function, ast.Name):
            return function.id not in _BUILTINS or function.id in file.modules
        root = function
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in file.modules:
            known = _OF_MODULES.get(root.id, ())
            return known is not None and function.attr not in known
        return not isinstance(function, ast.Attribute) or function.attr not in _METHODS


def _is_property(function):
    return any(_last(one) in _PROPERTIES for one in function.decorator_list)


def _is_number_in(file, statement):
    """Is the variable of `x += …` a number of the function's own? A list, it would be changed in place."""
    function = file.function_of(statement)
    nodes = file.nodes_in(function) if function is not None else ()
    values = [node.value for node in nodes if isinstance(node, ast.Assign) for target in node.targets
              for part in ast.walk(target) if isinstance(part, ast.Name) and part.id == statement.target.id]
    return bool(values) and all(isinstance(value, ast.Constant) for value in values)


def _last(expression):
    return getattr(expression, "attr", getattr(expression, "id", None))
