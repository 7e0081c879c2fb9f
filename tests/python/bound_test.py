"""A variable that an inner loop or a `with` binds: it may keep its value, where the loop has no element or the `with` takes an exception back."""
import ast
import sys

import pytest
import torch
from carried_test import goes_on, slowed
from free_test import have, plain
from unseen_test import BEGIN, program

CASES = {
    "a loop that may be empty": program('''
rounds = {0: [1.0], 1: [2.0], 6: [5.0]}
wanted = [0.0] * 4
''', "wanted", first="for scale in rounds.get(epoch, []): wanted = [scale + random.random() for _ in range(4)]", probe="sum(wanted)"),
    "one that gives the variable its first value": program('''
finished = {0: [0, 1], 1: [2], 6: [4]}
''', "wanted[:4]", first="for index in finished.get(epoch, []): wanted, inputs = [index, 2, 3, 4], {'of': index}", probe="wanted[0] + inputs['of'] + index"),
    "a with that takes an exception back": program('''
import contextlib
rounds = {0: [1.0], 1: [2.0], 6: [5.0]}
wanted = [0.0] * 4
''', "wanted", first='''with contextlib.suppress(KeyError):
        wanted = [rounds[epoch][0] + random.random() for _ in range(4)]''', probe="sum(wanted)"),
    "a context manager of the program": program('''
class Tolerant:
    def __enter__(self):
        return self
    def __exit__(self, kind, problem, trace):
        return kind is KeyError
rounds = {0: [1.0], 1: [2.0], 6: [5.0]}
wanted = [0.0] * 4
''', "wanted", first='''with Tolerant() as tolerant:
        wanted = [rounds[epoch][0] + random.random() for _ in range(4)]''', probe="sum(wanted)"),
    "a loop that is left": program('''
wanted = [0.0] * 4
''', "wanted", first='''for index in (0, 1):
        if epoch > 1: break
        wanted = [epoch + index, 2.0, 3.0, 4.0]''', probe="sum(wanted)"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_held(place, case):
    assert "resumed behind" in goes_on(place, *CASES[case])


# What these loops bind last no checkpoint can hold: what a tensor was computed from, a generator.
ORDINARY = slowed('''
import torch
torch.manual_seed(1)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
data, held_out = torch.randn(5, 8, 4), torch.randn(3, 8, 4)
for epoch in range(6):
    for x in data:
        output = net(x)
        loss = (output - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("output", output.mean().item(), x.mean().item())
    for x in held_out:
        scores = net(x), x
        errors = (row.sum() for row in x)
        error = (net(x) - x.sum(1, keepdim=True)).abs().mean()
    print("error", error.item(), scores[0].mean().item(), next(errors).item())
    print("loss", loss.item(), flush=True)
''')


def test_what_each_iteration_binds_anew_keeps_no_ordinary_program_from_going_on(place):
    said = goes_on(place, ORDINARY)
    assert "resumed behind" in said and "begin at" not in said, said


# Two tensors lead back to the parameters: what one iteration leaves, the third one after it trains with.
KEPT = slowed('''
import torch
torch.manual_seed(1)
net, scale = torch.nn.Linear(4, 1), torch.nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD([*net.parameters(), scale], lr=0.1)
data = torch.randn(5, 8, 4)
for epoch in range(7):
    for k in range(epoch % 3 == 0):
        factor = scale.exp()
    for x in data:
        loss = (net(x) * factor - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
    print("loss", loss.item(), flush=True)
''')


def test_a_tensor_that_an_iteration_keeps_begins_the_program_again(place):
    assert "resumed behind" not in goes_on(place, KEPT.replace("scale.exp()", "scale * 2"))


def test_a_process_that_ends_in_front_of_that_leaves_no_other_model(place):
    """The last checkpoint lacks what the tensor was computed from, and nothing was noted of it yet."""
    text = KEPT.replace("scale.exp()", "scale * 2").replace("epoch % 3 == 0", "epoch < 4").replace("lr=0.1", "lr=0.01") + """
    if epoch == 4 and os.environ.get("FLOR_RECORD") and not os.path.exists("killed"):
        open("killed", "w").close()
        time.sleep(0.5)  # the checkpoint of the epoch before is written by then
        os.kill(os.getpid(), 9)
"""
    place.write("train.py", "import os, time\n" + text)
    rows = plain(place, "train.py")[1]
    place.record("train.py", code=None)
    resume = ["flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "train.py"]
    said = place.run(*resume, code=1).stderr
    assert "resumed behind" in said and "the program uses what factor was computed from" in said, said
    assert "resumed behind" not in place.run(*resume).stderr
    assert sorted(have(place)) == sorted(rows)


LACKED = BEGIN + """
import threading
class Output:
    def __init__(self, value):
        self.value, self.lock = value, threading.Lock()
data = [1.0, 2.0, 3.0]
for epoch in range(8):
    PROBE
    for target in data:
        optimizer.step([target] * 4)
        output = Output(weights[0])
    print("loss", output.value)
"""


def test_what_checkpoints_lack_is_no_row_of_another_unit(place):
    place.write("train.py", LACKED.replace("    PROBE\n", ""))
    place.record("train.py")
    place.write("train.py", LACKED.replace("PROBE", "print(weights[1])"))
    assert "runs from the start" not in place.run("flor", "probes", "a", "--", sys.executable, "train.py").stdout
    place.write("train.py", LACKED.replace("PROBE", 'if epoch: print("last", output.value * 2)'))
    rows = plain(place, "train.py")[1]
    said = place.replay("train.py", "--workers", 1, "--epochs", "0,3,7")
    assert "passes output to the next" in said and ": identical" in said and "NameError" not in said, said
    asked = [row for row in rows if row[1] == "output.value * 2" and row[0][0][1] in ("3", "7")]
    assert len(asked) == 2 and set(asked) <= set(have(place)), rows


def test_a_restore_unbinds_what_the_checkpoint_lacks():
    from flor import _lacking
    from flor._slots import Places

    def at(output, other):
        places = Places(sys._getframe())

        def inner():
            return output + 1

        _lacking.unbind(places, ["output", "not_there", "other.part", "sys:path"], "")
        assert other == 2
        with pytest.raises(NameError, match="output"):
            inner()
        return 1 - output

    with pytest.raises(NameError, match="output"):
        at(1, 2)
    variables = {"output": 1, "sys": sys}
    exec("frame = sys._getframe()", variables)
    _lacking.unbind(Places(variables["frame"]), ["output"], "")
    with pytest.raises(NameError) as raised:
        exec("output", variables)
    assert _lacking._missed_by(raised.type, raised.value)[0] == "output"
    assert _lacking._missed_by(NameError, NameError("name 'outptu' is not defined")) is None


@pytest.mark.parametrize("ask", [lambda value: isinstance(value, int), lambda value: isinstance(value, torch.nn.Parameter),
                                 lambda value: torch.is_tensor(value), lambda value: value.__class__])
def test_a_program_that_asks_for_the_class_of_what_is_lacking_ends_and_a_look_does_not(ask):
    """Where Python unbinds nothing, from 3.13 on, an object stands in the variable."""
    from flor._lacking import Unbound
    from flor._roots import members_of
    from flor._watched import is_asked_for

    with pytest.raises(NameError, match="name 'output' is not defined"):
        ask(Unbound("output"))
    assert members_of(Unbound("output")) is None and not is_asked_for(Unbound("output"))


def test_a_tensor_without_what_it_was_computed_from_is_otherwise_the_same(monkeypatch):
    import torch
    from flor import _graphs, _lacking

    told = []
    monkeypatch.setattr(_lacking, "_end", lambda *words: told.append(words))
    monkeypatch.setattr(_lacking, "_missed", {"names": {}, "is_watched": True, "late": None})
    for tensor in (torch.randn(4, 3).t()[1:], torch.randn(2, dtype=torch.complex64), torch.tensor(3.0)):
        lost = _lacking.with_lost_graph("factor", "", tensor)
        assert lost.data_ptr() == tensor.data_ptr() and lost.stride() == tensor.stride() and torch.equal(lost.detach(), tensor)
        assert lost.requires_grad and not lost.is_leaf and _graphs.is_live(lost, set())
        with pytest.raises(RuntimeError, match="what factor was computed from"):
            (lost * 2).abs().sum().backward()
    # For a GPU PyTorch calls backward() on another thread, where Flor ends nothing: the thread that trains ends here.
    _lacking.end_if_missed()
    assert len(told) == 4 and {words[0] for words in told} == {"factor"}


SURE = ["for k in [1, 2]: v = k", "for k in range(3): v = k", "for v in range(2, 9, 3): pass", "for k, x in enumerate((1, 2)): v = x", "with torch.no_grad(): v = 1",
        "with open(p) as v: pass", "if c: v = 1\nelse:\n    for k in 'ab': v = 2", "for k in zip((1, 2), range(9, 0, -1)): v = k", "with suppress(E) as v: pass"]
UNSURE = ["for k in xs: v = k", "for v in range(n): pass", "for k in range(0): v = k", "for k in range(3, 1): v = k", "for k in [*xs]: v = k", "with suppress(E): v = 1",
          "with suppress(E), open(p) as v: pass", "for k in (1, 2):\n    if k: continue\n    v = k", "for k in zip((1, 2), xs): v = k", "with torch.no_grad(), suppress(E): v = 1"]


def test_what_surely_binds():
    from flor._first_bound import is_first_bound
    from flor._program import Program

    def asked(text, is_sure):
        read = Program("train.py", text)
        return is_first_bound(read, read.tree.body, "v", is_sure)

    for text in SURE:
        assert asked(text, True) and asked(text, False), text
    for text in UNSURE:
        assert not asked(text, True) and asked(text, False), text
    assert not asked("class no_grad:\n    pass\nwith no_grad(): v = 1", True)
    for line in ("from helpers import profile", "from .tools import time_it as profile", "import helpers.profile as profile"):
        assert not asked(f"{line}\nwith profile(): v = 1", True), line
    assert asked("from torch.profiler import profile\nimport torch\nwith profile() as p, torch.no_grad(): v = 1", True)
    assert not asked("for k in v: v = k", False) and not asked("print(v)\nv = 1", False)


def test_the_else_of_a_loop_has_no_element():
    from flor._first_bound import is_bound_near
    from flor._program import Program

    read = Program("train.py", "for epoch in range(9):\n    for v in xs:\n        print(v)\n    else:\n        print(v)\n")
    loop = read.tree.body[0]
    inside, behind = [node for node in ast.walk(loop) if isinstance(node, ast.Name) and node.id == "v" and isinstance(node.ctx, ast.Load)]
    assert is_bound_near(read, inside, "v", loop) and not is_bound_near(read, behind, "v", loop)


def test_a_with_in_front_of_a_read_binds_where_it_passes_exceptions_on():
    from flor._held import needed_by_loop
    from flor._program import Program

    def needed(manager):
        read = Program("train.py", f"import flor\nfor epoch in flor.loop('epoch', range(9)):\n  for x in xs:\n    with {manager}:\n      v = net(x)\n    print(v)\n")
        return needed_by_loop(read, read.loops[0])

    assert needed("torch.set_grad_enabled(phase == 'train')") == [] and needed("suppress(ValueError)") == ["v"]
