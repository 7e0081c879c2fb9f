"""Begins Flor in each Python that a recording or a replay starts: `flor record` and `flor replay` put this folder first in
PYTHONPATH. Then does what the next sitecustomize.py on the path does: a site's own must not be lost."""
import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _others():
    return [path for path in sys.path if os.path.abspath(path or ".") != _HERE]


def _begin():
    found = importlib.machinery.PathFinder.find_spec("flor", _others())
    if found is None:
        sys.path.append(os.path.dirname(_HERE))  # behind everything: the package that lies beside this folder
    elif not os.path.isfile(os.path.join((found.submodule_search_locations or [""])[0], "_hook.py")):
        sys.stderr.write(f"flor: another package of this name is installed ({found.origin}): the program runs as it is\n")
        return
    from flor import _hook

    _hook.begin()


def _next():
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", _others())
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


sys.path[:] = _others()
try:
    _begin()
except Exception as problem:
    sys.stderr.write(f"flor: the program runs as it is ({type(problem).__name__}: {problem})\n")
_next()
