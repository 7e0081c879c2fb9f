"""Whether a question may begin between two steps of a block's loop: what it reads there must be in the checkpoints that were taken between
steps (_steps.py). What the recorded program needs is in them; a log statement may read more."""
import ast
import os

from ._held import needed_by_block, needed_by_loop, read_from_before, unheld_by_steps
from ._holders import SlotHolder
from ._new_variables import NUMBERS, OF_VALUES, word_of
from ._overlooked import BARS, GRAPHS
from ._steps import BAR, GRAPH, is_of_steps, place_of
from ._writing import in_front_of_end

# Methods and functions of tensors: whose results have no graph, and others whose results have one where what they are given has.
_WITHOUT_GRAPH = {"argmax", "argmin", "argsort", "detach", "eq", "ne", "gt", "lt", "ge", "le", "isnan", "isfinite", "any", "all", "long", "int"}
_COMPUTED = {"sign", "softmax", "log_softmax", "sigmoid", "tanh", "relu", "exp", "log", "sqrt", "square", "pow", "clamp", "double", "cpu", "view", "reshape",
             "flatten", "squeeze", "unsqueeze", "float", "cross_entropy", "mse_loss", "nll_loss"}
_TO_ONE = {"sum", "mean", "norm", "max", "min", "std", "var", "argmax", "argmin", "median", "prod", "any", "all"}  # without arguments
# A tensor that is restored between steps has no graph, which its text shows, too.
_OF_GRAPHS = {"requires_grad", "grad_fn", "is_leaf", "retains_grad", "str", "repr", "format", "getattr", "vars", "autograd"}


def lacked_by_steps(names, seen):
    """Returns one of the names in a log statement that reads what no checkpoint between steps has, whatever it holds: a tensor's graph, or a
    progress bar. None if there is none."""
    bars = {_last_of(path) for name, path in seen if is_of_steps(name) and path.startswith(BAR)}
    return next(iter(sorted((_OF_GRAPHS | bars).intersection(names))), None)


def bar_among(names, seen):
    """Returns one of the names that is a progress bar's which lives from iteration to iteration: no checkpoint has it. None if there is none."""
    return next(iter(sorted({_last_of(path) for name, path in seen if name == BARS}.intersection(names))), None)


def graph_among(program, asked, seen):
    """Returns one of the tensors that an iteration passes on, and that an expression reads otherwise than for its values: no checkpoint has the
    way to what it was computed from. None if there is none."""
    paths = {path for name, path in seen if name == GRAPHS}
    return next((path for path in (_without_graph(program, loop, paths, asked) for loop in program.main_loops()) if path is not None), None)


def why_whole(recorded, present, seen, asked):
    """Returns why units of a question begin at iterations alone, or None. `recorded`, `present`: the program of a file, `seen`: (block, path)
    of what was seen to change, `asked`: the expressions of the question. Of a block without notes no checkpoint was taken between its steps."""
    for block in present.blocks:
        notes = {path for name, path in seen if block.name and name == place_of(block.name) and not path.startswith(BAR)}
        if not notes:
            continue
        loop, held = _loop_of(present, block), _held_of(recorded, block, notes)
        if loop is None or held is None:
            return f"{_place(present, block.node)}: the loop of block {block.name} is not found"
        unheld = unheld_by_steps(present, loop, held, [path for path in notes if not path.startswith(("+", GRAPH))])
        if unheld is not None:
            path, node = unheld
            return f"{_place(present, node)}: a step passes {path} to what follows, and no checkpoint between steps holds it"
        path = _without_graph(present, loop, {path[len(GRAPH):] for path in notes if path.startswith(GRAPH)}, asked)
        if path is not None:
            return f"{_place(present, loop)}: the log statement may ask how {path} was computed, and no checkpoint between steps tells"
    return None


def why_written(programs, seen):
    """As why_whole(), of files that an iteration writes in front of its steps or in them: they would have only some of the steps."""
    for program in programs:
        for block in program.blocks:
            found = in_front_of_end(programs, (program, block)) if any(name == place_of(block.name or "") for name, _ in seen) else None
            if found is not None:
                return f"{_place(*found)}: a file is written, or removed, that the steps of block {block.name} may go on with"
    return None


def _without_graph(program, loop, paths, asked):
    """Returns one of the paths, of which no checkpoint has the graph, that an expression reads otherwise than for its values."""
    for path in sorted(paths):
        reads = [node for one in asked for node in ast.walk(one) if _reads(program, node, path)]
        if reads and ("." in path or ":" in path or read_from_before(program, loop, path, reads)):
            return path
    return None


def _reads(program, node, path):
    return _last_of(path) in (getattr(node, "id", None), getattr(node, "attr", None)) and not _is_for_values(program, node)


def _is_for_values(program, node):
    """Does an expression read no more of a tensor than its values? The text of one with several elements shows more."""
    is_computed = is_single = False  # was anything computed with it? has it one element?
    while True:
        outer = program.parents.get(node)
        if isinstance(outer, ast.Attribute):
            call = program.parents.get(outer)
            if outer.attr in NUMBERS or outer.attr in _WITHOUT_GRAPH:
                return True
            if outer.attr not in OF_VALUES | _COMPUTED or not isinstance(call, ast.Call) or call.func is not outer:
                return False
            is_computed, is_single = True, outer.attr in _TO_ONE and not call.args and not call.keywords or is_single
            node = call
        elif isinstance(outer, ast.Call) and program.called(outer) is not None:
            return is_computed  # of a log statement
        elif isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id in ("float", "int", "bool"):
            return True
        elif isinstance(outer, ast.Call) and word_of(outer) in _WITHOUT_GRAPH and node in outer.args:
            return True
        elif isinstance(outer, ast.Call) and word_of(outer) in {"round", *OF_VALUES, *_COMPUTED} and node in outer.args:
            is_computed, is_single, node = True, False, outer
        elif is_computed and isinstance(outer, (ast.UnaryOp, ast.BinOp)):
            if isinstance(outer, ast.BinOp) and (isinstance(outer.op, ast.Mod) or not isinstance(outer.right if node is outer.left else outer.left, ast.Constant)):
                is_single = False
            node = outer
        elif isinstance(outer, ast.Call):
            return is_computed and word_of(outer) == "print"
        elif isinstance(outer, ast.FormattedValue):
            return is_computed and outer.conversion == -1 and (is_single or outer.format_spec is not None)
        else:
            return isinstance(outer, ast.Compare)


def _last_of(path):
    return path.replace(":", ".").rpartition(".")[2].lstrip(BAR)


def _held_of(recorded, block, notes):
    """Returns a holder of what the checkpoints between the steps hold; None where the recorded block is not found."""
    twin = next((one for one in recorded.blocks if one.name == block.name), None)
    loop = _loop_of(recorded, twin) if isinstance(twin, SlotHolder) else None
    if loop is None:
        return None
    holder = SlotHolder(loop, block.name)
    holder.takes([*needed_by_block(recorded, twin), *needed_by_loop(recorded, loop), *(path[1:] for path in notes if path.startswith("+"))])
    return holder


def _loop_of(program, block):
    return next((loop for loop in program.loops if program.is_inside(loop, block.node)), None)


def _place(program, node):
    return f"{os.path.basename(program.path)}:{node.lineno}"
