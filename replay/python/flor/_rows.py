"""flor.log and flor.arg."""
import ctypes
import json
import sys

from ._leaves import of_array, of_tensor
from ._library import library, warn
from ._runtime import start

# Larger tensors are logged by digest: a log is not the place for a model.
_MOST_ELEMENTS = 1024


def log(name, value, volatile=False):
    """Logs a row, with the loops around it as columns, and prints it: a name, and a number, text, None, or lists, dicts, arrays
    and tensors of these; of anything else its str(). Returns the value.

    A tensor or array of more than 1024 elements is logged by its type, shape and digest; an integer beyond 64 bits as a text.
    Raises for a sparse tensor. `volatile`: the value may differ
    between executions, as a time does; a replay compares no such values."""
    start().flor_log(name.encode(), _json_text(value).encode(), volatile)
    return value


def row_of(value):
    """Returns the JSON text of a number, an array, a tensor, or a list or dict of these; None for any other value."""
    return _json_text(value) if _is_data(value, 0) else None


def _is_data(value, depth):
    if isinstance(value, (bool, int, float)):
        return True
    if isinstance(value, (list, tuple)):
        return 0 < len(value) <= _MOST_ELEMENTS and depth < 3 and all(_is_data(item, depth + 1) for item in value)
    if isinstance(value, dict):
        return 0 < len(value) <= _MOST_ELEMENTS and depth < 3 and all(_is_data(item, depth + 1) for item in value.values())
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        return value.layout == torch.strided and not value.is_quantized
    return numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)) and value.dtype.kind in "biufc"


def arg(name, default):
    """Returns a hyper-parameter, as a value of the default's type: of `flor record --arg NAME=VALUE`, `srun --flor-arg` or
    FLOR_ARGS, in a replay of the record, else `default`.

    `default`: bool, int, float or str; else raises TypeError. A text that is no such value gives a warning, and the default."""
    flor = start()
    kind = type(default)
    if kind not in _PARSERS:
        raise TypeError(f"flor.arg({name!r}): the default is a {kind.__name__}; it must be a bool, int, float or str")
    fallback = default if kind is str else _json_text(default)
    text = flor.flor_argument(name.encode(), fallback.encode()).decode()
    try:
        return _PARSERS[kind](text)
    except ValueError:
        flor.flor_use_argument(name.encode(), fallback.encode())
        warn(f"argument {name}={text} is no {_KINDS[kind]}: the default {fallback} is used")
        return default


def _truth(text):
    if text in ("true", "1"):
        return True
    if text in ("false", "0"):
        return False
    raise ValueError(text)


_KINDS = {bool: "bool (true or false)", int: "int", float: "float"}
_PARSERS = {bool: _truth, int: int, float: float, str: str}


def _number(value):
    text = ctypes.create_string_buffer(48)
    library.flor_number_text(value, text)
    return text.value.decode()


def _json_text(value):
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        return str(int(value)) if -(1 << 63) <= value < 1 << 64 else json.dumps(str(int(value)))
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_json_text(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(str(key), ensure_ascii=False)}:{_json_text(item)}"
                              for key, item in value.items()) + "}"
    return _array_text(value)


def _array_text(value):
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        tensor = value.detach()
        if tensor.is_complex():
            tensor = torch.view_as_real(tensor.resolve_conj())
        return _json_text(tensor.tolist()) if tensor.numel() <= _MOST_ELEMENTS else _digest(of_tensor("a row", tensor))
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        array = numpy.asarray(value)
        return _json_text(array.tolist()) if array.size <= _MOST_ELEMENTS else _digest(of_array("a row", array))
    return json.dumps(str(value), ensure_ascii=False)


def _digest(leaf):
    digest = ctypes.create_string_buffer(33)
    library.flor_digest(leaf.pointer, leaf.size, digest)
    return json.dumps({"dtype": leaf.dtype, "shape": list(leaf.shape), "xxh3": digest.value.decode()})
