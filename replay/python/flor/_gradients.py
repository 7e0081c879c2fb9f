"""Does an iteration of the main loop leave gradients to the next, which something then uses? Read, not run.

It leaves none where the text surely clears all gradients before they are used, or at its end. Checkpoints then leave out the values of
gradients (docs/semantics.md, rule 3); else they hold them, are larger, and right. To clear counts only where the text names one object
(_scopes.py). A step() uses what its optimizer trains, clip_grad_norm_() and `.grad` what they name; where the text does not tell, it
may be the gradients of anything. Functions of installed packages are not followed: one that is given an optimizer uses all."""
import ast
import functools

from ._iteration import State, TooLong, Walk
from ._reading import hiding_in, working_in
from ._scopes import Names, path_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TOUCHING = {"grad", "zero_grad", "zero_", "backward", "step", "unscale_", "clip_grad_norm_", "clip_grad_value_", "clip_grad_norm"}


class Gradients:
    """What a project does with gradients, as its files were read."""

    def __init__(self, project):
        self.project, self.names = project, Names(project)
        self.touching = _functions_touching(project)
        self._working = working_in(project)

    def are_left_by(self, file, loop):
        """Also where the first iteration may find some, and where what follows the loop uses those of the last one."""
        if self.are_hidden_from(file, loop):
            return True
        walk = Walk(self, file, loop)
        try:
            end, left = walk.iteration()
            walk.follow_behind()
        except TooLong:
            return True
        if walk.is_entered_with_gradients():
            end = left = State(frozenset(), frozenset())
        return any(not walk.is_in(thing, left.clean if is_behind else end.clean) for thing, is_behind in walk.used)

    def are_hidden_from(self, file, loop):
        """May the loop do something with gradients that its text does not show? Functions around the loop may be called by whom they will."""
        around, todo = set(), [outer.name for outer in file.around(loop) if isinstance(outer, _FUNCTIONS)]
        while todo:
            name = todo.pop()
            if name not in around:
                around.add(name)
                todo += [outer.name for owner, node in self.names.mentions.get(name, ()) for outer in owner.around(node) if isinstance(outer, _FUNCTIONS)]
        return not self._hiding <= around

    @functools.cached_property
    def _hiding(self):
        return {name for file in self.project.files.values() for name in hiding_in(file, self._working)}

    def surely_calls(self, file, call):
        """Does a call surely execute the function of this name?"""
        if isinstance(call.func, ast.Name):
            return (file.path, call.func.id) not in self.names.bound and self.names.owner(file, call, call.func.id) is None
        words = path_of(call.func)
        if words is None or len(words) != 2:
            return False
        if words[0] in ("self", "cls") or words[0] in file.modules:
            return True
        owner = self.names.owner(file, call, words[0]) or file.path
        made = [value for _, _, _, value in self.names.bound.get((owner, words[0]), ())]
        return len(made) == 1 and isinstance(made[0], ast.Call) and getattr(made[0].func, "id", None) in self.names.classes


def _functions_touching(project):
    """Returns the functions that do something with gradients, themselves or by what they name."""
    naming, todo, touching = {}, list(_TOUCHING), set()
    for named in (project.functions, project.methods):
        for file, function in (pair for pairs in named.values() for pair in pairs):
            for node in file.nodes_in(function):
                word = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None
                naming.setdefault(word, set()).add(function)
    while todo:
        new = naming.pop(todo.pop(), set()) - touching
        touching |= new
        todo.extend(function.name for function in new)
    return touching
