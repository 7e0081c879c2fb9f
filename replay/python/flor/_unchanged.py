"""Tells Flor which memory a tensor has and how often it was written, so that it need not write again what stays as it is: the
frozen part of a model (flor/c.h, flor_buffer.memory). No proof: Flor compares the bytes as well."""

_NONE = (0, 0)


def hint_of(tensor):
    """Returns (number of its memory, version), or zeros where it is likely to change: what is trained."""
    if tensor.requires_grad or tensor.is_inference():
        return _NONE
    try:
        return tensor.data_ptr(), tensor._version
    except (NotImplementedError, RuntimeError):
        return _NONE  # it has no memory of its own
