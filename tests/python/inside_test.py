"""A replay begins units between two steps of an epoch, and its rows are those of a plain run of the edited program, bit for bit."""
import sys

import pytest
import torch
from free_test import have, plain
from steps_test import HEAD, PROGRAMS

# In front of which line of a step which values are shown; the last ones are of the step before.
PROBES = {
    "in the process": ("        optimizer.zero_grad()\n", ["net[0].weight.norm()", "x.sum()", "history[-3:]", "total", "scheduler.last_epoch"]),
    "workers": ("        optimizer.zero_grad()\n", ["net[0].weight.norm()", "x.sum()", "seen"]),
    "accumulated": ("            loss.backward()\n", ["self.net[0].weight.grad", "self.step", "self.best", "self.average[0].weight.norm()"]),
    "own generator": ("            loss.backward()\n", ["self.net[0].weight.norm()", "x.sum()", "self.rng.bit_generator.state['state']"]),
    "carried": ("        optimizer.zero_grad()\n", ["hidden.sum()", "embed.weight.norm()", "at"]),
    "counted by twos": ("        optimizer.zero_grad()\n", ["hidden.sum()", "embed.weight.norm()"]),
}


def with_probes(text, line, shown):
    indent = line[:len(line) - len(line.lstrip())]
    assert text.count(line) == 1
    return text.replace(line, "".join(f"{indent}print({one})\n" for one in shown) + line)


CASES = [(name, 1 if number // 2 % 2 else 3) for number, name in enumerate(PROBES)]


@pytest.mark.parametrize("name, workers", CASES)
def test_units_begin_between_steps(place, name, workers):
    line, shown = PROBES[name]
    text = HEAD + PROGRAMS[name][0].replace("range(4)", "range(2)")
    place.write("train.py", text)
    place.record("train.py", FLOR_STEP_SECONDS="0")
    place.write("train.py", with_probes(text, line, shown))
    said = place.replay("train.py", "--workers", workers)
    assert ": identical" in said and "taken back" not in said, said
    assert int(said.split(": ")[1].split(" units")[0]) > 12, said
    rows = plain(place, "train.py")[1]
    assert set(rows) <= set(have(place)) and len(rows) > 20 * len(shown)


UNHELD = """
def main():
    net = nn.Linear(6, 2)
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    loader = DataLoader(TensorDataset(torch.randn(60, 6), torch.randint(0, 2, (60,))), batch_size=6, shuffle=True)
    for epoch in range(3):
        large, out = torch.zeros(720), None
        for x, y in loader:
            optimizer.zero_grad()
            out = net(x)
            loss = nn.functional.cross_entropy(out, y)
            loss.backward()
            optimizer.step()
            large = out.detach().flatten().repeat(60)
            print("loss", loss.item())

main()
"""
TOP = "            optimizer.zero_grad()\n"


@pytest.mark.parametrize("added, units", [
    (TOP + "            print(x.sum().item())\n", 29),
    # Of the step before, and in no checkpoint between steps, since nothing read it and it is large.
    ("            print(large.sum().item())\n" + TOP, 3),
    # A tensor that is restored has no graph.
    ("            print(epoch + 1 if out is None else len(str(out)))\n" + TOP, 3),
])
def test_what_no_checkpoint_between_steps_holds_begins_units_at_iterations(place, added, units):
    text = HEAD + UNHELD
    place.write("train.py", text)
    place.record("train.py", FLOR_STEP_SECONDS="0")
    place.write("train.py", text.replace(TOP, added))
    said = place.replay("train.py", "--workers", 2)
    assert f": {units} units" in said and ": identical" in said, said
    assert ("units begin at iterations" in said) == (units == 3), said
    rows = plain(place, "train.py")[1]
    assert set(rows) <= set(have(place)) and len(rows) == 2 * 30


def test_what_a_program_saves_behind_the_loop_stays_as_it_was(place):
    """No worker executes what follows a loop that it did not execute to its end: the model would be half trained."""
    saved = "        torch.save(net.state_dict(), f'net{epoch}.pt')\n\nmain()"
    text = HEAD + UNHELD.replace("\nmain()", saved)
    place.write("train.py", text)
    place.record("train.py", FLOR_STEP_SECONDS="0")
    models = {path.name: torch.load(path)["weight"] for path in place.folder.glob("net*.pt")}
    place.write("train.py", text.replace(TOP, "            print(x.sum().item())\n" + TOP))
    said = place.replay("train.py", "--workers", 3)
    assert ": 29 units" in said and ": identical" in said, said
    found = {path.name: torch.load(path)["weight"] for path in place.folder.glob("net*.pt")}
    assert found.keys() == models.keys() and all(torch.equal(found[name], models[name]) for name in models)


# In one epoch, all of whose steps belong to the first execution of the block.
FIRST = """
net = nn.Linear(6, 2)
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
points = torch.randn(200, 6)
def train(epoch):
    for start in range(0, 120, 6):
        i = start // 6
        optimizer.zero_grad()
        if i % 4 == 0:
            stage = 0.1 if i < 12 else 0.01
            print("stage", stage)
        if i == 7:
            late = net.weight.sum().item()
        loss = net(points[start:start + 6]).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item())
for epoch in range(1):
    train(epoch)
"""


@pytest.mark.parametrize("line, asked", [
    ("        if i % 4 == 1: print('st', stage)\n", ("--workers", 1, "--steps", "0:1,5:6,17:18")),
    ("        print('norm', net.weight.norm().item())\n", ("--workers", 3)),
    ("        print('again', i > 7 and late)\n", ("--workers", 3)),
    ("        print('norm', net.weight.norm().item())\n", ("--workers", 1, "--steps", "0:2,6:8")),
])
def test_what_the_first_execution_of_a_block_binds_is_held(place, line, asked):
    place.write("train.py", HEAD + FIRST)
    place.record("train.py", FLOR_STEP_SECONDS="0")
    edited = HEAD + FIRST.replace("        loss = net(", line + "        loss = net(")
    place.write("train.py", edited)
    said = place.replay("train.py", *asked)
    assert ": identical" in said and "taken back" not in said, said
    rows, found = plain(place, "train.py")[1], have(place)
    assert len(found) > 25 and set(found) <= set(rows)
    assert "--steps" in asked or set(rows) == set(found)


# Two optimizers share the defaults of their class; files, a helper, an object of the question's, and one that only the loop's elements have.
WAYS = """
import os, shutil
class Count:
    def __init__(self):
        self.n = 0
    def see(self, value):
        self.n += value
        return self.n
class Client:
    def __init__(self, server, number):
        self.server, self.number = server, number
def clients():
    server = Count()
    return [Client(server, number) for number in range(8)]
def has_graph(tensor):
    return int(tensor is not None and tensor.requires_grad)
def train(epoch, net, optimizer):
    sample = None
    BEGIN
    for one in ELEMENTS:
        optimizer.zero_grad()
        loss = net(torch.ones(6) * (one.number if isinstance(one, Client) else one)).pow(2).mean()
        loss.backward()
        optimizer.step()
        STEP
        print("loss", loss.item())
def main():
    nets = [nn.Linear(6, 2), nn.Linear(6, 2)]
    optimizers = [torch.optim.Adam(net.parameters(), 1e-2) for net in nets]
    for epoch in range(2):
        train(epoch, nets[0], optimizers[0])
        for k in range(4):
            optimizers[1].zero_grad()
            nets[1](torch.ones(6)).sum().backward()
            optimizers[1].step()
main()
"""
RANGE = {"BEGIN": "pass", "STEP": "pass", "ELEMENTS": "range(8)"}
LOSS = '        print("loss", loss.item())\n'


@pytest.mark.parametrize("ways, added, asked, has_units", [
    ({}, LOSS, "        print('norm', net.weight.norm().item())\n" + LOSS, True),
    ({"BEGIN": "shutil.rmtree(f's{epoch}', True); os.makedirs(f's{epoch}')", "STEP": "open(f's{epoch}/{one}', 'w').close()"}, LOSS,
     "        print('norm', net.weight.norm().item())\n" + LOSS, False),
    ({"STEP": "sample = net(torch.ones(6)).sum() if one == 2 else sample"}, LOSS, "        print('g', has_graph(sample))\n" + LOSS, False),
    ({"ELEMENTS": "clients()", "STEP": "print(one.server.see(one.number))"}, LOSS, "        print('norm', net.weight.norm().item())\n" + LOSS, False),
    ({}, "    sample = None\n", "    sample = None\n    spikes = Count()\n", False),
])
def test_units_between_steps_read_what_a_plain_run_reads(place, ways, added, asked, has_units):
    text = WAYS
    for word, code in {**RANGE, **ways}.items():
        text = text.replace(word, code)
    place.write("train.py", HEAD + text)
    place.record("train.py", FLOR_STEP_SECONDS="0")
    text = text.replace(added, asked)
    if "spikes" in text:
        text = text.replace(LOSS, "        print('s', spikes.see(1))\n" + LOSS)
    place.write("train.py", HEAD + text)
    before = sorted(str(path) for path in place.folder.glob("s*/*"))
    said = place.replay("train.py", "--workers", 2)
    assert ": identical" in said and "taken back" not in said, said
    assert (int(said.split(": ")[1].split(" units")[0]) > 4) == has_units, said
    assert sorted(str(path) for path in place.folder.glob("s*/*")) == before
    rows, found = plain(place, "train.py")[1], have(place)
    assert set(rows) <= set(found) and len(rows) >= 32


def test_a_bar_and_a_graph_are_in_no_checkpoint_between_steps():
    from flor._step_reads import lacked_by_steps

    seen = [("@steps:train.x", "~bar"), ("@steps:train.x", "+net"), ("train.x", "~other"), ("", "bar")]
    assert lacked_by_steps({"bar", "n"}, seen) == "bar" and lacked_by_steps({"loss", "grad_fn"}, seen) == "grad_fn"
    assert lacked_by_steps({"net", "other"}, seen) is None


def test_a_tensor_whose_values_alone_are_read_needs_no_graph():
    import ast

    from flor._program import Program
    from flor._step_reads import _is_for_values

    for text, is_so in {"print(t.sum())": True, "print(t.sum().item() * 2)": True, "float(t.mean())": True, "f'{t.norm()}'": True, "t.shape[0]": True,
                        "print(t)": False, "f'{t.norm()!r}'": False, "str(t.sum())": False, "'%s' % t.sum()": False, "has_graph(t.sum())": False,
                        "t.sum().requires_grad": False, "[t.sum()]": False}.items():
        program = Program("train.py", text + "\n")
        name = next(node for node in ast.walk(program.tree) if isinstance(node, ast.Name) and node.id == "t")
        assert _is_for_values(program, name) == is_so, text


def test_bars_are_found_wherever_they_are(monkeypatch, tmp_path):
    import sys
    import types

    from flor import _overlooked
    from flor._overlooked import bars_in, read_among

    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    bar = type("tqdm", (), {"__module__": "tqdm.std"})()
    ui = types.SimpleNamespace(shown=[types.SimpleNamespace(bar=bar)])
    assert set(bars_in(sys._getframe())) == {"bar", "ui.shown.bar"}
    texts = {"if ui.shown[0].bar.n > 3: pass\n": True, "ui.shown[0].bar.update(n)\n": False, "def decayed(pbar):\n    return 1 - pbar.n\n": True,
             "class Trainer:\n    def rate(self):\n        return self.bar.n\n": True, "class Meter:\n    def mean(self):\n        return self.n\n": False}
    for number, (text, is_read) in enumerate(texts.items()):
        file = tmp_path / f"a{number}.py"
        file.write_text(text)
        monkeypatch.setattr(_overlooked, "users_modules", lambda: [types.SimpleNamespace(__file__=str(file))])
        assert read_among(["ui.shown.bar"]) == ("ui.shown.bar" if is_read else None), text
    del ui


def test_an_iterator_of_a_dict_is_as_it_was_while_it_is_gone_through():
    from flor._passing import Passing

    passing = Passing(enumerate({1: 2, 3: 4}.items()), 2)
    assert next(passing.elements()) == (0, (1, 2)) and passing.is_as_it_was()


@pytest.mark.parametrize("value, is_passed", [("net.weight.norm().item()", False), ("-len(net) / 2", False), ("[]", True), ("net.weight.norm()", True)])
def test_a_number_that_a_question_binds_in_front_of_the_steps_stays_one(value, is_passed):
    from flor._new_variables import passed_by_steps
    from flor._program import Program

    program = Program("train.py", f"import flor\nfor epoch in flor.loop('epoch', range(3)):\n    kept = {value}\n    with flor.skip_block('train', net) as b:\n"
                      "        if b.step_into():\n            flor.log('kept', kept)\n")
    assert (passed_by_steps(program, {"kept"}) is not None) == is_passed


ALIVE = """
import weakref
net = nn.Linear(6, 2)
optimizer = torch.optim.SGD(net.parameters(), 1e-2)
class Batch:
    def __init__(self):
        self.x = torch.randn(4, 6)
alive = weakref.WeakSet()
def train(epoch):
    batch = Batch()
    alive.add(batch)
    for i in range(6):
        batch = Batch()
        alive.add(batch)
        optimizer.zero_grad()
        loss = net(batch.x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item(), len(alive))
for epoch in range(4):
    train(epoch)
"""


def test_what_a_loop_over_steps_leaves_behind_is_freed(place):
    place.write("train.py", HEAD + ALIVE)
    shown = place.run(sys.executable, "train.py").stdout
    assert {line.split()[-1] for line in shown.splitlines()} == {"1"}
    recorded = place.run("flor", "record", "--every", "1", "--", sys.executable, "train.py", FLOR_STEP_SECONDS="0")
    assert recorded.stdout == shown, recorded.stdout


ELEMENTS = """
import sys
from flor._overlooked import Sources
def shows(iterable, change):
    sources = Sources(iterable, sys._getframe(1))
    before = sources.fingerprint()
    change(iterable)
    return sources.fingerprint() != before
def look():
    data, temporary = [[1]], [[2]]
    # What variables lead to, another look shows.
    yield shows(data, lambda given: given[0].append(7))
    yield shows(enumerate(data), lambda given: temporary.append(7))
    yield shows(range(3), lambda given: data.append([7]))
    yield shows(iter([temporary[0], [3]]), lambda given: given.__reduce__()[1][0][0].append(7))
    yield shows(iter([temporary[0], [3]]), lambda given: given.__reduce__()[1][0][1].append(7))
    yield shows({1: [3]}.items(), lambda given: next(iter(given))[1].append(7))
    sources = Sources(data, sys._getframe())
    yield sources.fingerprint() != ""
    del data
    yield sources.fingerprint() != ""
print(*look())
"""


def test_what_gives_a_loop_its_elements_is_looked_at(place):
    place.write("look.py", ELEMENTS)
    assert place.run(sys.executable, "look.py").stdout.split() == ["False"] * 4 + ["True"] * 2 + ["False", "True"]
