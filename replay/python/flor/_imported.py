"""Modules of the program's that it imports while its loop runs, as a function does that only sometimes needs one."""
import ast
import enum
import functools
import importlib
import importlib.util
import sys
import types

from . import _interrupts
from ._attributes import dict_of, is_filled
from ._program import program_of

_SIMPLE = (bool, int, float, complex, str, bytes, type(None), types.ModuleType, types.BuiltinFunctionType)


def module_of(path):
    """Returns the name of the module of a path "module:name", else ""."""
    return path.rpartition(":")[0]


def only_defined(before, after):
    """Returns the paths of `after` that a module has since it was imported, and that hold what importing it anew would make again:
    functions and classes that keep nothing."""
    came = [path for path in after if ":" in path and path not in before]
    known = {module_of(path) for path in before} if came else set()
    return {path for path in came if module_of(path) not in known and _is_fixed(_value_at(path))}


def _value_at(path):
    module, _, name = path.rpartition(":")
    return vars(sys.modules[module]).get(name) if module in sys.modules else None


def _is_fixed(value, depth=0):
    """Is it a function or class of which nothing changes? A number of a class may, if the program assigns an attribute of its name. Nor is
    a logger or the like any state."""
    from ._runtime import is_users
    from ._looked_at import NO_STATE

    if type(value).__module__ == "typing" or type(value).__module__.partition(".")[0] in NO_STATE:
        return True
    if depth > 10 or not isinstance(value, (types.FunctionType, type, staticmethod, classmethod, property)):
        return False
    if isinstance(value, property):
        return all(one is None or _is_fixed(one, depth + 1) for one in (value.fget, value.fset, value.fdel))
    if isinstance(value, (staticmethod, classmethod)):
        return _is_fixed(value.__func__, depth + 1)
    module = sys.modules.get(value.__module__)
    if module is None or not is_users(module):
        return True
    if isinstance(value, type):
        return issubclass(value, enum.Enum) or all(_is_fixed_member(name, item, depth) for name, item in list(vars(value).items()))
    cells = [cell.cell_contents for cell in value.__closure__ or () if is_filled(cell)]
    kept = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values(), *(dict_of(value) or {}).values(), *cells]
    return all(_is_constant(one) or _is_fixed(one, depth + 1) for one in kept)


def _is_fixed_member(name, item, depth):
    if name.startswith("__") or isinstance(item, (types.MemberDescriptorType, types.GetSetDescriptorType)) or type(item).__module__ == "_abc":
        return True
    return _is_constant(item) and not _is_assigned(name) or _is_fixed(item, depth + 1)


def _is_constant(value):
    return isinstance(value, _SIMPLE) or isinstance(value, (tuple, frozenset)) and all(map(_is_constant, value))


def _trees():
    """Yields the modules of the program with their texts."""
    from ._runtime import users_modules

    for module in users_modules():
        program = program_of(getattr(module, "__file__", None) or "")
        if program is not None:
            yield module, program.tree


def _is_assigned(name):
    return any(name in _assigned_in(tree) for _, tree in _trees())


@functools.lru_cache(None)
def _assigned_in(tree):
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)}


def import_for(paths):
    """Imports the modules of these paths that the program would have imported by now. Who wrote a record may have named any module: only
    what an import of the program's text names is imported."""
    missing = {module_of(path) for path in paths} - {"", *sys.modules}
    while missing:
        found = missing & {name for module, tree in _trees() for name in _imported_in(module, tree)} if missing else set()
        for name in sorted(found):
            try:
                importlib.import_module(name)
            except Exception as problem:
                if _interrupts.is_programs(problem):
                    raise
                # What it would have is not there, and the restore says so.
        missing -= found
        if not found:
            return


def _imported_in(module, tree):
    """Yields the names of modules that a text imports, and of what may be one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            try:
                name = importlib.util.resolve_name(name, getattr(module, "__package__", None)) if node.level else name
            except (ImportError, ValueError):
                continue
            yield name
            yield from (f"{name}.{alias.name}" for alias in node.names)
