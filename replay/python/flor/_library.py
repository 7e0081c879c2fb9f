"""libflor-c by ctypes (flor/c.h): loads it, declares its functions, makes Python's functions its callbacks."""
import ctypes
import pathlib

from . import _interrupts
from ._room import NoRoom

_VERSION = 6  # of the interface: FLOR_C_VERSION

Answer = ctypes.c_void_p


class Buffer(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("dims", ctypes.c_int32), ("is_own", ctypes.c_int32), ("data", ctypes.c_void_p), ("bytes", ctypes.c_uint64),
                ("memory", ctypes.c_uint64), ("version", ctypes.c_uint64)]


_Ask = ctypes.CFUNCTYPE(None, ctypes.c_void_p, Answer)
Tell = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, Answer)
_AskWhether = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, Answer)


class FrontendCalls(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("generators", _Ask), ("set_generators", Tell), ("environment", _Ask),
                ("apply", Tell), ("sources", _Ask), ("synchronize", _Ask)]


class StateCalls(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("save", _Ask), ("check", Tell), ("restore", Tell),
                ("expect", Tell), ("ready", _AskWhether)]


_FUNCTIONS = {
    "flor_c_version": (ctypes.c_int32, []),
    "flor_start": (None, [ctypes.POINTER(FrontendCalls)]),
    "flor_detach": (None, []),
    "flor_finish": (None, [ctypes.c_int32]),
    "flor_recording": (ctypes.c_int32, []),
    "flor_replaying": (ctypes.c_int32, []),
    "flor_active": (ctypes.c_int32, []),
    "flor_enter_loop": (None, [ctypes.c_char_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_int64]),
    "flor_next": (ctypes.c_int32, [ctypes.c_int32, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64)]),
    "flor_begin": (None, [ctypes.c_int64]),
    "flor_leave_loop": (None, [ctypes.c_int32]),
    "flor_new_state": (ctypes.c_void_p, [ctypes.POINTER(StateCalls)]),
    "flor_free_state": (None, [ctypes.c_void_p]),
    "flor_enter_block": (ctypes.c_int32, [ctypes.c_char_p, ctypes.c_void_p]),
    "flor_leave_block": (None, [ctypes.c_int32]),
    "flor_enter_guard": (None, [ctypes.c_void_p]),
    "flor_leave_guard": (None, [ctypes.c_void_p]),
    "flor_note_unheld": (None, [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int32]),
    "flor_note_group": (None, []),
    "flor_spent": (None, [ctypes.c_double]),
    "flor_cannot_go_on": (None, [ctypes.c_char_p]),
    "flor_reject": (None, [ctypes.c_char_p]),
    "flor_log": (None, [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int32]),
    "flor_number_text": (None, [ctypes.c_double, ctypes.c_char_p]),
    "flor_argument": (ctypes.c_char_p, [ctypes.c_char_p, ctypes.c_char_p]),
    "flor_use_argument": (None, [ctypes.c_char_p, ctypes.c_char_p]),
    "flor_room": (ctypes.c_uint64, []),
    "flor_digest": (None, [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_char_p]),
    "flor_warn": (None, [ctypes.c_char_p]),
    "flor_put_buffer": (None, [Answer, ctypes.POINTER(Buffer)]),
    "flor_put_text": (None, [Answer, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64]),
    "flor_fail": (None, [Answer, ctypes.c_char_p]),
    "flor_fail_for_memory": (None, [Answer, ctypes.c_char_p]),
    "flor_done": (None, [Answer]),
    "flor_tensors_count": (ctypes.c_uint64, [ctypes.c_void_p]),
    "flor_tensors_at": (None, [ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(Buffer)]),
    "flor_texts_count": (ctypes.c_uint64, [ctypes.c_void_p]),
    "flor_texts_at": (None, [ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(ctypes.c_char_p),
                             ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint64)]),
}


def _load():
    path = str(pathlib.Path(__file__).parent / "libflor-c.so")
    try:
        library = ctypes.CDLL(path)
    except OSError as problem:
        raise ImportError(f"flor: its library cannot be loaded: {problem}; install the package flor again") from None
    library.flor_c_version.restype = ctypes.c_int32
    lacks = [name for name in _FUNCTIONS if not hasattr(library, name)]
    if library.flor_c_version() != _VERSION or lacks:
        raise ImportError(f"flor: {path} is of another version than this package; install the package flor again")
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


library = _load()

def answering(call):
    """Makes a function a call that Flor may make. What it raises becomes the reason that Flor gives. Without an answer, as where
    the program interrupts it, Flor calls again."""

    def called_by_flor(_context, *given):
        answer = given[-1]
        try:
            call(*given)
            library.flor_done(answer)
        except NoRoom as problem:
            library.flor_fail_for_memory(answer, str(problem).encode())
        except BaseException as problem:
            if _interrupts.is_programs(problem):
                _interrupts.keep(problem)
            else:
                library.flor_fail(answer, f"{type(problem).__name__}: {problem}".encode())

    return called_by_flor


def ask(call):
    """Returns a callback of f(answer)."""
    return _Ask(answering(call))


def ask_whether(call):
    """Returns a callback of f(a number, answer)."""
    return _AskWhether(answering(call))


def tell(call):
    """Returns a callback of f(what Flor tells, answer)."""
    return Tell(answering(call))


def texts_of(texts):
    """Returns recorded texts as {key: bytes}."""
    out = {}
    key, text, size = ctypes.c_char_p(), ctypes.c_void_p(), ctypes.c_uint64()
    for index in range(library.flor_texts_count(texts)):
        library.flor_texts_at(texts, index, ctypes.byref(key), ctypes.byref(text), ctypes.byref(size))
        out[key.value.decode()] = ctypes.string_at(text, size.value) if size.value else b""
    return out


def put_text(answer, key, text):
    """Puts bytes under a key, in a callback that was asked."""
    library.flor_put_text(answer, key.encode(), text, len(text))


def warn(text):
    """Prints a warning of Flor's, once for each text."""
    library.flor_warn(text.encode())
