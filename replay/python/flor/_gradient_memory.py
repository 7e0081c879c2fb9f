"""Does a gradient share its memory, as where all gradients lie in one buffer that the program has, or where two parameters have the same
one? A restore gives each gradient memory of its own, so that the program would go on with another one than it sees. Gradients that PyTorch
made as parts of one buffer, as those of parameters that torch.stack() joined, have nobody else who sees them."""
import bisect

from ._leaves import storage_of


class GradientMemory:
    """Where the tensors and the gradients of one save lie."""

    def __init__(self):
        self._tensors, self._gradients = set(), {}  # buffers; {buffer: sorted (begin, end, id of the parameter)}

    def takes(self, tensor):
        """Notes a tensor. Returns False where a gradient lies in its buffer."""
        buffer = _buffer_of(tensor)
        self._tensors.add(buffer)
        return buffer is None or buffer not in self._gradients

    def takes_gradient(self, parameter, gradient):
        """Notes the gradient of a parameter. Returns False where a tensor lies in its buffer, or the gradient of another parameter in its
        memory."""
        buffer = _buffer_of(gradient)
        if buffer is None:
            return True
        if buffer in self._tensors:
            return False
        others, own = self._gradients.setdefault(buffer, []), (*_range_of(gradient), id(parameter))
        at = bisect.bisect(others, own)
        if own in others[max(at - 1, 0):at]:
            return True
        others.insert(at, own)
        return (at == 0 or others[at - 1][1] <= own[0]) and (at + 1 == len(others) or own[1] <= others[at + 1][0])


def _buffer_of(tensor):
    """Returns where the buffer of a tensor begins. None: it has none of its own kind."""
    if str(tensor.layout) != "torch.strided" or tensor.numel() == 0:
        return None
    address = storage_of(tensor).data_ptr()
    return (str(tensor.device), address) if address else None


def _range_of(tensor):
    """Returns the bytes in which its elements lie."""
    begin = tensor.data_ptr()
    last = sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride()))
    return begin, begin + (last + 1) * tensor.element_size()
