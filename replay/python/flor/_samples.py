"""Digests of memory that is looked at again and again: of a large one of samples alone."""
import ctypes

from ._library import library

_SAMPLE = 4096  # bytes


def digests_of(leaf, whole, many):
    """Returns the digest of a leaf, or, where it has more than `whole` bytes, those of `many` samples of it."""
    if leaf.size <= whole:
        parts = [(0, leaf.size)]
    else:
        parts = [((leaf.size - _SAMPLE) * i // (many - 1), _SAMPLE) for i in range(many)]
    text = ctypes.create_string_buffer(33)
    digests = []
    for begin, size in parts:
        library.flor_digest(leaf.pointer + begin, size, text)
        digests.append(text.value)
    return digests
