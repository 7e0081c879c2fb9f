"""Where a program writes files, or asks which there are: a replay executes that again, and what is there by then is lost."""
import ast
import os

from ._holders import path_of

_METHODS = {"save", "savez", "savetxt", "savefig", "save_pretrained", "save_model", "save_checkpoint", "save_image", "imwrite", "to_csv", "to_json",
            "to_parquet", "to_pickle", "write_text", "write_bytes", "savez_compressed", "copyfile", "copy2", "copytree"}
# What tells which files there are.
LISTING = frozenset("""
    listdir glob iglob rglob iterdir scandir walk exists lexists isfile isdir is_file is_dir stat lstat getsize getmtime getctime disk_usage statvfs
    """.split())
# What may write a file, beside that: the worker that does it is seen by others.
WRITING = _METHODS | {"touch", "imsave", "write_png", "write_jpeg", "ZipFile", "FileHandler", "SummaryWriter"}
_OPENING = {"open", "File", "memmap"}
_OPENERS = {"bz2", "codecs", "gzip", "h5py", "io", "lzma", "np", "numpy", "os"}  # modules whose functions these are; else they are methods of a path
_OF_TORCH = {"train", "eval", "step", "forward", "update", "save", "load"}  # methods that objects of others have, too: model.train()


def note_of(programs):
    """Returns a line that says where, or None if the program writes no file that its text shows."""
    found = [(program, call, word) for program in programs for call in ast.walk(program.tree) if isinstance(call, ast.Call)
             for word in [_word_of(call)] if word and not _asks_whether_replaying(program, call)]
    if not found:
        return None
    program, call, word = found[0]
    count = len(found) - 1
    more = f", and in {count} other place{'s' if count > 1 else ''}" if count else ""
    return f"{os.path.basename(program.path)}:{call.lineno}: {word}() writes a file{more}: each worker may write it again, over what is there"


def in_front_of_end(programs, block):
    """Returns a call, with its program, that writes or removes a file in an iteration of a main loop, and not surely behind a block, pairs of a
    program and its block; or None. A worker that begins between two steps executes what stands in front of them again, and not the steps."""
    finder = _Order(programs, block)
    return next(((program, call) for program in programs for call in ast.walk(program.tree) if isinstance(call, ast.Call)
                 if (_word_of(call) or _removes(call)) and not _asks_whether_replaying(program, call) and finder.may_be_in_front(program, call)), None)


def _removes(call):
    path = path_of(call.func) or ""
    return path in ("os.remove", "os.rename", "os.replace", "shutil.move") or path.rpartition(".")[2] in ("rmtree", "unlink", "rmdir")


class _Order:
    """Tells where code stands by the text: behind a block in an iteration of the main loop, in no iteration, or elsewhere."""

    def __init__(self, programs, block):
        self._programs = programs
        self._inside, self._ends = set(), {}  # functions around the block; the line where it is over, by scopes
        todo = [(block[0], block[1].node)]
        while todo:
            program, node = todo.pop()
            scope = program.scope_of(node)
            self._ends[scope] = max(self._ends.get(scope, 0), node.end_lineno)
            name = getattr(scope, "name", None)
            if name is not None and name not in self._inside:
                self._inside.add(name)
                todo += [(other, use) for other, use in self._uses_of(name) if name not in _OF_TORCH or isinstance(use, ast.Name) or
                         getattr(use.value, "id", None) == "self"]

    def may_be_in_front(self, program, node, above=()):
        """`above`: the functions on the way to here."""
        scope = program.scope_of(node)
        if scope in self._ends and node.lineno > self._ends[scope]:
            return False
        main_loops = [loop for loop in program.main_loops() if program.scope_of(loop) is scope]
        if main_loops and not any(program.is_inside(node, loop) for loop in main_loops) or scope is program.tree and not main_loops:
            return False  # in front of the main loop or behind it
        name = getattr(scope, "name", None)
        if name in (None, "forward") or name.startswith("__") or scope in self._ends or any(program.is_inside(node, loop) for loop in main_loops):
            return True
        return name not in above and any(self.may_be_in_front(other, use, (*above, name)) for other, use in self._uses_of(name))

    def _uses_of(self, name):
        return [(program, node) for program in self._programs for node in ast.walk(program.tree)
                if (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)]


def _asks_whether_replaying(program, call):
    return any(isinstance(outer, ast.If) and "replaying" in ast.dump(outer.test) for outer in program.around(call))


def _word_of(call):
    word = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if word not in _OPENING:
        return word if word == "dump" or word in _METHODS and isinstance(call.func, ast.Attribute) else None
    is_method = isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", None) not in _OPENERS
    modes = [*(call.args[:1] if is_method else call.args[1:2]), *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    return word if any(isinstance(mode, ast.Constant) and _is_to_write(mode.value) for mode in modes) else None


def _is_to_write(mode):
    return isinstance(mode, str) and len(mode) <= 4 and set(mode) <= set("rwaxbt+") and bool(set(mode) & set("wax+"))
