"""Is there memory for what a state takes while it is saved? State is saved on the thread that trains, before Flor's library can ask
whether a copy of it fits."""
_SMALL = 16 << 20  # bytes, for which nothing is read


class NoRoom(Exception):
    """To save a value would take too much memory now."""


def available():
    """Returns the bytes that may be taken: training is left the rest."""
    from ._library import library

    return library.flor_room()


class Room:
    """The memory for one state."""

    def __init__(self):
        self._most = None

    def check(self, name, size):
        """Raises NoRoom where what was taken so far, and is about to be, comes to more. To be called before it is taken."""
        if size <= _SMALL:
            return
        if self._most is None:
            self._most = max(available(), _SMALL)
        if size > self._most:
            raise NoRoom(f"{name}: to save it takes more than {size >> 20} MiB of memory, and Flor may take {self._most >> 20} MiB: a third of "
                         "what is left; ask for more (srun --mem)")
