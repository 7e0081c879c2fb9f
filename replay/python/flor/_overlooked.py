"""What a look (_seen.py) does not see between two steps: progress bars, and what only the elements of the loop lead to."""
import sys

from ._passing import _is_progress_bar
from ._roots import is_of_loader, members_of, roots_of
from ._runtime import users_modules
from ._seen import _Late, _Look

BARS = "@bars"  # the name under which the record has those that live from iteration to iteration
_OF_BARS = {"tqdm", "rich", "alive_progress", "progressbar"}  # packages


def bars_in(frame):
    """Returns the paths of variables, and of members of theirs, that are progress bars: what they keep is never saved, and a log statement may
    read it."""
    if not any(package in sys.modules for package in _OF_BARS):
        return []
    roots = roots_of(frame, users_modules())
    found = [path for path, value in roots.items() if _is_bar(value)]
    return found + [f"{path}.{name}" for path, value in roots.items() for name, item in (members_of(value) or {}).items() if _is_bar(item)]


def _is_bar(value):
    return not isinstance(value, type) and any(kind.__module__.partition(".")[0] in _OF_BARS for kind in type(value).__mro__)


def sources_of(iterable, frame):
    """Returns the objects that give a loop its elements and are no variable, nor a member of one, and the values of all variables."""
    roots = list(roots_of(frame, users_modules()).values())
    known = {id(value) for value in roots} | {id(item) for value in roots for item in (members_of(value) or {}).values()}
    return [one for one in _givers_of(iterable) if id(one) not in known], roots


def _givers_of(iterable):
    if _is_progress_bar(iterable):
        return _givers_of(iterable.iterable)
    if isinstance(iterable, (range, str, bytes)):
        return []
    if is_of_loader(iterable):
        return [vars(iterable).get("dataset", vars(iterable).get("_dataset"))]
    if hasattr(iterable, "mapping"):  # a view of a dict
        return [dict(iterable.mapping)]
    if hasattr(iterable, "__len__"):
        return [iterable]
    try:
        parts = iterable.__reduce__()[1]
    except TypeError:
        return [iterable]
    return [one for part in parts if not isinstance(part, int) for one in _givers_of(part)]


def print_of(values, held):
    """Returns the fingerprint of objects without what can be reached from others. None where the time is not enough."""
    try:
        return _Look(held, frozenset(), None, {}).fingerprint(values)
    except _Late:
        return None
