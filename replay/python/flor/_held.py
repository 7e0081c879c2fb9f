"""What the blocks and the guard of a program hold, and what they should: docs/semantics.md, rule 18a, for Python.

As far as the text shows it: names that are bound, members and elements that are assigned, methods that change their
object by their names. What else changed when the program was recorded (_seen.py), the record says: `seen`, paths."""
import ast

from ._first_bound import is_bound_near, is_bound_outside, is_first_bound
from ._holders import SlotHolder, lies_in, path_of
from ._program import _walk, bound_in, changed_in, is_adding, is_local_elsewhere, parameters_of, program_of, reads_in
from ._receivers import ByText, InFrame


_BY_TEXT = ByText()


def shared_names(program):
    """Returns names that functions bind outside of themselves, at a moment that the text does not show."""
    return {name for node in ast.walk(program.tree) if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}


def unheld_by(program, block, seen=()):
    """Returns (path, where it is changed, where it is read) of something that a block changes and does not hold, and that
    is read elsewhere; None where there is nothing."""
    return _first_read(program, block, _changed_by(program, block, seen))


def unheld_for_itself(program, block, seen=()):
    """Returns (path, where it is changed) of something that a block changes and does not hold, and that its next execution reads; None where
    there is nothing."""
    changed = _changed_by(program, block, seen).items()
    return next(((path, node) for path, node in changed if _reads_again(program, block, path)), None)


def _reads_again(program, block, path, objects=_BY_TEXT):
    """Does a later execution of a block read what it changes at a path? `objects`: see is_carried()."""
    loops = [outer for outer in program.around(block.node) if isinstance(outer, (ast.For, ast.While))]
    return any(is_carried(program, loop, path, objects) for loop in loops)


def _changed_by(program, block, seen):
    """Returns {path: where} of what a block changes and does not hold."""
    is_slots = isinstance(block, SlotHolder)
    changed = {name: node for name, node in bound_in(block.node.body) if not (is_slots and block.holds(name))}
    changed.update({path: node for path, node, is_bound in changed_in(block.node.body) if not block.holds(path, is_bound)})
    changed.update({name: block.node for name in shared_names(program) if not block.holds(name)})
    changed.update({path: block.node for path in seen if path not in changed})
    for handle in program.handles():
        changed.pop(handle, None)
    return changed


def _first_read(program, block, changed, objects=_BY_TEXT):
    scope = program.scope_of(block.node)
    is_everywhere = any("." in path for path in changed)
    bound = {name for name, _ in bound_in(block.node.body)}  # of these an adding statement reads which object it is
    outer = _seen_outside(scope, changed, [block.node])
    if outer is not None:
        return outer, changed[outer], changed[outer]
    for path, read in _reads(program, [program.tree if is_everywhere else scope], objects, changed):
        root = path.split(".")[0]
        cause = _cause(changed, path)
        if cause is None or read is block.node or program.is_inside(read, block.node):
            continue
        if cause not in bound and is_adding(program, read) and objects.only_adds(read.value):
            continue
        if "." not in cause and is_local_elsewhere(program, read, root, scope):
            continue
        if not _is_over(program, read, block.node) and not is_bound_near(program, read, root, block.node):
            return cause, changed[cause], read
    return None


def unguarded_in(program, loop, seen=(), is_guarded=False, likely=()):
    """Returns (path, where it is changed) of something that an iteration of a main loop under a guard passes on without
    the guard holding it; None where there is nothing or no guard. `is_guarded`: another file may have the guard. `likely`: names
    that no checkpoint has, of which the recording showed that each iteration that follows one binds them anew, where its text may do so."""
    guards = _guards_of(program, loop)
    if not guards and not is_guarded:
        return None
    return _first_carried(program, loop, _carried_by(program, loop, seen, guards), _is_free(guards), likely=likely)


def unheld_by_steps(program, loop, holder, seen):
    """Returns (path, where it is changed) of something that a step of a loop leaves to the next one or to what follows the loop, and that
    `holder` does not hold; None where there is nothing. `seen`: what steps were seen to change and is not held."""
    elsewhere = next((path for path in seen if ":" in path), None)
    if program.unclear or elsewhere is not None:
        return elsewhere or "a variable", loop
    return _first_carried(program, loop, _carried_by(program, loop, seen, [holder]), True)


def read_from_before(program, loop, path, nodes):
    """Does what has one of these names in it read what a step before left at a path?"""
    return _first_carried(program, loop, {path: loop}, True, among=nodes) is not None


def _guards_of(program, loop):
    return [guard for guard in program.guards if guard.node is loop or
            (not isinstance(guard, SlotHolder) and not program.is_inside(guard.node, loop))]


def _is_free(guards):
    return any(isinstance(guard, SlotHolder) for guard in guards)


def _carried_by(program, loop, seen, guards):
    """Returns {path: where} of what an iteration changes and no guard holds."""
    carried = {}
    for path, node, is_bound in [*((name, node, True) for name, node in bound_in(loop.body)), *changed_in(loop.body)]:
        if not any(guard.holds(path, is_bound) for guard in guards):
            carried.setdefault(path, node)
    carried.update({name: loop for name in shared_names(program) if not any(guard.holds(name) for guard in guards)})
    carried.update({path: loop for path in seen if path not in carried})
    for handle in program.handles():
        carried.pop(handle, None)
    return carried


def _first_carried(program, loop, carried, is_free, objects=_BY_TEXT, likely=(), among=None):
    """`is_free`: the loop may be one in front of the main loop, so that a replay or a resumed recording executes none of it, but
    what follows. `objects`: see is_carried(). `likely`: as of unguarded_in(). `among`: None, or names in what alone counts."""
    scope = program.scope_of(loop)
    bound = {name for name, _ in bound_in(loop.body)}
    outer = _seen_outside(scope, carried, [loop])
    if outer is not None:
        return outer, carried[outer]
    for path, read in _reads(program, [scope], objects, carried):
        root = path.split(".")[0]
        cause = _cause(carried, path)
        if cause is None or is_local_elsewhere(program, read, root, scope):
            continue
        if among is not None and not any(read is node or program.is_inside(node, read) for node in among):
            continue
        if cause not in bound and is_adding(program, read) and objects.only_adds(read.value):
            continue
        if _is_over(program, read, loop) or is_bound_near(program, read, root, loop):
            continue
        # A function may be called before the loop binds the name.
        is_own = program.scope_of(read) is scope and (program.is_inside(read, loop) or not is_free)
        # What has no value in front of the loop is missed loudly where the user names what is held.
        is_sure = (is_free or is_bound_outside(program, loop, root)) and root not in likely
        if not is_own or not is_first_bound(program, loop.body, root, is_sure):
            return cause, carried[cause]
    return None


def _reads(program, nodes, objects, changed):
    """Yields what reads_in() does. A method that is no more than named, as one that is handed on, may be called: it reads all of its object, as
    a property does."""
    for path, read in reads_in(nodes):
        yield (path if _cause(changed, path) is not None else _read_by_code(program, read, objects, changed) or path), read


def _read_by_code(program, read, objects, changed):
    """Returns the path of an object in an expression a.b.c of which a method or a property reads what is changed, or None."""
    while isinstance(read, (ast.Attribute, ast.Subscript)):
        whole = path_of(read.value)
        if isinstance(read, ast.Attribute) and whole and _cause(changed, whole) is not None and objects.runs_code(program, read):
            return whole
        read = read.value
    return None


def _is_over(program, read, changer):
    """Is the read over when the changer begins, for the first time and every other one?"""
    if program.scope_of(read) is not program.scope_of(changer) or read.lineno >= changer.lineno:
        return False
    return not any(isinstance(outer, (ast.For, ast.AsyncFor, ast.While)) and program.is_inside(read, outer)
                   for outer in program.around(changer))


def is_read(frame, block, path, main_loop=None):
    """Does what a block, or an iteration (""), was seen to change matter elsewhere or to its next execution, by the source of its frame? True
    where that is not known. `main_loop`: the name of the loop, of an iteration."""
    program = program_of(frame.f_code.co_filename)
    if program is None or ":" in path:
        return True
    if program.unclear:
        return True
    if path in program.handles():
        return False
    if block:
        blocks = [one for one in program.blocks if one.name in (block, None)]
        return not blocks or any(is_needed(program, one, path, InFrame(frame)) for one in blocks)
    loops = [loop for loop in program.main_loops() if main_loop is None or program.may_be(loop, (main_loop,))]
    return not loops or any(_first_carried(program, loop, {path: loop}, _is_free(_guards_of(program, loop)), InFrame(frame)) is not None for loop in loops)


def needed_by_block(program, block):
    """Returns the paths that a block changes by its text, and that are read elsewhere or the next time: what it
    must hold."""
    return [path for path in _changed_by(program, block, ()) if is_needed(program, block, path)]


def is_needed(program, block, path, objects=_BY_TEXT):
    """Is what a block changes at a path read elsewhere, or by its next execution? `objects`: see is_carried()."""
    if program.unclear or _first_read(program, block, {path: block.node}, objects) is not None:
        return True
    return _reads_again(program, block, path, objects)


def needed_by_loop(program, loop):
    """Returns the paths that an iteration changes by its text, and that it passes on: what a guard must hold."""
    return [path for path in _carried_by(program, loop, (), ()) if is_carried(program, loop, path)]


def is_carried(program, loop, path, objects=_BY_TEXT):
    """Is what an iteration changes at a path read by the next one, or behind the loop? `objects`: what tells what those are whose
    methods are used (_receivers.py)."""
    return bool(program.unclear) or _first_carried(program, loop, {path: loop}, True, objects) is not None


def is_passed_on(program, loop, path, and_behind=False, is_sure=True):
    """May an iteration read what the one before left at a path? `and_behind`: or may what follows the loop, which an iteration may leave at
    its beginning? `is_sure`: as of is_first_bound()."""
    root, scope = path.split(".")[0], program.scope_of(loop)
    if program.unclear or ":" in path:
        return True
    is_own = not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)) or root in _own_of(scope) | parameters_of(scope)
    for other, read in _reads(program, [scope if is_own and "." not in path else program.tree], _BY_TEXT, (path,)):
        is_meant = lies_in(other, path) or lies_in(path, other)
        if is_meant and and_behind and program.scope_of(read) is not scope and not is_local_elsewhere(program, read, root, scope):
            return True  # a function may be called before the loop binds the name
        if is_meant and and_behind and not program.is_inside(read, loop) and not _is_over(program, read, loop):
            return True
        if is_meant and (program.is_inside(read, loop) or program.scope_of(read) is not scope):
            return not is_first_bound(program, loop.body, root, is_sure)
    return False


def _seen_outside(scope, changed, parts):
    """Returns a path among those that are changed in a function and can be seen outside of it: what a parameter, `self` or
    a global variable leads to."""
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    own = _own_of(scope)
    bound = {name for name, _ in bound_in(parts)}
    for path in changed:
        root = path.split(".")[0]
        if root not in own or (root in parameters_of(scope) and root not in bound):
            return path
    return None


def _own_of(function):
    """Returns the names of variables that belong to a function. What it declares `global` or `nonlocal` belongs to others, which may read it."""
    others = {name for node in _walk(function.body) if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    return {name for name, _ in bound_in(function.body)} - others


def _cause(changed, path):
    return next((one for one in changed if lies_in(path, one) or lies_in(one, path)), None)
