"""Leaves of a program's state: tensors, arrays and texts as named memory, and back.

A Leaf is memory that Flor may read now. A Loaded is recorded memory, valid during one call of Flor's."""
import ctypes
import functools
import sys

from . import _text

# Names of types in safetensors, by those of numpy and torch.
_DTYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32",
           "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL", "uint16": "U16", "uint32": "U32",
           "uint64": "U64"}


VOLATILE = "~"  # begins a name that no digest of a state has (core/checkpoint/buffers.h)
MOVED = ".@moved"  # ends the name of an object that is not where it was (_origins.py)
COPY, OWN, LEFT_ALONE = 0, 1, 2  # what flor_buffer.is_own says of memory


def name_of(path, is_volatile=False):
    """Returns the name under which an object is recorded. What begins with `generator.` is the core's."""
    name = f"@{path}" if path.split(".")[0] == "generator" else path
    return VOLATILE + name if is_volatile else name


def path_in(name):
    """Returns the path of a slot whose name in the record this is."""
    return name.lstrip(VOLATILE + "@")


def label(key, index):
    """Returns a part of a leaf's name: the key where it is a plain word, else its place."""
    return key if isinstance(key, str) and key.isidentifier() else f"@{index}"


_NO_HINT = (0, 0)


class Leaf:
    """`owner` keeps the memory at `pointer` alive. `shape` counts elements of `dtype`, and `size` bytes. `is_own`: OWN
    where it is the object's own memory, into which a restore may write; LEFT_ALONE where it may not; or a COPY. `hint`: which
    memory it is and how often it was written (_unchanged.py), or zeros."""

    __slots__ = ("dtype", "shape", "pointer", "size", "owner", "is_own", "hint")  # a state may have very many

    def __init__(self, dtype, shape, pointer, size, owner, is_own=COPY):
        self.dtype, self.shape, self.pointer, self.size, self.owner = dtype, tuple(shape), pointer, size, owner
        self.is_own = is_own
        self.hint = _NO_HINT


class Loaded:
    def __init__(self, buffer):
        self.dtype = buffer.dtype.decode()
        self.shape = tuple(buffer.shape[i] for i in range(buffer.dims))
        self.pointer, self.size = buffer.data, buffer.bytes
        # The object holds the recorded bytes already.
        self.is_there = not buffer.data and 0 not in self.shape

    def memory(self):
        """Returns the bytes without a copy."""
        return (ctypes.c_char * self.size).from_address(self.pointer) if self.size else b""

    def describe(self):
        return f"{self.dtype} of {list(self.shape)}"


def of_bytes(text):
    owner = ctypes.create_string_buffer(text, max(len(text), 1))
    return Leaf("U8", (len(text),), ctypes.addressof(owner), len(text), owner)


def of_pieces(pieces):
    """Returns a text that comes in pieces, which are gone then."""
    owner, size = _text.joined(pieces)
    return Leaf("U8", (size,), ctypes.addressof(owner), size, owner)


def of_bytes_object(value):
    """Returns the memory of bytes; of a bytearray a copy. While Flor reads it another thread may give that other memory, or could not, were its
    buffer exported."""
    is_own = COPY if isinstance(value, bytearray) else LEFT_ALONE
    owner = bytes(value)  # which are the same bytes where it is no bytearray
    return Leaf("U8", (len(owner),), ctypes.cast(ctypes.c_char_p(owner), ctypes.c_void_p).value, len(owner), owner, is_own)


# --- torch ---


def torch_dtype(name):
    torch = sys.modules["torch"]
    for ours, theirs in _DTYPES.items():
        if theirs == name and hasattr(torch, ours):
            return getattr(torch, ours)
    raise TypeError(f"this version of torch has no tensors of type {name}")


def bytes_to_copy(value):
    """Returns how many bytes of a tensor or an array of_tensor() or of_array() would copy: those on a device, or in another order."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        if value.layout != torch.strided:
            return 0
        is_as_it_is = value.device.type == "cpu" and value.is_contiguous() and not value.is_conj() and not value.is_neg()
        return 0 if is_as_it_is else value.numel() * value.element_size()
    return 0 if value.flags.c_contiguous and value.flags.writeable and value.flags.aligned else value.nbytes


def of_tensor(name, tensor):
    """Returns the values of a tensor: of complex numbers pairs of reals, of any device in host memory."""
    torch = sys.modules["torch"]
    if tensor.layout != torch.strided or tensor.is_quantized:
        raise TypeError(f"{name}: a sparse or quantized tensor cannot be saved")
    plain = tensor.detach().resolve_conj().resolve_neg()
    if plain.is_complex():
        plain = torch.view_as_real(plain)
    plain = plain.cpu().contiguous()
    is_own = plain.data_ptr() == tensor.data_ptr() and not tensor.is_complex()
    dtype = _DTYPES.get(str(plain.dtype).replace("torch.", ""))
    if dtype is None:
        raise TypeError(f"{name}: a tensor of type {plain.dtype} cannot be saved")
    return Leaf(dtype, plain.shape, plain.data_ptr(), plain.numel() * plain.element_size(), plain, OWN if is_own else COPY)


def to_tensor(loaded):
    """Returns the recorded values as a tensor of its own memory, on the CPU."""
    torch = sys.modules["torch"]
    dtype = torch_dtype(loaded.dtype)
    if loaded.size == 0:
        return torch.empty(loaded.shape, dtype=dtype)
    return torch.frombuffer(loaded.memory(), dtype=dtype).reshape(loaded.shape).clone()


def fits(tensor, loaded):
    leaf_shape = tuple(tensor.shape) + ((2,) if tensor.is_complex() else ())
    real = tensor.real.dtype if tensor.is_complex() else tensor.dtype
    return _DTYPES.get(str(real).replace("torch.", "")) == loaded.dtype and leaf_shape == loaded.shape


def are_equal(tensor, loaded):
    """Does the tensor have the recorded values, bit for bit?"""
    leaf = of_tensor("", tensor)
    return fits(tensor, loaded) and ctypes.string_at(leaf.pointer, leaf.size) == bytes(loaded.memory())


def write(tensor, loaded):
    """Writes recorded values into the tensor's memory, where they are not there already. They must fit."""
    if loaded.is_there:
        return
    torch = sys.modules["torch"]
    recorded = to_tensor(loaded)
    with torch.no_grad():
        tensor.detach().copy_(torch.view_as_complex(recorded) if tensor.is_complex() else recorded)


def strides_of(tensor):
    """Returns the strides of a tensor that fills its memory in another order than that of its dimensions, or None."""
    if tensor.layout != sys.modules["torch"].strided or tensor.is_contiguous() or not _is_dense(tensor.shape, tensor.stride()):
        return None
    return list(tensor.stride())


def with_strides(tensor, strides):
    """Returns the values with these strides; as they are where the strides would need other memory."""
    if not isinstance(strides, list) or len(strides) != tensor.dim() or not all(type(one) is int and one >= 0 for one in strides) or \
            not _is_dense(tensor.shape, strides):
        return tensor
    return sys.modules["torch"].empty_strided(tensor.shape, strides, dtype=tensor.dtype).copy_(tensor)


def _is_dense(shape, strides):
    size = 1
    for stride, count in sorted((stride, count) for stride, count in zip(strides, shape) if count != 1):
        if stride != size:
            return False
        size *= count
    return True


# --- numpy ---


def is_in_file(array):
    """Is its memory that of a file (numpy.memmap), or a view of it?"""
    numpy = sys.modules["numpy"]
    while isinstance(array, numpy.ndarray):
        array = array.base
    return type(array).__module__ == "mmap"


@functools.lru_cache(256)
def _dtype_of(dtype):
    """Returns the name of numpy's type in safetensors, or None. numpy takes longer to tell a type's name than all else here."""
    return _DTYPES.get(dtype.name) if dtype.isnative else None


def of_array(name, array):
    """Returns the values of an array. What safetensors has no type for is saved as bytes."""
    numpy = sys.modules["numpy"]
    if is_in_file(array):
        raise TypeError(f"{name}: an array in a file cannot be saved")
    if array.dtype.hasobject:
        raise TypeError(f"{name}: an array of objects cannot be saved")
    is_own = array.flags.c_contiguous and array.flags.writeable and array.flags.aligned
    plain = array if is_own else numpy.array(array, order="C", copy=True)
    dtype = _dtype_of(plain.dtype)
    shape = plain.shape if dtype else (plain.nbytes,)
    return Leaf(dtype or "U8", shape, plain.ctypes.data, plain.nbytes, plain, OWN if is_own else COPY)


def of_memory(array):
    """Returns the array's memory to be read, without a copy where it has it in one piece."""
    numpy = sys.modules["numpy"]
    plain = numpy.ascontiguousarray(array)
    return Leaf("U8", (plain.nbytes,), plain.ctypes.data, plain.nbytes, plain)


def to_array(loaded, dtype, shape):
    numpy = sys.modules["numpy"]
    return numpy.frombuffer(bytes(loaded.memory()), dtype=dtype).reshape(shape).copy()


def storage_of(tensor):
    if hasattr(tensor, "untyped_storage"):
        return tensor.untyped_storage()
    return tensor._storage() if hasattr(tensor, "_storage") else tensor.storage()  # the last one takes ten times as long
