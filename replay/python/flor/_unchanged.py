"""Tells Flor which memory a tensor has and how often it was written, so that it need not write again what stays as it is: the
frozen part of a model, and what an iteration leaves as its block did (flor/c.h, flor_buffer.memory). No proof: Flor compares the bytes as well."""

_NONE = (0, 0)


def hint_of(tensor):
    """Returns (number of its memory, version), or zeros where torch counts no versions of it."""
    if tensor.is_inference():
        return _NONE
    try:
        # A view has the first address of its whole, and its version.
        return hash((tensor.data_ptr(), tensor.numel())) & _MOST or 1, tensor._version
    except (NotImplementedError, RuntimeError):
        return _NONE  # it has no memory of its own


_MOST = (1 << 64) - 1
