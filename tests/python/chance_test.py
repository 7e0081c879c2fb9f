"""What a program took from chance in front of its loop: a resumed recording with other data is refused (rule 16)."""
import json
import os
import random
import sys
import time

import numpy
import torch

from carried_test import killed, slowed

PROGRAM = '''
import numpy, torch

torch.manual_seed(1)
IN_FRONT
model = torch.nn.Linear(4, 1)
data = torch.randn(48, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(6):
    IN_LOOP
    for x in data[ROWS].split(8):
        optimizer.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        optimizer.step()
    print("loss", loss.item())
'''


def program(in_front, in_loop="", rows=":"):
    return slowed(PROGRAM.replace("IN_FRONT", in_front).replace("IN_LOOP", in_loop).replace("ROWS", rows))


def resumed(place, text, code):
    place.write("train.py", text)
    killed(place)
    return place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "-u", "train.py", code=code).stderr


def test_a_split_that_is_drawn_without_a_seed_is_not_resumed(place):
    said = resumed(place, program("rng = numpy.random.default_rng()\nkept = numpy.random.default_rng().permutation(48)[:40]\nrng.random()",
                                  rows="kept"), 1)
    assert "in front of loop epoch the program drew other random numbers than the recorded one (variable kept, variable rng)" in said
    (manifest,) = (place.folder / "store").glob("*/run.json")
    assert json.loads(manifest.read_text())["attempt"] == 0  # so that replays of it still count


def test_a_generator_that_only_the_loop_draws_from_is_resumed(place):
    said = resumed(place, program("rng = numpy.random.default_rng()", "noise = rng.random()"), 0)
    assert "resumed behind epoch=" in said


def found(**variables):
    from flor import _chance

    return _chance._found(variables)


def test_generators_count_where_something_was_drawn():
    makers = (numpy.random.default_rng, numpy.random.RandomState, numpy.random.PCG64, numpy.random.MT19937, random.Random)
    for make in makers:
        assert found(one=make()) == found(one=make()) != {}
    for make, draw in ((numpy.random.default_rng, "random"), (numpy.random.RandomState, "random_sample"), (random.Random, "random")):
        one, other = make(), make()
        getattr(one, draw)(), getattr(other, draw)()
        assert found(one=one) != found(one=other)
        one, other = make(7), make(7)
        getattr(one, draw)(), getattr(other, draw)()
        assert found(one=one) == found(one=other)
    one, other = torch.Generator(), torch.Generator()
    one.seed(), other.seed()
    assert found(one=one) == found(one=other)
    torch.rand(1, generator=one), torch.rand(1, generator=other)
    assert found(one=one) != found(one=other)
    assert found(one=random._inst, other=torch.default_generator, third=random.SystemRandom()) == {}


def test_indices_count_wherever_they_are_and_other_numbers_do_not():
    order = list(range(100))
    random.Random(1).shuffle(order)
    data = torch.utils.data.Subset(torch.utils.data.TensorDataset(torch.zeros(100, 2)), order)
    loader = torch.utils.data.DataLoader(data, batch_size=4)
    (name,) = [name for name in found(loader=loader) if name.endswith("indices")]
    before = found(loader=loader)
    order[0], order[-1] = order[-1], order[0]
    assert found(loader=loader)[name] != before[name]
    for indices in (numpy.arange(50)[::-1].copy(), torch.arange(50), tuple(range(9, 0, -1)), {"train": [*range(9), 9, 11, 10]}):
        assert len(found(one=indices)) == 1, indices
    for other in ([1, 2, 3], [1] * 20, [second * 1e9 for second in range(20)], [1 << 45, *range(20)], list("abcdefghij"), torch.zeros(20, dtype=torch.int64),
                  torch.randn(20), numpy.zeros(20), [True] * 20, [-1, *range(20)], list(range(32, 48)), list(set(range(60, 68))), time.localtime(), os.stat("/"),
                  [31007, 31002, 31003, 31004, 31009, 31006, 31008, 31005]):
        assert found(one=other) == {}, other


class Key:
    def __repr__(self):
        raise AssertionError("the program's own code was called")

    __str__ = __repr__


class Augmented(list):
    def __getitem__(self, place):
        raise AssertionError("the program's own code was called")

    __iter__ = __len__ = __getitem__


def test_no_code_of_the_program_runs():
    order = numpy.random.permutation(50)
    assert list(found(one=Augmented(range(20)), other=order)) == ["variable other"]
    assert list(found(one={Key(): order, "caf\udce9.jpg": order[::-1].copy()})) == ["variable one.0", "variable one.caf\\udce9.jpg"]


TAKES_LOCALS = '''
def train(lr=0.1, epochs=3):
    config = locals()
    weight = 0.0
    for epoch in range(epochs):
        for x in range(4):
            loss = Loss()
            loss.backward()
        print("loss", weight)
    print(sorted(config))
class Loss:
    def backward(self):
        pass
train()
'''


def test_a_function_that_takes_its_variables_keeps_them_as_they_are(place):
    place.write("train.py", TAKES_LOCALS)
    assert place.run("flor", "record", "--", sys.executable, "train.py").stdout.endswith("['epochs', 'lr']\n")


def test_the_texts_of_generators_are_their_states(monkeypatch):
    from flor import _runtime

    texts = {}
    monkeypatch.setattr(_runtime, "put_text", lambda _answer, name, text: texts.update({name: bytes(text)}))
    before = random.getstate(), numpy.random.get_state(), torch.get_rng_state()
    first = None
    for draw in (lambda: None, lambda: random.gauss(0, 1), numpy.random.randn, lambda: torch.rand(1), lambda: None):
        draw()
        _runtime._put_generators(None)
        name, keys, position, has_gauss, gauss = numpy.random.get_state()
        assert json.loads(texts["python"]) == json.loads(json.dumps(random.getstate()))
        assert json.loads(texts["numpy"]) == [name, keys.tolist(), position, has_gauss, gauss.hex()]
        assert list(texts["cpu"]) == torch.get_rng_state().tolist()
        first = first or dict(texts)
    random.setstate(before[0])
    numpy.random.set_state(before[1])
    torch.set_rng_state(before[2])
    _runtime._put_generators(None)
    assert texts == first
