"""What is seen to change of a block's or an iteration's objects, and is held from then on."""
import random
import sys

from . import _interrupts, _library
from ._block import budget, note
from ._passing import PassingState
from ._program import program_of
from ._roots import members_of, root_of
from ._runtime import users_modules
from ._seen import changed
from ._unsaved import is_partly_saved

_SMALL, _FEW = 10000, 256  # elements of a list or text, and of a tensor
_unasked = {}  # {(name, path)}: of variables that nothing reads by the text, can they be saved?
_holding = {"gradients": False}  # from a loop that reads them behind its blocks on, all checkpoints hold them


def hold_gradients():
    _holding["gradients"] = True


def safely(fallback, call, *words):
    """Calls what is Flor's own. The program does not see its exceptions."""
    try:
        return call(*words)
    except Exception as problem:
        if _interrupts.is_programs(problem):
            raise
        _library.warn(f"what the program changes is not watched any more ({type(problem).__name__}: {problem})")
        return fallback


def is_asked_for(value):
    """Is it worth holding though nothing reads it yet? A module, a generator, a number, a text, a small tensor, a list of
    numbers."""
    if value is None or isinstance(value, (bool, int, float)):
        return True
    if isinstance(value, str):
        return len(value) < _SMALL
    if isinstance(value, (list, tuple)):
        return len(value) < _SMALL and all(isinstance(item, (bool, int, float, str)) for item in value)
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, (torch.nn.Module, torch.Generator)) or isinstance(value, random.Random):
        return True
    if torch is not None and isinstance(value, torch.Tensor):
        return value.numel() <= _FEW
    return numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)) and value.size <= _FEW


class Watched:
    """Slots of a block or of the main loop's iterations (""), and what is found to change. `place`: the name under which changes
    that nothing reads are noted; unlike `name` it differs between main loops."""

    passing = None  # as of iterate()

    def __init__(self, flor, name, frame, paths, place=None):
        self.flor, self.name, self.frame, self.place = flor, name, frame, place or name
        self.state = PassingState(frame, paths, self._cannot_save, self.is_volatile, _holding["gradients"], self.passes_on)
        self.state.of = name
        self._roots = None  # names in front of the first execution
        self._referred = {}  # {path: what refers to it and is held}, as of Prints

    def refuse(self, path, why="cannot be saved"):
        what = path.replace(":@", "'s ").replace(":", ".")
        note(self.flor, self.name, path, True, f"block {self.name} changes {what}, which {why}: replays and a resumed "
             "recording execute the block" if self.name else f"{what} changes from iteration to iteration and {why}: replays and "
             "a resumed recording begin at the program's start")
        if path in self._referred:  # also where no text reads it
            note(self.flor, self.name, f"{self._referred[path]}:{path}", False)

    def _cannot_save(self, path):
        """Without it, what was held though nothing reads it is held no more, as a variable for the gradient of a parameter."""
        if (self.name, path) not in _unasked or path in self._referred or self.needs(path):
            return self.refuse(path)
        _unasked[self.name, path] = False
        return note(self.flor, self.place, path, False)

    def is_volatile(self, path):
        """Does the text of the program, or of the module that has the variable, take it from a clock? Not so a model."""
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(self.state.places.get(path), (torch.nn.Module, torch.optim.Optimizer, torch.Tensor)):
            return False
        module = sys.modules.get(path.rpartition(":")[0])
        program = program_of(getattr(module, "__file__", "") if module else self.frame.f_code.co_filename)
        return program is not None and not program.moments().isdisjoint(path.rpartition(":")[2].split("."))

    passes_on = None  # as of SlotState
    is_unsure = False  # part of a value that is held now changed, and is in no checkpoint; the next look shows whether it goes on changing

    def look(self, must, state=None):
        """Looks with what is held by a state, this one's or another, left out."""
        if not must and not budget().has_time():
            return None
        state = state or self.state
        moved_from = state.origins[0].moved_from if state.origins else None
        found = budget().look(self.frame, state.values, users_modules, frozenset(state.paths), must, moved_from)
        if found is not None:
            self._referred.update({path: owner for path in found if (owner := found.owner_of(path)) is not None})
        return found

    @staticmethod
    def fingerprint_of(sources, must=False):
        """Returns the fingerprint of what gives a loop its elements (_overlooked.py), or None where there was no time."""
        return budget().spend(sources.fingerprint, must) if sources.hidden else sources.fingerprint()

    def compare(self, before, after, is_late=False):
        """Takes in what changed. `is_late`: checkpoints were taken since. Returns what to compare the next look with; None
        where that is not known, which is noted."""
        following = safely(None, self._take_in, before, after, is_late)
        if following is None:
            note(self.flor, self.name, "*", True)
        return following

    def _take_in(self, before, after, is_late):
        paths = todo = list(dict.fromkeys(self.slot_of(path, before) for path in changed(before, after)))
        came = [] if is_late else [path for path in set(after) - set(before) if "." not in path]
        following = after
        while following is not None:
            count = len(self.state.paths)
            for path in todo:
                self._take_path(path, before, after, is_late)
            for path in came:
                self._add_unasked(path)
            if len(self.state.paths) == count:
                break
            following = self.look(True)
            # What is held now may refer to what nothing seemed to read.
            todo, came = [path for path in paths if path in self._referred and path not in self.state.paths], ()
        return following

    def _take_path(self, path, before, after, is_late):
        is_referred = path in self._referred
        if path in self.state.paths:
            self.refuse(path)
        elif is_referred or self.needs(path):
            if is_late:
                self.refuse(path, "was not saved before that was seen")
            elif not self._add(path):
                self.refuse(path)
            else:
                _unasked.pop((self.name, path), None)
                self.is_unsure |= is_partly_saved(before, after, path)
                if is_referred:  # the text does not tell a replay that it is held
                    note(self.flor, self.place, "+" + path, False)
        elif is_late or not self._add_unasked(path):
            note(self.flor, self.place, path, False)

    def slot_of(self, path, before):
        """Members of an object that was not there in front of the loop or block are no places of their own."""
        if self._roots is None:
            self._roots = {root_of(one) for one in before}
        root = root_of(path)
        return path if root in self._roots else root

    def is_wanted(self, path):
        value = self.state.places.get(path)
        return "." in path or is_asked_for(value) or members_of(value) is not None  # it is another object now

    def _add_unasked(self, path):
        """Holds what nothing reads by the text: a member of an object, which a method may read, and what a later question may ask
        for, modules and small values."""
        is_known = path in self.state.paths
        is_held = is_known or (_unasked.get((self.name, path), True) and self.is_wanted(path) and self._add(path))
        if is_held and not is_known and "." not in path and ":" not in path:
            _unasked[self.name, path] = True
        if is_held:
            note(self.flor, self.place, "+" + path, False)
        return is_held

    def _add(self, path):
        return budget().charge(lambda: self.state.add(path))

    def close(self):
        self.state.close()
        self.state = self.frame = None
