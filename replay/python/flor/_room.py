"""Is there memory for what a state takes while it is saved? State is saved on the thread that trains, before Flor's library can ask
whether a copy of it fits (core/materialize/memory.h, whose reading this one is)."""
import pathlib

_SMALL = 16 << 20  # bytes, for which nothing is read
# Where versions 2 and 1 of control groups keep their numbers.
_SECOND = ("sys/fs/cgroup", "memory.max", "memory.current", ("inactive_file", "active_file"))
_FIRST = ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file"))


class NoRoom(Exception):
    """To save a value would take too much memory."""

    def __init__(self, name, why):
        super().__init__(f"{name}: {why}")
        self.why = why


class Room:
    """The memory for one state. It may take half of what is available, because training allocates more within its steps."""

    def __init__(self):
        self._most = None

    def check(self, name, size):
        """Raises NoRoom where what was taken so far, and is about to be, comes to more. To be called before it is taken."""
        if size <= _SMALL:
            return
        if self._most is None:
            there = available()
            self._most = float("inf") if there is None else max(there // 2, _SMALL)
        if size > self._most:
            raise NoRoom(name, f"to save it takes more than {size >> 20} MiB of memory, and half of what is available is "
                               f"{self._most >> 20} MiB")


def available(root="/"):
    """Returns the bytes that this process may still allocate: the least of the machine's MemAvailable and of what each of its control
    groups leaves, up to the root; None where nothing tells. What a group's cache of files holds counts as available: the kernel drops
    it first. `root`: the folder with proc and sys."""
    root = pathlib.Path(root)
    found = [kib << 10 for kib in _numbers(root / "proc/meminfo", ("MemAvailable:",))]
    group, (folder, limit, used, cache) = _control_group(root)
    for path in (group, *group.parents):
        most, now = (_number(root / folder / path / name) for name in (limit, used))
        if most is not None and now is not None:
            needed = max(now - sum(_numbers(root / folder / path / "memory.stat", cache)), 0)
            found.append(max(most - needed, 0))
    return min(found, default=None)


def _control_group(root):
    """Returns this process's group, and where its version keeps its numbers. Where both are mounted, the memory belongs to the one of
    version 1 that has its controller."""
    out = pathlib.PurePosixPath()
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        group = pathlib.PurePosixPath(path.lstrip("/"))
        if "memory" in controllers.split(","):
            return group, _FIRST
        if not controllers:
            out = group
    return out, _SECOND


def _numbers(file, keys):
    lines = [line.split() for line in _text(file).splitlines()]
    return [int(words[1]) for words in lines if len(words) > 1 and words[0] in keys and words[1].isdigit()]


def _number(file):
    text = _text(file).strip()
    return int(text) if text.isdigit() else None  # "max", or no such file


def _text(file):
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""
