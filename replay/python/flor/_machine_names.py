"""Which variables and members of a source have values of a clock, of the process or of its machine, by the text. They are others in each
process, so that nobody can compare them (_own_start.py). What a file held is none of these, wherever its path comes from."""
import ast
import functools

from ._program import names_in, program_of
from ._reports import CLOCKS, names_given
from ._saved_files import is_loading, name_of_call
from ._writing import LISTING

# What lists or counts files, or tells what room there is.
_LISTING = LISTING | {"mem_get_info", "getloadavg", "sched_getaffinity"}
_OF_THE_MACHINE = CLOCKS | _LISTING | frozenset("""
    platform socket getpass getpid getppid environ getenv gethostname cpu_count tempfile mkdtemp device_count
    get_device_properties Popen id
    """.split())
# Functions whose value is of the machine where an argument is; with those of the program that load nothing.
_HANDING = frozenset("""
    int float str bool len round abs min max sum sorted reversed list tuple dict set repr format divmod hash next iter zip
    enumerate map filter range join Path abspath realpath expanduser normpath dirname basename get deque defaultdict
    OrderedDict Counter SimpleNamespace Namespace array asarray tensor as_tensor timedelta
    floor ceil trunc sqrt log2 clip maximum minimum int32 int64 float32 float64
    """.split())


@functools.lru_cache(None)
def names_of_machine(path, others=()):
    """Returns the names of a source that have such values. `others`: the paths of the program's other sources."""
    program = program_of(path)
    if program is None:
        return frozenset()
    nodes, (loading, own) = list(program.parents), _functions(others if path in others else (path, *others))
    handing = _HANDING | own - loading
    # A name that may have what a file held, in another function or for another time, is compared.
    loaded = names_given(nodes, (), lambda node, names: not _has_word(node) and _holds_loaded(node, names, loading))
    given = names_given(nodes, _OF_THE_MACHINE, lambda node, names: _is_handed(node, names - loaded, loading, handing))
    listed = names_given(nodes, _LISTING, lambda node, names: _is_handed(node, names - loaded, loading, handing)) - _LISTING
    return frozenset(given - loaded - set(_counted_with(nodes, listed)))


@functools.lru_cache(None)
def _functions(paths):
    """Returns the names of functions of these sources that load files, themselves or by others, and of all functions; of a class, its
    `__init__` counts."""
    calls = {}
    for program in filter(None, map(program_of, paths)):
        for node in program.parents:
            parts = [node] if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else \
                [one for one in node.body if getattr(one, "name", "") == "__init__"] if isinstance(node, ast.ClassDef) else ()
            if isinstance(node, ast.ClassDef) or parts:
                calls.setdefault(node.name, []).extend(call for part in parts for call in ast.walk(part) if isinstance(call, ast.Call))
    loading = {name for name, inner in calls.items() if any(map(is_loading, inner))}
    while True:
        more = {name for name, inner in calls.items() if name not in loading and any(name_of_call(call) in loading for call in inner)}
        if not more:
            return loading, set(calls)
        loading |= more


def _word_of(node):
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def _has_word(node):
    return any(_word_of(part) in _OF_THE_MACHINE for part in ast.walk(node))


def _holds_loaded(node, names, loading):
    return any(_word_of(part) in names or isinstance(part, ast.Call) and (is_loading(part) or name_of_call(part) in loading)
               for part in ast.walk(node))


def _is_handed(node, names, loading, handing):
    """Does a value of one of these names become a part of what an expression gives? Not by a call that loads."""
    if isinstance(node, ast.Call):
        if is_loading(node) or name_of_call(node) in loading:
            return False
        parts = [node.func, *([*node.args, *node.keywords] if name_of_call(node) in handing else ())]
    else:
        parts = ast.iter_child_nodes(node)
    return _word_of(node) in names or any(_is_handed(part, names, loading, handing) for part in parts)


def _counted_with(nodes, names):
    """Yields those names that the program compares with the variable of a loop, or that say where one begins: a number of files may be that
    of the first epoch."""
    variables = {name for node in nodes if isinstance(node, (ast.For, ast.comprehension)) for name in names_in(node.target)}
    variables |= {name for node in nodes if isinstance(node, ast.While) for part in ast.walk(node.test) if isinstance(part, ast.Compare)
                  for name in names_in(part)}
    for node in nodes:
        used = {_word_of(part) for part in ast.walk(node)} if isinstance(node, (ast.Compare, ast.BinOp)) else set()
        if not used.isdisjoint(variables):
            yield from used & names
        if isinstance(node, ast.Call) and name_of_call(node) == "range":
            parts = [part for one in node.args for part in ([one.left, one.right] if isinstance(one, ast.BinOp) else [one])]
            yield from set(map(_word_of, parts)) & names
