"""Gets into a program that knows nothing of Flor: while it is recorded or replayed, its own files are rewritten (_rewrite.py) as
Python loads them.

Begun by sitecustomize.py or by the wheel's flor.pth, before the program. CPython looks for an importer of the script's path in
sys.path_hooks, and runs the script by what that finds; the modules beside it come through sys.meta_path. What is installed is
never touched. Where anything fails the program runs as it is, with one line that says why."""
import gc
import importlib.machinery
import os
import sys

runs_script = False  # by us, and not `python -m`
read = None  # the script that was read, and the folders where its imports look (_folders.py)
_has_begun = False
_VALUES = {"-W", "-X", "--check-hash-based-pycs"}  # options of Python's with a value behind them


def begin():
    """Begins if this process runs a script, and is recorded or replayed. FLOR_HANDS_FREE=0: never; 1: always."""
    asked = os.environ.get("FLOR_HANDS_FREE")
    if asked == "0" or not (asked or os.environ.get("FLOR_RECORD") or os.environ.get("FLOR_REPLAY")):
        return
    global runs_script, _has_begun
    if _has_begun:
        return
    _has_begun = True
    script, is_module = _script_of(getattr(sys, "orig_argv", None) or _command_line())
    if script is None:
        return
    own = _other_package(os.getcwd() if is_module else os.path.dirname(os.path.realpath(script)))
    if own is not None:
        _withdraw()
        _say(f"the program has a module flor of its own ({own}): it runs as it is")
        return
    runs_script = not is_module
    finder = _Finder(script, is_module)
    sys.meta_path.insert(0, finder)
    if not is_module:
        sys.path_hooks.insert(0, finder.of_path)


def _other_package(folder):
    """Returns the module `flor` that lies beside a script, if that is another one than this package."""
    for path in (os.path.join(folder, "flor.py"), os.path.join(folder, "flor", "__init__.py")):
        if os.path.isfile(path) and os.path.realpath(os.path.dirname(path)) != os.path.realpath(os.path.dirname(__file__)):
            return path
    return None


def _withdraw():
    """Leaves the name `flor` to the program."""
    for name in [name for name in sys.modules if name == "flor" or name.startswith("flor.")]:
        del sys.modules[name]
    parent = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if sys.path[-1:] == [parent]:
        del sys.path[-1]


def _command_line():
    try:
        with open("/proc/self/cmdline", "rb") as file:
            return [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
    except OSError:
        return []


def _script_of(words):
    """Returns the script that a command line of Python runs, as it is named there, and whether that is a module; or None."""
    index = 1
    while index < len(words):
        word = words[index]
        if word == "-m" or word.startswith("-m"):
            from ._folders import file_of_module

            return file_of_module(word[2:] or (words[index + 1] if index + 1 < len(words) else "")), True
        if word in _VALUES:
            index += 2
        elif word in ("-", "-c") or word.startswith("-c"):
            return None, False
        elif word.startswith("-"):
            index += 1
        else:
            return (word if os.path.isfile(word) else None), False
    return None, False


class _Finder:
    """Finds the script and the modules beside it, and hands those to our loader that are rewritten."""

    def __init__(self, script, is_module):
        self._is_module = is_module
        self._names = {script, os.path.abspath(script)}
        self.script = os.path.realpath(script)
        self._trees = None  # by path, once the script is loaded
        self._words = set()  # the last parts of the names of modules that may be among them

    def of_path(self, path):
        """As an entry of sys.path_hooks: accepts the path of the script alone, if that is rewritten."""
        if path in self._names and self._trees is None:
            self._read()
        if path not in self._names or self.script not in self._trees:
            raise ImportError(path)
        return _Entry(self.main_spec)

    def find_spec(self, name, path=None, target=None):
        """As an entry of sys.meta_path."""
        if self._trees is None and self._is_module:
            self._read()
        if name.rpartition(".")[2] not in self._words or name in sys.builtin_module_names:
            return None  # Python searches the path for it, once
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or not spec.origin or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        if os.path.realpath(spec.origin) in self._trees:
            spec.loader = _Loader(spec.loader.name, spec.loader.path, self)
            return spec
        return None

    def main_spec(self):
        if sys.path and sys.path[0] in self._names:
            sys.path[0] = os.path.dirname(self.script)
        if getattr(sys.flags, "safe_path", False) and sys.path and sys.path[0] == os.path.dirname(self.script):
            del sys.path[0]
        sys.excepthook = _Hook(sys.excepthook)
        path = max(self._names, key=os.path.isabs)
        return importlib.machinery.ModuleSpec("__main__", _Loader("__main__", path, self), origin=path)

    def _read(self):
        self._trees = {}
        is_collecting = gc.isenabled()
        gc.disable()  # the nodes of the trees are many, and all in use
        try:
            self._trees, self._words = _trees_of(self.script, self._is_module)
        except SyntaxError:
            pass  # Python itself says so
        except Exception as problem:
            _say(f"{os.path.basename(self.script)} is not rewritten ({type(problem).__name__}: {problem}): it runs as it is")
        finally:
            if is_collecting:
                gc.enable()

    def tree_of(self, path):
        return self._trees.get(os.path.realpath(path))


def _trees_of(script, is_module):
    """Returns the rewritten trees of a project by their paths, and the last parts of the names that their modules may have."""
    from ._folders import folders_of
    from ._project import Project
    from ._rewrite import rewritten

    global read
    folders = folders_of(script, is_module)
    read = script, folders
    project = Project(script, read_source, folders)
    trees = rewritten(project)
    if os.environ.get("FLOR_REPLAY"):
        _name_anew(script, folders, trees)
    elif not trees and not project.has_words() and os.environ.get("FLOR_RECORD") and _is_first():
        _say(f"no training loop is found in {os.path.basename(script)} and the modules that it imports: nothing will be recorded; name the main "
             "loop with flor.loop")
    files = [_module_file(path) for path in trees]
    words = {os.path.splitext(os.path.basename(file))[0] for file in files}
    return trees, project.module_words.union(words, *map(_links_in, {os.path.dirname(file) for file in files}))


def _module_file(path):
    """Returns a module's file, or the folder of a package: what bears its name."""
    return os.path.dirname(path) if os.path.basename(path) == "__init__.py" else path


def _links_in(folder):
    """Returns the names that links give to modules, which a program may import by names that it computes."""
    try:
        with os.scandir(folder) as entries:
            return {os.path.splitext(entry.name)[0] for entry in entries if entry.is_symlink()}
    except OSError:
        return set()


def _is_first():
    """Is it the program itself, and neither a helper that another program of Python starts nor a further task of the same step?"""
    try:
        with open(f"/proc/{os.getppid()}/comm", encoding="utf-8", errors="replace") as file:
            is_helper = file.read().startswith("python")
    except OSError:
        is_helper = False
    return not is_helper and os.environ.get("SLURM_PROCID", "0") == "0"


def _name_anew(script, folders, trees):
    """Gives new log statements the names that the replay's plan has for them (_skeleton.py)."""
    from ._program import Program
    from ._project import Project
    from ._recorded import Recorded
    from ._rewrite import keep_marks, rewritten
    from ._skeleton import name_anew

    recorded = Recorded(script)
    before = rewritten(Project(script, recorded.read, folders))
    for path, tree in trees.items():
        if path in before:
            keep_marks(before[path], tree)
            name_anew(Program(path, "", before[path]), Program(path, "", tree))


def read_source(path):
    import tokenize

    with tokenize.open(path) as file:
        return file.read()


class _Entry:
    """Finds the script, and nothing else, where Python looks into its path."""

    def __init__(self, main_spec):
        self._main_spec = main_spec

    def find_spec(self, name, target=None):
        return self._main_spec() if name == "__main__" else None


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a file as it was rewritten, and leaves no compiled file behind."""

    def __init__(self, name, path, finder):
        super().__init__(name, path)
        self._finder = finder

    def get_code(self, fullname):
        tree = self._finder.tree_of(self.path)
        if tree is not None:
            try:
                code = compile(tree, self.path, "exec", dont_inherit=True)
                from . import _program

                _program.rewritten_trees[self.path] = tree
                return code
            except Exception as problem:
                _say(f"{os.path.basename(self.path)} is not rewritten ({type(problem).__name__}: {problem}): it runs as it is")
        with open(self.path, "rb") as file:
            return compile(file.read(), self.path, "exec", dont_inherit=True)


class _Hook:
    """Shows an exception without the frames of runpy and of Flor, as if Python ran the script itself."""

    def __init__(self, inner):
        self._inner = inner

    def __call__(self, kind, value, trace):
        seen = set()
        todo = [value]
        while todo:
            one = todo.pop()
            if one is None or id(one) in seen:
                continue
            seen.add(id(one))
            one.__traceback__ = _own_frames(one.__traceback__)
            inner = getattr(one, "exceptions", ())
            todo += [one.__cause__, one.__context__, *(inner if type(inner) is tuple else ())]
            todo = [other for other in todo if isinstance(other, BaseException)]
        self._inner(kind, value, _own_frames(trace))


def _own_frames(trace):
    """Leaves out what stands between the frames of the program."""
    kept = []
    while trace is not None:
        if not _is_between(trace.tb_frame.f_code.co_filename):
            kept.append(trace)
        trace = trace.tb_next
    for one, following in zip(kept, [*kept[1:], None]):
        one.tb_next = following
    return kept[0] if kept else None


def _is_between(file):
    return file in ("<frozen runpy>", "<frozen importlib._bootstrap>") or os.path.basename(file) == "runpy.py" or \
        os.path.dirname(file) == os.path.dirname(__file__)


def _say(text):
    sys.stderr.write(f"flor: {text}\n")
