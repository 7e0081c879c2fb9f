"""Starts Flor in this process: the random number generators, the environment and the sources of a program."""
import atexit
import ctypes
import functools
import json
import operator
import os
import platform
import random
import site
import sys
import sysconfig
import threading

from . import _failure, _interrupts, _library, _places
from ._generator_memory import memory_of_numpy, memory_of_random
from ._library import library, put_text, texts_of

_calls = None
_MOST_EARLY = 100000
_early = []  # rows in front of the first loop
_starting = threading.Lock()


def start():
    """Starts Flor at the first call. Returns the library. Thread-safe."""
    global _calls
    if _calls is not None:
        _failure.tell_ends()
        return library
    with _starting:
        if _calls is not None:
            return library
        calls = _library.FrontendCalls(None, _library.ask(_put_generators), _library.tell(_set_generators),
                                        _library.ask(_put_environment), _library.tell(_apply),
                                        _library.ask(_put_sources), _library.ask(_synchronize))
        _interrupts.watch()
        library.flor_start(calls)
        atexit.register(library.flor_detach)
        if library.flor_replaying():
            atexit.register(_failure.tell_ends)  # before the one above
            _failure.watch()
        _calls = calls
        _end_with_child()
        for row in _early:
            library.flor_log(*row)
        _early.clear()
    return library


def log_row(name, text, how):
    """Logs a row of what the program shows. In front of the first loop it waits: a helper that only prints, and a program that
    forks the one that trains, begin no recording and no replay."""
    waits = _calls is None and (os.environ.get("FLOR_RECORD") == "1" or "FLOR_REPLAY" in os.environ)
    if not waits or len(_early) == _MOST_EARLY:
        start().flor_log(name, text, how)
        return
    if not _early and "FLOR_LOG" in os.environ and "FLOR_REPLAY" not in os.environ:
        atexit.register(start)  # where no loop comes, the rows go there
    _early.append((name, text, how))


def _end_with_child():
    """A child of multiprocessing ends by _exit(), and does not call what waits for the end of a process."""
    process, util = sys.modules.get("multiprocessing.process"), sys.modules.get("multiprocessing.util")
    if process is not None and util is not None and process.parent_process() is not None:
        util.Finalize(None, lambda: library.flor_finish(_exit_code()), exitpriority=-100)


def _exit_code():
    """Returns the code that the process will end with, by the exception that is on its way."""
    problem = sys.exc_info()[1]
    code = 0 if problem is None else problem.code if isinstance(problem, SystemExit) else 1
    return code if isinstance(code, int) else 0 if code is None else 1


def _torch():
    """Returns torch where the program has imported it. Flor itself imports it for no one."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and hasattr(torch, "get_rng_state") else None


def _cuda(torch):
    return torch.cuda if torch.cuda.is_available() and torch.cuda.is_initialized() else None


def _legacy_numpy():
    numpy = sys.modules.get("numpy")
    return numpy.random if numpy is not None and hasattr(numpy, "random") else None


# --- generators ---


_texts = {}  # of generators, by name: (what tells that the state is the same, text)


def _text_of(name, sign, make):
    """Returns the text of a generator's state. Most draw nothing in an iteration, and to make a text takes longer than to compare."""
    known = _texts.get(name)
    if known is None or known[0] != sign:
        known = _texts[name] = (sign, json.dumps(make()).encode())
    return known[1]


def _numpy_state(numpy):
    name, keys, position, has_gauss, gauss = numpy.get_state()
    return name, keys.tolist(), position, has_gauss, gauss.hex()


def _put_generators(answer):
    from ._chance import taken

    for name, digest in taken().items():
        put_text(answer, name, digest)
    put_text(answer, "python", _text_of("python", memory_of_random() or random.getstate(), random.getstate))
    numpy = _legacy_numpy()
    if numpy is not None:
        make = functools.partial(_numpy_state, numpy)
        put_text(answer, "numpy", _text_of("numpy", memory_of_numpy(numpy) or make(), make))
    torch = _torch()
    if torch is None:
        return
    put_text(answer, "cpu", _bytes_of(torch.get_rng_state()))
    cuda = _cuda(torch)
    for device in range(cuda.device_count() if cuda else 0):
        put_text(answer, f"cuda{device}", _bytes_of(cuda.get_rng_state(device)))


def _bytes_of(tensor):
    return ctypes.string_at(tensor.data_ptr(), tensor.numel())


def _set_generators(texts, _answer):
    states = texts_of(texts)
    if "python" in states:
        version, internal, gauss = json.loads(states["python"])
        random.setstate((version, tuple(internal), gauss))
    numpy = _legacy_numpy()
    if numpy is not None and "numpy" in states:
        name, keys, position, has_gauss, gauss = json.loads(states["numpy"])
        _places.check((name, keys, position))
        numpy.set_state((name, keys, position, has_gauss, float.fromhex(gauss)))
    torch = _torch()
    if torch is None:
        return
    if "cpu" in states:
        torch.set_rng_state(torch.tensor(list(states["cpu"]), dtype=torch.uint8))
    cuda = _cuda(torch)
    for device in range(cuda.device_count() if cuda else 0):
        if f"cuda{device}" in states:
            cuda.set_rng_state(torch.tensor(list(states[f"cuda{device}"]), dtype=torch.uint8), device)


# --- environment ---


def _determinism(torch):
    cudnn = torch.backends.cudnn
    return "".join("1" if flag else "0" for flag in
                   (torch.are_deterministic_algorithms_enabled(), cudnn.deterministic, cudnn.benchmark))


def _cpu_capability(torch):
    for line in torch.__config__.show().splitlines():
        if "CPU capability usage: " in line:
            return line.split("CPU capability usage: ")[1].strip()
    return ""


def _environment():
    out = {"python": platform.python_version()}
    if "numpy" in sys.modules:
        out["numpy"] = sys.modules["numpy"].__version__
    torch = _torch()
    if torch is not None:
        cuda = _cuda(torch)
        names = [cuda.get_device_name(device) for device in range(cuda.device_count())] if cuda else []
        out.update({"threads": str(torch.get_num_threads()), "cpu": _cpu_capability(torch), "gpu": ", ".join(names),
                    "torch": torch.__version__, "determinism": _determinism(torch)})
    return out


def _put_environment(answer):
    for key, value in _environment().items():
        put_text(answer, key, value.encode())


def _apply(texts, _answer):
    recorded = {key: value.decode() for key, value in texts_of(texts).items()}
    # The first call of Flor may stand in front of an import.
    for name in ("numpy", "torch"):
        if name in recorded and name not in sys.modules:
            __import__(name)
    torch = _torch()
    if torch is None or "torch" not in recorded:
        return
    threads = int(recorded.get("threads") or 0)
    if threads > 0 and threads != torch.get_num_threads():
        torch.set_num_threads(threads)
    flags = recorded.get("determinism", "")
    if len(flags) == 3 and flags != _determinism(torch):
        torch.use_deterministic_algorithms(flags[0] == "1")
        torch.backends.cudnn.deterministic = flags[1] == "1"
        torch.backends.cudnn.benchmark = flags[2] == "1"


def _synchronize(_answer):
    torch = _torch()
    if torch is not None and _cuda(torch):
        torch.cuda.synchronize()


# --- sources ---


@functools.lru_cache(None)
def _installed(_path):
    """Folders of what is not the user's own, for a search path: with and without links."""
    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    paths.update(getattr(site, "getsitepackages", list)())
    paths.add(site.getusersitepackages())
    paths.update(path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages"))
    paths.add(os.path.dirname(os.path.abspath(__file__)))
    paths.update([os.path.realpath(path) for path in paths if path])
    return tuple(path + os.sep for path in paths if path)


def is_users(module):
    """Is it a module of the user's own, neither of Python's nor of an installed package?"""
    return _source_of(module) is not None


def _source_of(module):
    name, file = getattr(module, "__name__", ""), getattr(module, "__file__", None)
    if not isinstance(file, str) or not file.endswith(".py") or name in ("sitecustomize", "usercustomize"):
        return None
    if name.startswith("_remote_module_"):  # torch.distributed writes it into a temporary folder of each process
        return None
    return _source_at(file)


def is_users_file(file):
    """As is_users(), of a module's file."""
    return _source_at(file) is not None


def _source_at(file):
    if file not in _sources:
        installed = _installed(tuple(sys.path))
        path = None if file.startswith(installed) else os.path.realpath(file)
        _sources[file] = path if path and not path.startswith(installed) and os.path.isfile(path) else None
    return _sources[file]


_sources = {}  # by __file__


def users_modules():
    """Each look asks, and there are a thousand modules of others: the answer is kept while these are the same."""
    modules = list(sys.modules.values())
    if len(modules) != len(_imported) or any(map(operator.is_not, modules, _imported)):
        _imported[:], _users[:] = modules, [module for module in modules if is_users(module)]
    return list(_users)


_imported, _users = [], []


def _put_sources(answer):
    for module in users_modules():
        put_text(answer, _source_of(module), b"")
