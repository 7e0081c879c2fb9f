"""Saving a state takes little more memory than its text, bytes are not copied, and what there is no room for is not saved."""
import collections
import json
import struct
import sys
import tracemalloc

import pytest
from free_test import ask_each
from loops_test import events
from state_test import restored, saved

BYTES = bytes(range(256)) * 4200


def text_of(leaf):
    return bytes(leaf.memory()).decode()


def tree_of(text):
    """A recorded leaf with a tree as a text."""
    from flor import _leaves, _library
    import ctypes

    memory = ctypes.create_string_buffer(text.encode(), len(text))
    leaf = _leaves.Loaded(_library.Buffer(b"", b"U8", (ctypes.c_int64 * 1)(len(text)), 1, 0, ctypes.addressof(memory), len(text)))
    leaf.kept = memory
    return leaf


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, (1 << 20) - 1, 1 << 20, len(BYTES)])
def test_bytes_are_restored_to_the_bit(size):
    array, shared = bytearray(BYTES[:size]), bytes(BYTES[:size])
    state = {"array": array, "bytes": shared, "inside": [(shared, [bytearray(BYTES[:size][::-1])]), {shared: 1}]}
    leaves = saved(state=state)
    array[:] = b"other"
    state["bytes"], state["inside"] = b"", None
    restored(leaves, state=state)
    assert state["array"] is array and array == BYTES[:size] and state["bytes"] == shared and type(state["bytes"]) is bytes
    (one, (other,)), keys = state["inside"]
    assert one == shared and other == BYTES[:size][::-1] and type(other) is bytearray and keys == {shared: 1}


def test_one_bytearray_in_two_places_stays_one():
    one = bytearray(BYTES)
    state = {"a": [one], "b": (one, BYTES), "c": BYTES}
    leaves = saved(state=state)
    assert sum(leaf.size >= len(BYTES) for leaf in leaves.values()) == 3, "one of the bytearray, and two of bytes, which have no identity"
    state.clear()
    restored(leaves, state=state)
    assert state["a"][0] is state["b"][0] and state["a"][0] == BYTES and state["c"] == state["b"][1] == BYTES


def test_a_program_may_add_to_what_was_saved():
    from flor import _objects

    state, saver = {"a": bytearray(BYTES)}, _objects.Saver()
    saver.save("state", state)
    state["a"] += BYTES  # BufferError, were its memory exported
    assert len(state["a"]) == 2 * len(BYTES)


def test_a_record_of_an_earlier_version_has_bytes_in_its_tree():
    state = {"a": bytearray(b"x"), "b": b""}
    text = json.dumps({"dict": "builtins.dict", "keys": ["a", "b"], "items": [{"bytearray": BYTES.hex()}, {"bytes": BYTES.hex()}]})
    array = state["a"]
    restored({"state.@tree": tree_of(text)}, state=state)
    assert state == {"a": BYTES, "b": BYTES} and state["a"] is array


def test_bytes_that_are_not_in_the_record_are_refused():
    from flor import _restore

    for kind in ("bytes_in", "bytearray_in"):
        text = json.dumps({"dict": "builtins.dict", "keys": ["a"], "items": [{kind: "state.a"}]})
        with pytest.raises(_restore.Misfit, match="state.a is not in the record"):
            restored({"state.@tree": tree_of(text)}, state={"a": bytearray(BYTES)})


@pytest.mark.parametrize("state", [
    list(range(4096)), list(range(4097)), [0.5] * 9000, [[list(range(5000))], [], {"a": list(range(5000))}] * 3, ["x" * 300000, "ä\"\\\n", "y"],
    {index: [index, {"of": (index,)}] for index in range(5000)}, collections.deque((index, float(index), None) for index in range(9000)),
    [[1, [2.5]]] * 5000 + [list(range(4096))]], ids=range(8))
def test_a_tree_in_pieces_is_the_text_of_the_whole(state):
    """The digest of a state has this text: that of an earlier version is the same."""
    leaves = saved(state=state)
    text = text_of(leaves["state.@tree"])
    assert json.dumps(json.loads(text)) == text
    live = type(state)()
    restored(leaves, state=live)
    assert live == state


@pytest.mark.parametrize("count", [31, 32, 4096, 4097])
@pytest.mark.parametrize("kind", [list, tuple])
def test_floats_that_are_many_have_the_text_that_few_have(kind, count):
    values = ([0.1, -0.0, float("nan"), float("inf"), 5e-324] * count)[:count]
    nodes = [{"float": struct.pack(">d", value).hex()} for value in values]
    text = json.loads(text_of(saved(state={"of": kind(values), "mixed": [*values, 1]})["state.@tree"]))
    assert [node["items"] for node in text["items"]] == [nodes, [*nodes, 1]]


def peak_of(state):
    """Returns how many bytes more Python takes at most while a state is saved, and the bytes of its text."""
    from flor import _objects

    tracemalloc.start()
    try:
        saver = _objects.Saver()
        saver.save("state", state)
        return tracemalloc.get_traced_memory()[1], saver.leaves["state.@tree"].size
    finally:
        tracemalloc.stop()


def test_bytes_are_copied_once_at_most():
    """Those of a bytearray, which another thread may change meanwhile."""
    assert peak_of({"b": bytes(16 << 20)})[0] < 1 << 20
    assert peak_of({"a": bytearray(16 << 20)})[0] < 17 << 20


def test_what_a_bytearray_had_is_saved_whatever_becomes_of_it():
    state = {"a": bytearray(BYTES)}
    leaves = saved(state=state)
    state["a"].clear()
    restored(leaves, state=state)
    assert state["a"] == BYTES


def test_an_equal_constant_in_the_place_of_bytes_is_the_same_state():
    """Restored, one of two slots has a copy."""
    one, other = bytes(BYTES), bytes(bytearray(BYTES))
    assert one is not other
    texts = [text_of(saved(state={"a": one, "b": second})["state.@tree"]) for second in (one, other)]
    assert texts[0] == texts[1]


def test_a_large_container_takes_little_more_than_its_text():
    """Its nodes as Python's objects would take nearly ten times as much."""
    peak, text = peak_of(collections.deque((0.5 * index, index, float(index), index % 7 == 0) for index in range(60000)))
    assert peak < 5 * text, f"{peak / text} times"


def test_what_there_is_no_room_for_is_refused_before_it_is_taken(monkeypatch):
    from flor import _objects, _room

    monkeypatch.setattr(_room, "available", lambda: 0)
    for state in ([0.5] * 1500000, ["x" * (8 << 20)] * 3, [[index] for index in range(250000)], {"a": "x" * (20 << 20)}):
        tracemalloc.start()
        with pytest.raises(_room.NoRoom, match="state: to save it takes more than .. MiB of memory, and Flor may take 16 MiB: a third of what is left"):
            _objects.Saver().save("state", state)
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
        tracemalloc.stop()
    monkeypatch.undo()
    _objects.Saver().save("state", [0.5] * 600000)


@pytest.mark.parametrize("kind", ["channels last", "an array in another order", "a module", "a gradient"])
def test_values_are_not_copied_where_there_is_no_room_for_it(monkeypatch, kind):
    """As those on a GPU, and those in another order. Nothing else takes memory before Flor's library asks."""
    import numpy
    import torch
    from flor import _leaves, _objects, _room

    monkeypatch.setattr(_room, "available", lambda: 0)
    large = torch.ones(5, 1024, 1024).permute(1, 2, 0)
    net = torch.nn.Module()
    net.weight = torch.nn.Parameter(large if kind == "a module" else torch.ones(1))
    value = {"channels last": large, "an array in another order": numpy.asfortranarray(numpy.ones((2000, 2000)))}.get(kind, net)
    saver = _objects.Saver(holds_gradient=(lambda *_: True) if kind == "a gradient" else None)
    if kind == "a gradient":
        net.weight = torch.nn.Parameter(torch.ones(large.shape))
        net.weight.grad = large
    for copy in ("of_tensor", "of_array"):
        before = getattr(_leaves, copy)
        monkeypatch.setattr(_leaves, copy, lambda name, value, before=before: before(name, value) if _leaves.bytes_to_copy(value) == 0
                            else pytest.fail("it is copied"))
    with pytest.raises(_room.NoRoom, match="to save it takes more than .. MiB"):
        saver.save("state", [value] if kind != "a module" else value)


TRAINING = '''
import random
import torch
random.seed(1)
torch.manual_seed(1)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
BEGIN
for epoch in range(6):
    for x in torch.randn(3, 8, 4):
        loss = (net(x) - TARGET).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        STEP
    END
    print("loss", loss.item())
'''
FREE = TRAINING.replace("BEGIN", '''
import flor._room
flor._room.available = lambda: 0
memory = [0.5] * 10
''').replace("TARGET", "memory[-1]").replace("STEP", "memory.append(random.random())").replace("END", '''
    if epoch == 2:
        memory.extend([0.25] * 800000)
    elif epoch == 4:
        del memory[10:]
''')
GUARDED = '''
import flor, flor._room
flor._room.available = lambda: 0
state = {"memory": [], "sum": 0.0}
with flor.checkpointing(state):
    for epoch in flor.loop("epoch", range(6)):
        state["memory"].extend([float(epoch)] * 200000)
        state["sum"] += len(state["memory"])
        if epoch == 4:
            state["memory"].clear()
        flor.log("loss", state["sum"])
'''


@pytest.mark.parametrize("text, path", [(FREE, "memory"), (GUARDED, "0.memory")], ids=["free", "guarded"])
def test_checkpoints_are_passed_over_while_there_is_no_room_for_them(place, text, path):
    """One line says so. Once there is room they are taken again, and replay is exact."""
    program = place.write("train.py", text)
    plain = place.run(sys.executable, program).stdout
    done = place.run("flor", "record", "--name", "a", "--every", "1", "--", sys.executable, program)
    assert done.stdout == plain
    warnings = [line for line in done.stderr.splitlines() if "warning" in line]
    assert len(warnings) == 1 and f"no checkpoint is taken: {path}: to save it takes more than" in warnings[0], done.stderr
    taken = {row["at"] for row in events(place, "checkpoint") if row["at"].endswith("/@iteration")}
    assert taken == {f"epoch={epoch}/@iteration" for epoch in ("entry", 0, 1, 4, 5)}
    replayed = place.run("flor", "replay", "a", "--workers", "2", "--", sys.executable, program)
    assert "identical" in replayed.stderr + replayed.stdout, replayed.stderr


BYTES_OF_A_PROGRAM = TRAINING.replace("BEGIN", '''
front, back, bits = bytearray(5000), bytearray(bytes([7]) * 6000), b""
both = [front, back]
''').replace("TARGET", "sum(front) / 1000").replace("STEP", '''
        at = random.randrange(200)
        front[at] += 1
        back.extend(bytes([at]))
        bits += bytes([at]) * 40
''').replace("END", "front, back = back, front")


def test_bytes_of_a_program_come_back_as_the_same_objects(place):
    place.write("train.py", BYTES_OF_A_PROGRAM)
    place.record("train.py")
    ask_each(place, "train.py", BYTES_OF_A_PROGRAM, "    print(\"loss\"", ["sum(both[0])", "front is both[1]", "back is both[0]", "bits[-1]"])
