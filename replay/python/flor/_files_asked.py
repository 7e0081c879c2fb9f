"""Does a question read files? No checkpoint holds them. In a replay those lie there that the recording wrote later, and other workers write some at
the moment, so its rows are not given (docs/semantics.md, rule 18b)."""
import ast

from ._holders import path_of
from ._reports import names_given
from ._saved_files import READING, is_loading, is_writing
from ._writing import LISTING, WRITING

# What reads a file or looks at other processes, by the name of a call or of the module or class that has it.
_READING = {"subprocess", "popen", "open", "read", "readline", "readlines", "imread", "File", "from_pretrained", "ImageFolder", *READING, *LISTING}
_MOVING = {"os.rename", "os.replace", "shutil.copy", "shutil.move"}


class FilesAsked:
    """Of the present programs. `seen`: what the recording noted."""

    def __init__(self, programs, seen):
        calls = [node for program in programs for node in ast.walk(program.tree) if isinstance(node, ast.Call)]
        self._may_write = any(map(_may_write, calls))
        inside = [node for program in programs for loop in program.main_loops() for node in ast.walk(loop)]
        # Of a list made in front of the loop, as of the files of a data set, all processes have the same.
        self._listed = names_given(inside, LISTING)
        self._loaded = names_given(inside, (), _is_loaded) if ("@files", "*") in seen else set()

    def why_withheld(self, words):
        """Returns why rows of a question with these words are not given; "": they are."""
        word = _first(self._listed, words)
        if word is not None:
            return f"asks which files there are ({word}), and others are there in a replay"
        word = _first(_READING | self._loaded, words) if self._may_write else None
        return f"reads files ({word}), and the program writes some" if word is not None else ""

    @staticmethod
    def read_by(words):
        """Returns a word that reads files which the program does not write, or None."""
        return _first(_READING, words)


def _first(names, words):
    return next(iter(sorted(names.intersection(words))), None)


def _is_loaded(node, names):
    return any(isinstance(part, ast.Call) and is_loading(part) or isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


def _may_write(call):
    word = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return is_writing(call) or word in WRITING or path_of(call.func) in _MOVING
