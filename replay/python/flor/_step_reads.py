"""Whether a question may begin between two steps of a block's loop: what it reads there must be in the checkpoints that were taken between
steps (_steps.py). What the recorded program needs is in them; a log statement may read more."""
import os

import ast

from ._held import needed_by_block, needed_by_loop, read_from_before, unheld_by_steps
from ._holders import SlotHolder
from ._new_variables import NUMBERS, OF_VALUES
from ._overlooked import BARS
from ._steps import BAR, GRAPH, is_of_steps, place_of
from ._writing import in_front_of_end


# What takes only the value of a tensor with a single one.
_TAKE_VALUES = {"print", "noted", "log", "float", "int", "bool", "round", "abs"}
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


def names_behind(names, programs):
    """Returns names, and those that the functions and classes of the programs have which bear one of these names."""
    inside = {}
    for program in programs:
        for node in ast.walk(program.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inside.setdefault(node.name, set()).update(names_in(node))
    known, todo = set(), set(names)
    while todo:
        name = todo.pop()
        known.add(name)
        todo |= inside.get(name, set()) - known
    return known


def names_in(node):
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.Attribute):
            yield one.attr


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
        reads = [node for one in asked for node in ast.walk(one) if _last_of(path) in (getattr(node, "id", None), getattr(node, "attr", None))
                 and not _is_for_values(program, node)]
        if reads and ("." in path or ":" in path or read_from_before(program, loop, path, reads)):
            return path
    return None


def _is_for_values(program, node):
    """Does an expression read no more of a tensor than its values?"""
    first = node
    while True:
        outer = program.parents.get(node)
        if isinstance(outer, ast.Attribute) and outer.attr in NUMBERS:
            return True
        if isinstance(outer, ast.Attribute) and outer.attr in OF_VALUES or isinstance(outer, ast.Call) and outer.func is node:
            node = outer
        elif node is not first and (isinstance(outer, ast.UnaryOp) or isinstance(outer, ast.BinOp) and not isinstance(outer.op, ast.Mod)):
            node = outer
        else:
            break
    if node is first:
        return False
    if isinstance(outer, ast.Call):
        return (outer.func.attr if isinstance(outer.func, ast.Attribute) else getattr(outer.func, "id", None)) in _TAKE_VALUES
    return isinstance(outer, ast.Compare) or isinstance(outer, ast.FormattedValue) and outer.conversion == -1


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
