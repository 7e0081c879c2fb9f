"""Which calls write files and which read them, by their names, and whether one may read what another wrote, by the text of their paths."""
import ast

from ._program import parameters_of

_NUMPY, _PANDAS, _SAFE, _TEXT = "numpy", "pandas", "safetensors", "text"
_WRITING = {**dict.fromkeys(("save", "savez", "savez_compressed", "savetxt"), _NUMPY), "tofile": _NUMPY,
            **dict.fromkeys(("to_csv", "to_json", "to_parquet", "to_pickle", "to_feather", "to_hdf"), _PANDAS),
            **dict.fromkeys(("save_file", "save_model"), _SAFE), **dict.fromkeys(("write_text", "write_bytes"), _TEXT)}
_READING = {**dict.fromkeys(("load", "loadtxt", "genfromtxt", "fromfile", "memmap", "open_memmap"), _NUMPY),
            **dict.fromkeys(("read_csv", "read_json", "read_parquet", "read_pickle", "read_feather", "read_hdf"), _PANDAS),
            **dict.fromkeys(("load_file", "load_model", "safe_open"), _SAFE), **dict.fromkeys(("read_text", "read_bytes"), _TEXT)}
_OF_NUMPY = {"np", "numpy", "jnp", "cp", "cupy", "onp"}
_FILES = {"open", "File"}  # by their mode, as of h5py.File
_OTHER_READING, _ASKING = {"imread", "from_pretrained"}, {"exists", "isfile", "is_file"}


def saves_of(call):
    """Does a call write a file, other than by what is called `save` or `dump`?"""
    return _family(call, _WRITING) is not None or _opens(call, "wax+")


def is_writing(call):
    """Does a call write a file?"""
    return saves_of(call) or name_of_call(call) == "dump" or name_of_call(call).startswith("save")


def is_reading(call):
    """Does a call read a file, or ask whether there is one?"""
    return name_of_call(call) in _ASKING or is_loading(call)


def is_loading(call):
    """Does a call read a file?"""
    name = name_of_call(call)
    return name == "load" or name.startswith(("load_", "read_")) or name in _READING or name in _OTHER_READING or _opens(call, "r+")


def may_be_same(load, save):
    """Do both calls belong to one library, and may their paths be equal? What `torch` and the like load counts whatever its path is
    (_read_back.py)."""
    family = _family(load, _READING)
    if family is None or family != _family(save, _WRITING):
        return False
    (first, last), (start, end) = _ends(_path(load, family, 0)), _ends(_path(save, family, 1 if family == _SAFE else 0))
    return (first.startswith(start) or start.startswith(first)) and (last.endswith(end) or end.endswith(last))


def is_same_path(file, load, other, save):
    """Do both calls have one path by its text? A variable of a function is another one in another function."""
    if load is save:
        return False
    around = file.function_of(load), other.function_of(save)
    found = {ast.dump(node): node for node in _arguments(save)}
    return any(ast.dump(node) in found and (around[0] is around[1] or not any(_is_local(node, one) for one in around)) for node in _arguments(load))


def name_of_call(call):
    """Returns the name of the function or method that is called, without leading underscores."""
    return getattr(call.func, "attr", getattr(call.func, "id", "")).lstrip("_")


def _family(call, words):
    family = words.get(name_of_call(call))
    if family is _NUMPY and name_of_call(call) in ("load", "save"):
        return family if getattr(getattr(call.func, "value", None), "id", None) in _OF_NUMPY else None
    return family


def _opens(call, modes):
    if name_of_call(call) not in _FILES:
        return False
    words = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    mode = words[0].value if words and isinstance(words[0], ast.Constant) else "r" if not words else "r+"
    return any(letter in str(mode) for letter in modes)


def _path(call, family, place):
    if family is _TEXT and isinstance(call.func, ast.Attribute):
        return call.func.value
    named = [keyword.value for keyword in call.keywords if keyword.arg in ("file", "filename", "fname", "path", "path_or_buf", "filepath_or_buffer")]
    return call.args[place] if len(call.args) > place else named[0] if named else None


def _ends(path):
    """Returns what a path surely begins and ends with."""
    if isinstance(path, ast.Constant):
        return str(path.value), str(path.value)
    if isinstance(path, ast.JoinedStr) and path.values:
        ends = [one.value if isinstance(one, ast.Constant) else "" for one in (path.values[0], path.values[-1])]
        return ends[0], ends[1]
    if isinstance(path, ast.BinOp):
        return _ends(path.left)[0], _ends(path.right)[1]
    if isinstance(path, ast.Call) and name_of_call(path) in ("join", "Path") and path.args:
        return _ends(path.args[0])[0], _ends(path.args[-1])[1]
    return "", ""


def _arguments(call):
    """Yields what may be a path: a text, a variable, a member, what is put together of these."""
    owner = [call.func.value] if isinstance(call.func, ast.Attribute) and name_of_call(call) in ("write_text", "write_bytes", "read_text", "read_bytes", "open") else []
    for node in [*owner, *call.args, *(keyword.value for keyword in call.keywords)]:
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) > 3
        if is_text or isinstance(node, (ast.Name, ast.Attribute, ast.JoinedStr, ast.BinOp, ast.Subscript)) or \
                isinstance(node, ast.Call) and name_of_call(node) in ("join", "Path", "format"):
            yield node


def _is_local(node, function):
    """Is a name in it a parameter or variable of the function?"""
    if function is None:
        return False
    own = parameters_of(function) | {one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return not own.isdisjoint(one.id for one in ast.walk(node) if isinstance(one, ast.Name) and one.id not in ("self", "cls"))
