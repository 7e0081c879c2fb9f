"""What a module has beside its tensors: flags, and attributes that are data."""
import sys

from ._left_out import state_of


def flags_of(module, state_of=state_of):
    """`state_of`: as of _left_out.py, where the caller has asked before."""
    parameters = list(module.parameters())
    return {"training": [part.training for part in module.modules()],
            "requires_grad": [parameter.requires_grad for parameter in parameters],
            "gradient": [state_of(parameter) for parameter in parameters]}


def plain_attributes(module):
    """Returns the attributes of a module that are data and neither parameters, buffers nor modules: numbers, texts, and
    containers of these."""
    return {key: value for key, value in vars(module).items() if may_be_plain(key) and is_data(value)}


def may_be_plain(key):
    """May a module have data under this name? Hooks, parameters and modules are kept under names of PyTorch's own."""
    return not key.startswith("_") and key != "training"


def has_more_attributes(modules, plain):
    """Has a module, by its name, attributes that are data and that the recorded `plain` ones lack?"""
    return any(key not in plain.get(name, ()) for name, module in modules.items() for key in plain_attributes(module))


def is_data(value, depth=0):
    """Is it a number, a text, or a small container of these?"""
    if isinstance(value, (bool, int, float, str, type(None))):
        return True
    if depth > 3 or not isinstance(value, (list, tuple, dict)) or len(value) > 1000:
        return False
    return all(is_data(item, depth + 1) for item in (value.values() if isinstance(value, dict) else value))


def has_extra_state(module):
    return type(module).get_extra_state is not sys.modules["torch"].nn.Module.get_extra_state
