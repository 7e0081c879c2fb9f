"""Which calls write files and which read them, by their names, and where they have their paths."""
import ast

_NUMPY, _PANDAS, _SAFE, _TEXT = "numpy", "pandas", "safetensors", "text"
_WRITING = {**dict.fromkeys(("save", "savez", "savez_compressed", "savetxt"), _NUMPY), "tofile": _NUMPY,
            **dict.fromkeys(("to_csv", "to_json", "to_parquet", "to_pickle", "to_feather", "to_hdf"), _PANDAS),
            **dict.fromkeys(("save_file", "save_model"), _SAFE), **dict.fromkeys(("write_text", "write_bytes"), _TEXT)}
READING = {**dict.fromkeys(("load", "loadtxt", "genfromtxt", "fromfile", "memmap", "open_memmap"), _NUMPY),
            **dict.fromkeys(("read_csv", "read_json", "read_parquet", "read_pickle", "read_feather", "read_hdf"), _PANDAS),
            **dict.fromkeys(("load_file", "load_model", "safe_open"), _SAFE), **dict.fromkeys(("read_text", "read_bytes"), _TEXT)}
_OF_NUMPY = {"np", "numpy", "jnp", "cp", "cupy", "onp"}
# What has its path behind an object; and whose `save` has.
_SECOND, _GIVEN_FIRST = {"save_file", "save_model", "load_model", "dump"}, {"torch", "th", "jit", "joblib", "pickle", "paddle"}
_PATHS = ("file", "filename", "fname", "path", "path_or_buf", "filepath_or_buffer", "f", "fp")
_OPENING = {"gzip", "bz2", "lzma", "io", "codecs", "os", "shelve", "tarfile", "Image"}  # modules with an open() of their own
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
    if name == "load_state_dict":
        return False  # of what was loaded
    return name == "load" or name.startswith(("load_", "read_")) or name in READING or name in _OTHER_READING or _opens(call, "r+")


def families_of(load, save):
    """Returns the library that both calls belong to, or None. What `torch` and the like load counts whatever its path is
    (_read_back.py)."""
    family = _family(load, READING)
    return family if family == _family(save, _WRITING) else None


def paths_of(call, is_own=False):
    """Returns the nodes that may be the path of a call that reads or writes a file, and whether one of them surely is. `is_own`: it is a
    function of the program, which may have it anywhere."""
    name, words = name_of_call(call), {keyword.arg: keyword.value for keyword in call.keywords}
    named = [words[word] for word in _PATHS if word in words]
    if is_own or name not in {*READING, *_WRITING, *_FILES, *_OTHER_READING, "load", "save", "dump", "save_pretrained"}:
        return [*call.args, *words.values()], False
    if name in ("write_text", "write_bytes", "read_text", "read_bytes") or name == "open" and _is_method_of_path(call):
        return [call.func.value], True
    place = 1 if name in _SECOND or name == "save" and _is_of(call, _GIVEN_FIRST) else 0
    return named or call.args[place:place + 1], True


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
    place = 0 if _is_method_of_path(call) else 1
    words = [*call.args[place:place + 1], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    mode = words[0].value if words and isinstance(words[0], ast.Constant) else "r" if not words else "r+"
    return any(letter in str(mode) for letter in modes)


def _is_of(call, names):
    of = getattr(call.func, "value", None)
    return getattr(of, "id", getattr(of, "attr", None)) in names


def _is_method_of_path(call):
    """Is it `path.open(mode)`, and no open(path) of a module such as gzip?"""
    first = call.args[0] if call.args else ast.Constant("")
    return isinstance(call.func, ast.Attribute) and name_of_call(call) == "open" and isinstance(first, ast.Constant) and \
        set(str(first.value)) <= set("rwxabt+") and not _is_of(call, _OPENING)
