"""Does a gradient share its memory, as where all gradients lie in one buffer, or where two parameters have the same one? A restore gives each
gradient memory of its own, so that the program would go on with another one than it sees."""
from ._leaves import storage_of


class GradientMemory:
    """Where the tensors and the gradients of one save lie."""

    def __init__(self):
        self._tensors, self._gradients = set(), {}

    def takes(self, tensor):
        """Notes a tensor. Returns False where a gradient lies there."""
        place = _place_of(tensor)
        self._tensors.add(place)
        return place is None or place not in self._gradients

    def takes_gradient(self, parameter, gradient):
        """Notes the gradient of a parameter. Returns False where a tensor, or the gradient of another parameter, lies there."""
        place = _place_of(gradient)
        return place is None or place not in self._tensors and self._gradients.setdefault(place, id(parameter)) == id(parameter)


def _place_of(tensor):
    """Returns where the memory of a tensor begins. None: it has none of its own kind."""
    if str(tensor.layout) != "torch.strided" or tensor.numel() == 0:
        return None
    address = storage_of(tensor).data_ptr()
    return (str(tensor.device), address) if address else None
