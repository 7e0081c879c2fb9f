"""Classes whose objects a record may set. It may be a copy of another user's, and what it sets must not decide which code runs, or which
files are written and removed."""
import os
import sys
import sysconfig
import weakref

# Packages of loggers and progress bars: what these keep for themselves is no state, and stays as it is in the program that runs.
OF_LOGGERS = {"logging", "tqdm", "tensorboard", "tensorboardX", "wandb", "mlflow", "comet_ml", "neptune", "clearml", "aim", "visdom",
              "swanlab", "dvclive", "loguru", "rich", "alive_progress", "progressbar"}
# Of Python's own library: modules whose objects are data alone, and single classes of others.
_MODULES = {"_collections_abc", "abc", "collections", "collections.abc", "configparser", "datetime", "decimal", "enum", "fractions", "numbers",
            "random", "statistics", "string", "types", "typing"}
_CLASSES = {"argparse.Namespace", "argparse._AttributeHolder", "optparse.Values", "_random.Random", "contextlib.ContextDecorator", "contextlib.AbstractContextManager",
            "contextlib.AbstractAsyncContextManager"}
_BUILTIN = (object, dict, list, tuple, set, frozenset, int, float, complex, str, bytes, bytearray)
_OF_LOGGERS_WITHIN = ("torch.utils.tensorboard",)
_known = weakref.WeakKeyDictionary()


def is_of_loggers(kind):
    return is_name_of_loggers(str(kind.__module__))


def is_name_of_loggers(module):
    return module.partition(".")[0] in OF_LOGGERS or module.startswith(_OF_LOGGERS_WITHIN)


def is_settable(kind):
    """Is it a class of the program's or of a package's, and so are those that it is derived from? Of Python's own classes few are."""
    if kind not in _known:
        _known[kind] = all(_is_data(one) for one in kind.__mro__)
    return _known[kind]


def _is_data(kind):
    from ._runtime import is_users

    module = str(kind.__module__)
    if kind in _BUILTIN or is_users(sys.modules.get(module)):
        return True
    if module.partition(".")[0] in _standard_names():
        return module in _MODULES or f"{module}.{kind.__qualname__}" in _CLASSES
    return not is_of_loggers(kind)


def _standard_names():
    names = getattr(sys, "stdlib_module_names", None)  # since Python 3.10
    if names is None:
        folder = sysconfig.get_path("stdlib")
        names = {name.partition(".")[0] for name in os.listdir(folder)} | set(sys.builtin_module_names)
    return names
