"""The variables of a frame."""
import dis
import functools
import sys

_OPTIMIZED = 1  # inspect.CO_OPTIMIZED: the frame of a function
_OWN_REFERENCES = 3  # to a frame's dict: the frame's, that of the function below, and of sys.getrefcount()
_ALWAYS, _WITHOUT_WORDS = ("locals", "eval", "exec"), ("vars", "dir")  # vars(args) takes none of the function's


def locals_of(frame):
    """Returns a copy of the variables. Before Python 3.13 a frame keeps the dict that it answers with, and so keeps large objects alive
    that the program has dropped; this empties that dict."""
    variables = frame.f_locals
    copy = dict(variables)
    if isinstance(variables, dict) and frame.f_code.co_flags & _OPTIMIZED and sys.getrefcount(variables) <= _OWN_REFERENCES:
        variables.clear()
    return copy


@functools.lru_cache(None)
def takes_locals(code):
    """Does a function take its variables as a dict, which a look at its frame would change? Never from Python 3.13 on."""
    if sys.version_info >= (3, 13) or not code.co_flags & _OPTIMIZED or {*_ALWAYS, *_WITHOUT_WORDS}.isdisjoint(code.co_names):
        return False
    all_of = [one for one in dis.get_instructions(code) if one.opname not in ("PRECALL", "PUSH_NULL")]
    for one, following in zip(all_of, all_of[1:]):
        if one.opname == "LOAD_GLOBAL" and one.argval in _ALWAYS:  # not a method of this name
            return True
        if one.opname == "LOAD_GLOBAL" and one.argval in _WITHOUT_WORDS and following.opname.startswith("CALL") and following.arg == 0:
            return True
    return False


def is_of_flor(value):
    return type(value).__module__.split(".")[0] == "flor"
