"""What the slots of a present program hold: what those of the recorded one held, and the record notes beside that."""
from ._held import needed_by_block, needed_by_loop
from ._holders import SlotHolder
from ._rebound import LACKED


def take_slots(recorded, present, seen):
    """Gives the blocks and guards of the present program the slots that the recorded ones had: what they needed, unless it was noted that it was not
    held, and what was held beside that ("+"), without what the checkpoints lacked. What only the present ones need is no slot."""
    for holder in [*present.blocks, *present.guards]:
        if not isinstance(holder, SlotHolder):
            continue
        twin = next((one for one in [*recorded.blocks, *recorded.guards] if one.name == holder.name), None)
        needed = []
        if isinstance(twin, SlotHolder):
            is_block = twin in recorded.blocks
            needed = needed_by_block(recorded, twin) if is_block else needed_by_loop(recorded, twin.node)
        lacked = lacked_by(holder.name, seen)
        held = [*needed, *(path[1:] for name, path in seen if name == holder.name and path.startswith("+"))]
        holder.takes([path for path in held if path not in lacked])


def lacked_by(name, seen):
    """Returns the names of variables that the checkpoints of a guard lack."""
    return {path[len(LACKED):] for holder, path in seen if holder == name and path.startswith(LACKED)}
