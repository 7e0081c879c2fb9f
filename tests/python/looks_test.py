"""What a change of an object's content is seen by: of kinds that no attribute and no container shows."""
import array
import collections
import functools
import io
import mmap
import os
import queue
import tempfile
import threading
import types
import weakref

import numpy as np
import pytest
import torch


class Key:
    pass


class Ordered(collections.OrderedDict):
    pass


class Node:
    def __init__(self, rest):
        self.rest, self.value = rest, 0


def linked(count):
    first = last = Node(None)
    for _ in range(count):
        first = Node(first)
    return first, last


def of_a_function():
    kept = {"value": 0}

    class Meter:
        total = 0

        @property
        def value(self):
            return kept["value"]

        @value.setter
        def value(self, new):
            kept["value"] = new

    return Meter()


def text_file():
    file = io.StringIO()
    file.write("a")
    return file


def in_a_file(mode, buffering=-1):
    path = tempfile.NamedTemporaryFile("w", delete=False)
    path.write("1\n2\n3\n")
    path.close()
    file = open(path.name, mode, buffering)
    os.unlink(path.name)
    return file


def mapped():
    with in_a_file("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


known = {"a": 1}
key, view_of, first_and_last = Key(), bytearray(4), linked(3000)
cached = functools.lru_cache(lambda x: x)
KINDS = {
    "sparse": (torch.eye(3).to_sparse(), lambda it: it._values().mul_(2)),
    "compressed": (torch.eye(3).to_sparse_csr(), lambda it: it.values().mul_(2)),
    "masked": (np.ma.array([1, 2, 3], mask=[0, 0, 0]), lambda it: it.mask.__setitem__(1, True)),
    "bytes in memory": (io.BytesIO(b"abc"), lambda it: it.write(b"x")),
    "text in memory": (text_file(), lambda it: it.write("x")),
    "a view of bytes": (memoryview(view_of), lambda it: it.__setitem__(0, 7)),
    "numbers of one hash": ([0] * 300 + [-1], lambda it: it.__setitem__(300, -2)),
    "floats of one hash": ([0.5] * 300 + [-1.0], lambda it: it.__setitem__(300, -2.0)),
    "rows of one hash": ([(0, 1)] * 300 + [(0, -1)], lambda it: it.__setitem__(300, (0, -2))),
    "keys of one hash": ({**dict.fromkeys(range(300), 0), -1: 0}, lambda it: it.__setitem__(-2, it.pop(-1))),
    "by weak keys": (weakref.WeakKeyDictionary({key: 1}), lambda it: it.__setitem__(key, 2)),
    "weak values": (weakref.WeakValueDictionary(), lambda it: it.__setitem__("a", key)),
    "a weak set": (weakref.WeakSet(), lambda it: it.add(key)),
    "of a thread": (threading.local(), lambda it: setattr(it, "value", 1)),
    "a long linked list": (first_and_last[0], lambda it: setattr(first_and_last[1], "value", 1)),
    "a closure of a property": (of_a_function(), lambda it: setattr(it, "value", 1)),
    "the class of an object in a list": ([of_a_function()], lambda it: setattr(type(it[0]), "total", 1)),
    "a queue": (queue.SimpleQueue(), lambda it: it.put(1)),
    "a larger queue": (queue.Queue(), lambda it: it.put(1)),
    "a cache": (cached, lambda it: it(1)),
    "an array": (array.array("i", [1, 2]), lambda it: it.append(3)),
    "a ring": (collections.deque([1, 2], maxlen=2), lambda it: it.append(3)),
    "a mapped file": (mapped(), lambda it: it.readline()),
    "a file to be read and written": (in_a_file("r+"), lambda it: it.readline()),
    "one of bytes": (in_a_file("r+b"), lambda it: it.readline()),
    "the order of a dict": (collections.OrderedDict(a=1, b=2), lambda it: it.move_to_end("a")),
    "the order of a dict of one's own": (Ordered(a=1, b=2), lambda it: it.move_to_end("a")),
    "a view of a dict": (types.MappingProxyType(known), lambda it: known.update(a=2)),
    "a place in an array": (np.arange(9.0).flat, next),
    "a place in arrays": (np.broadcast(np.arange(3), np.arange(3)), next),
    "indices and values of numpy": (np.ndenumerate(np.arange(9)), next),
    "gradients": (torch.nn.Linear(2, 2), lambda it: it.weight.data.mul_(2)),
}


@pytest.fixture(scope="module")
def look():
    from flor import _runtime, _seen

    is_users = _runtime.is_users
    _runtime.is_users = lambda module: getattr(module, "__name__", "") == __name__ or is_users(module)

    def look(value):
        one, out = _seen._Look([], frozenset(), None, {"it": value}), {}
        one._end += 60  # a machine may be busy
        one.add(out, "it", value)
        one.add_local_classes(out)
        return out

    yield look
    _runtime.is_users = is_users


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_is_seen_and_nothing_else_is(look, kind):
    from flor import _seen

    value, change = KINDS[kind]
    before = look(value)
    assert _seen.changed(before, look(value)) == [], "nothing changed"
    change(value)
    assert _seen.changed(before, look(value)) != []


def prints(seen, count, history, meter):
    roots, out = {"count": count, "history": history, "meter": meter}, {}
    one = seen._Look([], frozenset(), None, roots)
    for name, value in roots.items():
        one.add(out, name, value)
    one.add_local_classes(out)
    return out


def test_what_a_class_of_a_function_shares_with_the_loop_is_no_change_of_the_class():
    """Its methods may refer to variables of that function, which are compared by themselves."""
    from flor import _runtime, _seen

    count, history = 0, []

    class Meter:
        def add(self, value):
            nonlocal count
            count += 1
            history.append(value)

    meter = Meter()
    is_users, _runtime.is_users = _runtime.is_users, lambda module: getattr(module, "__name__", "") == __name__
    try:
        before = prints(_seen, count, history, meter)
        meter.add(1)
        paths = _seen.changed(before, prints(_seen, count, history, meter))
    finally:
        _runtime.is_users = is_users
    assert {"count", "history"} <= set(paths) and not [path for path in paths if path.endswith(":@class")]


@pytest.mark.parametrize("make", [lambda: torch.eye(3).to_sparse(), lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)])
def test_tensors_without_a_version_are_looked_at(look, make):
    with torch.inference_mode():
        value = make()
    assert look([value]) == look([value])


def test_what_is_written_is_a_log(look):
    """Its position could not be restored."""
    for mode in ("w", "a", "w+", "a+"):
        file = in_a_file(mode)
        before = look([file])
        file.write("line")
        assert look([file]) == before, mode


@pytest.mark.parametrize("make", [lambda: np.nditer(np.arange(9)), lambda: np.ndindex(3, 3)])
def test_another_iterator_of_numpy_is_seen_to_change(look, make):
    from flor import _seen

    value = make()
    before = look(value)
    next(value)
    assert _seen.changed(before, look(value)) != []


def test_a_mapped_file_that_is_closed_is_looked_at(look):
    value = mapped()
    value.close()
    assert look([value]) == look([value])
