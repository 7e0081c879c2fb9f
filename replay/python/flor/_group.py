"""Sees whether the program trains together with other processes. Launchers tell of a group in variables, but not of one that a program makes by
itself, as where each rank is a step of its own."""
import sys

_noted = False


def note(flor):
    """Notes that this process is in a group of torch.distributed, where it is."""
    global _noted
    if _noted or not is_in_group() or not flor.flor_active():
        return
    _noted = True
    flor.flor_note_group()


def is_in_group():
    """Imports nothing: where the program has not imported torch.distributed, there is no group."""
    distributed = sys.modules.get("torch.distributed")
    is_initialized = getattr(distributed, "is_initialized", None)  # None where this torch was built without
    return is_initialized is not None and is_initialized() and distributed.get_world_size() > 1


def is_time(count):
    """Is it time to call note() in front of a step with this number? A program joins a group early, and its next iteration asks anyway."""
    return count & (count - 1) == 0
