"""Where a program writes files: a replay executes that again, and what is there by then is lost."""
import ast
import os

_METHODS = {"save", "savez", "savetxt", "savefig", "save_pretrained", "save_model", "save_checkpoint", "save_image", "imwrite", "to_csv", "to_json",
            "to_parquet", "to_pickle", "write_text", "write_bytes"}


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


def _asks_whether_replaying(program, call):
    return any(isinstance(outer, ast.If) and "replaying" in ast.dump(outer.test) for outer in program.around(call))


def _word_of(call):
    if isinstance(call.func, ast.Attribute):
        return call.func.attr if call.func.attr in _METHODS else None
    if not isinstance(call.func, ast.Name) or call.func.id != "open":
        return None
    modes = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    return "open" if any(isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax+") for mode in modes) else None
