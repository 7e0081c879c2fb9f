"""The states of the default generators are recorded as they are, though Flor mostly looks at their memory only."""
import json
import random

import pytest

numpy = pytest.importorskip("numpy")

# One after the other, each several times: a second normal number of Python's or numpy's comes from the first, and changes no word.
DRAWS = {
    "nothing": lambda: None,
    "random": random.random,
    "gauss": lambda: random.gauss(0, 1),
    "a shuffle": lambda: random.shuffle([1, 2, 3]),
    "bits": lambda: random.getrandbits(7),
    "a seed": lambda: random.seed(5),
    "the state that it has": lambda: random.setstate(random.getstate()),
    "the next number alone": lambda: random.setstate((*random.getstate()[:2], 0.25)),
    "numpy's normal": lambda: numpy.random.normal(),
    "numpy's normal, one more": lambda: numpy.random.standard_normal(3),
    "numpy's integers": lambda: numpy.random.randint(0, 9),
    "numpy's choice": lambda: numpy.random.permutation(4),
    "numpy's seed": lambda: numpy.random.seed(5),
    "numpy's state": lambda: numpy.random.set_state(numpy.random.get_state()),
    "numpy's next number alone": lambda: numpy.random.set_state((*numpy.random.get_state()[:3], 1, 0.25)),
}


@pytest.fixture
def runtime(monkeypatch):
    from flor import _runtime
    texts = {}
    monkeypatch.setattr(_runtime, "put_text", lambda answer, name, text: texts.update({name: text}))
    monkeypatch.setattr(_runtime, "_texts", {})
    monkeypatch.setattr(_runtime, "noted", texts, raising=False)
    return _runtime


def states():
    name, keys, position, has_gauss, gauss = numpy.random.get_state()
    return json.loads(json.dumps({"python": random.getstate(), "numpy": [name, keys.tolist(), position, has_gauss, gauss.hex()]}))


@pytest.mark.parametrize("shows_memory", [True, False])
def test_what_is_noted_is_the_state(runtime, monkeypatch, shows_memory):
    if not shows_memory:
        monkeypatch.setattr(runtime, "memory_of_random", lambda: None)
        monkeypatch.setattr(runtime, "memory_of_numpy", lambda numpy_random: None)
    for what in [*DRAWS, *reversed(DRAWS), *(first for first in DRAWS for _ in range(3))]:
        DRAWS[what]()
        runtime._put_generators(None)
        assert {name: json.loads(runtime.noted[name]) for name in ("python", "numpy")} == states(), what


def test_a_generator_that_nobody_asked_gives_no_state(runtime, monkeypatch):
    assert runtime.memory_of_random() is not None and runtime.memory_of_numpy(numpy.random) is not None
    runtime._put_generators(None)
    monkeypatch.setattr(runtime.json, "dumps", lambda state: pytest.fail("a text was made anew"))
    runtime._put_generators(None)


def test_another_kind_of_generator_is_not_looked_at(monkeypatch):
    from flor import _generator_memory
    monkeypatch.setattr(random, "_inst", random.SystemRandom())
    assert _generator_memory.memory_of_random() is None
    assert _generator_memory.memory_of_numpy(type("numpy.random", (), {"get_state": len, "RandomState": int, "MT19937": int})) is None


def test_memory_that_lacks_a_part_of_the_state_is_not_taken_for_it():
    from flor._generator_memory import _shows
    words, drawn = [1, 2, 3], []
    memory = b"\1\0\0\0\2\0\0\0\3\0\0\0"
    assert not _shows(lambda: memory, lambda: drawn.append(1), lambda: words)
    assert not _shows(lambda: b"%d" % len(drawn), lambda: drawn.append(1), lambda: words)
    assert not _shows(lambda: drawn.append(1) or memory + b"%d" % len(drawn), lambda: None, lambda: words)
    assert _shows(lambda: memory + b"%d" % len(drawn), lambda: drawn.append(1), lambda: words)
