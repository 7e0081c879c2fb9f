"""Begins Flor in each Python that a recording or a replay starts: `flor record` and `flor replay` put this folder first in
PYTHONPATH. Then does what the next sitecustomize.py on the path does: a site's own must not be lost.

Any Python may read this file, so it uses nothing that an old one lacks."""
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _begin(others):
    from importlib.machinery import PathFinder

    found = PathFinder.find_spec("flor", others)
    if found is None:
        sys.path.append(os.path.dirname(_HERE))  # behind everything: the package that lies beside this folder
    elif not os.path.isfile(os.path.join((found.submodule_search_locations or [""])[0], "_hook.py")):
        sys.stderr.write("flor: another package of this name is installed ({}): the program runs as it is\n".format(found.origin))
        return
    from flor import _hook

    _hook.begin()


def _next(others):
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != _HERE]
_others = list(sys.path)
if sys.version_info >= (3, 9):
    try:
        _begin(_others)
    except Exception as problem:
        sys.stderr.write("flor: the program runs as it is ({}: {})\n".format(type(problem).__name__, problem))
if sys.version_info >= (3, 5):
    _next(_others)
