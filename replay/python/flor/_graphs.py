"""Tensors that a later backward() may go through: to what the tensor was computed from. A checkpoint has their values alone."""

_MOST = 10000  # nodes


def is_live(tensor, freed):
    """Does a way lead from a tensor to parameters on which backward() has freed nothing? What it has freed, a second backward() refuses.
    `freed`: a set of nodes of which that is known, of tensors that were asked about a moment ago. To ask one takes PyTorch long."""
    if tensor.grad_fn is None:
        return False
    waiting, seen = [tensor.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node in seen or node in freed:
            continue
        if _is_freed(node):
            freed.add(node)
            continue
        seen.add(node)
        if type(node).__name__ == "AccumulateGrad" or len(seen) > _MOST:
            return True
        waiting.extend(following for following, _ in node.next_functions if following is not None)
    return False


def _is_freed(node):
    names = [name for name in dir(node) if name.startswith("_saved_")] or [name for name in ("saved_tensors",) if hasattr(type(node), name)]
    try:
        for name in names:
            getattr(node, name)
    except RuntimeError:
        return True
    return False
