"""Whether a question may begin between two steps of a block's loop: what it reads there must be in the checkpoints that were taken between
steps (_steps.py). What the recorded program needs is in them; a log statement may read more."""
import os

from ._held import needed_by_block, needed_by_loop, unheld_by_steps
from ._holders import SlotHolder
from ._steps import BAR, is_of_steps, place_of


# A tensor that is restored between steps has no graph, which its text shows, too.
_OF_GRAPHS = {"requires_grad", "grad_fn", "is_leaf", "retains_grad", "str", "repr", "format", "getattr", "vars"}


def lacked_by_steps(names, seen):
    """Returns one of the names in a log statement that reads what no checkpoint between steps has, whatever it holds: a tensor's graph, or a
    progress bar. None if there is none."""
    bars = {path[len(BAR):] for name, path in seen if is_of_steps(name) and path.startswith(BAR)}
    return next(iter(sorted((_OF_GRAPHS | bars).intersection(names))), None)


def why_whole(recorded, present, seen):
    """Returns why units of a question begin at iterations alone, or None. `recorded`, `present`: the program of a file, `seen`: (block, path)
    of what was seen to change. Of a block without notes no checkpoint was taken between its steps."""
    for block in present.blocks:
        notes = {path for name, path in seen if block.name and name == place_of(block.name) and not path.startswith(BAR)}
        if not notes:
            continue
        loop, held = _loop_of(present, block), _held_of(recorded, block, notes)
        if loop is None or held is None:
            return f"{_place(present, block.node)}: the loop of block {block.name} is not found"
        unheld = unheld_by_steps(present, loop, held, [path for path in notes if not path.startswith("+")])
        if unheld is not None:
            path, node = unheld
            return f"{_place(present, node)}: a step passes {path} to what follows, and no checkpoint between steps holds it"
    return None


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
