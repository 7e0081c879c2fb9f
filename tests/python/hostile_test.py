"""What a record may not do, whoever wrote it: bind functions, or set what decides which code runs."""
import argparse
import collections
import configparser
import ctypes
import datetime
import decimal
import enum
import fractions
import json
import logging
import optparse
import os
import random
import shutil
import string
import sys
import tempfile

import numpy as np
import pytest
import torch
from state_test import restored, saved
from torch import nn


class Colour(enum.Enum):
    RED = 1


class Indexed:
    """Its index is code of the program's."""
    def __class_getitem__(cls, word):
        return shutil.which


@pytest.mark.parametrize("node", ['{"torch": "dtype", "is": "load"}', '{"torch": "dtype", "is": "save"}', '{"value": 1}', '{"leaf": "x"}'])
def test_a_record_makes_no_function_of_torch_a_value(node):
    """Whoever wrote the record may have put anything there: a program that calls it would load or write a file of its choice."""
    from flor import _restore

    settings, net = {"state": 1}, nn.Linear(2, 2)
    net.rate = 0.5
    for objects, old in (({"settings": settings}, '"items": [1]'), ({"net": net}, '"rate": {"float": "3fe0000000000000"}')):
        leaves = saved(**objects)
        name, = (name for name in leaves if name.endswith(".@tree"))
        text = bytes(leaves[name].memory()).decode()
        assert old in text
        for new in (old.replace("1]", node + "]").replace('{"float": "3fe0000000000000"}', node),
                    old.replace('"rate"', '"load_state_dict"')):
            leaves[name] = _leaf_of(text.replace(old, new))
            if new != old:
                with pytest.raises(_restore.Misfit):
                    restored(leaves, **objects)
    assert net.load_state_dict.__func__ is nn.Module.load_state_dict and settings == {"state": 1}


def _slots_of(frame, moved=(), **texts):
    """Restores into a frame what a record says: {path: tree}. `moved`: pairs of a path and where its object was, or its mark."""
    from flor import _origins, _slots

    state = _slots.SlotState(frame, set(), lambda path, why="": None, lambda path: False)
    origins = _origins.Origins([*frame.f_globals.items(), *frame.f_locals.items()])
    state.origins = (origins, origins)
    leaves = {f"{path}.@tree": _leaf_of(text) for path, text in texts.items()}
    if any("two numbers" in text for text in texts.values()):
        leaves["two numbers"] = _leaf_of("12345678", b"F32", 2)
    leaves[_origins.MARKS] = _leaf_of(json.dumps({f"{path}.@moved": {"at": origin} if isinstance(origin, str) else origin
                                                   for path, origin in moved}))
    try:
        for writing in (False, True):
            state._visit(dict(leaves), writing)
    finally:
        state.close()


here_is_data = 1
here_is_a_function = shutil.which
environment = os.environ
here_are_numbers = np.arange(8)
here_is_a_tensor = torch.arange(8.0)


@pytest.mark.parametrize("path, text", [
    ("sys:path", '{"list": "builtins.list", "items": ["/tmp/others"]}'), ("sys:modules", '{"dict": "builtins.dict", "keys": [], "items": []}'),
    ("builtins:print", "1"), ("torch:load", "1"), ("torch.load", "1"), ("torch.nn", "1"), ("os.name", '"nt"'), ("__name__", '"other"'),
    ("__builtins__", '{"dict": "builtins.dict", "keys": [], "items": []}'), ("here_is_a_function", "1"), ("Colour.RED", "1"),
    ("here_is_a_function.__defaults__", "1"), ("here_is_a_function", '{"object": "builtins.function", "attributes": {"__defaults__": 1}}'),
    ("environment", '{"object": "os._Environ", "attributes": {}}'), ("sys.path", '{"list": "builtins.list", "items": []}')])
def test_a_record_sets_nothing_that_decides_which_code_runs(path, text):
    """Whoever wrote the record may have named any place of the process."""
    from flor import _restore

    path_before, settings = list(sys.path), dict(os.environ)
    with pytest.raises(_restore.Misfit):
        _slots_of(sys._getframe(), **{path: text})
    assert sys.path == path_before and dict(os.environ) == settings and "torch" in sys.modules
    assert here_is_a_function is shutil.which and torch.load is not None and os.name == "posix"


class Handler(logging.FileHandler):
    pass


class Trainer:
    def __init__(self):
        self.log, self.rate, self.folder = logging.getLogger("hostile"), 0.5, None


here_is_a_logger = logging.getLogger("hostile")
here_is_a_handler = logging.FileHandler(os.devnull, delay=True)
here_is_a_handler_of_the_users = Handler(os.devnull, delay=True)
here_is_a_folder = tempfile.TemporaryDirectory()
here_is_a_trainer = Trainer()


@pytest.mark.parametrize("path, text", [
    ("here_is_a_logger", '{"object": "logging.Logger", "attributes": {"handlers": []}}'),
    ("here_is_a_handler", '{"object": "logging.FileHandler", "attributes": {"baseFilename": "/tmp/other"}}'),
    ("here_is_a_handler_of_the_users.baseFilename", '"/tmp/other"'),
    ("here_is_a_handler_of_the_users", '{"object": "hostile_test.Handler", "attributes": {"baseFilename": "/tmp/other"}}'),
    ("here_is_a_folder", '{"object": "tempfile.TemporaryDirectory", "attributes": {"name": "/tmp/other"}}'),
    ("here_is_a_folder", '{"kept": "tempfile.TemporaryDirectory", "module": "tempfile"}'),
    ("here_is_a_trainer", '{"object": "hostile_test.Trainer", "attributes": {"log": {"object": "logging.Logger", "attributes": {}}}}'),
    ("here_is_a_trainer.log", '{"object": "logging.Logger", "attributes": {"handlers": []}}')])
@pytest.mark.parametrize("mark", ["", "~"], ids=["compared", "in no digest"])
def test_a_record_sets_no_object_of_pythons_own_that_writes_or_removes_files(monkeypatch, mark, path, text):
    """Also where the program may change it, and where a digest would not show it."""
    from flor import _restore, _runtime

    is_users = _runtime.is_users
    monkeypatch.setattr(_runtime, "is_users", lambda module: getattr(module, "__name__", "") == __name__ or is_users(module))
    before = (here_is_a_handler.baseFilename, here_is_a_handler_of_the_users.baseFilename, here_is_a_folder.name)
    with pytest.raises(_restore.Misfit):
        _slots_of(sys._getframe(), **{mark + path: text})
    assert before == (here_is_a_handler.baseFilename, here_is_a_handler_of_the_users.baseFilename, here_is_a_folder.name)
    assert here_is_a_trainer.log is here_is_a_logger


def test_a_logger_in_an_object_of_the_program_stays_what_it_is():
    """So that the object can be restored."""
    trainer = Trainer()
    leaves = saved(trainer=trainer)
    trainer.rate = 0.25
    restored(leaves, trainer=trainer)
    assert trainer.rate == 0.5 and trainer.log is here_is_a_logger


def test_what_is_data_of_pythons_own_library_is_restored():
    args = argparse.Namespace(steps=1)
    leaves = saved(args=args)
    args.steps = 2
    restored(leaves, args=args)
    assert args.steps == 1


@pytest.mark.parametrize("kind", [argparse.Namespace, optparse.Values, random.Random, collections.UserDict, collections.Counter,
                                  configparser.ConfigParser, datetime.date, decimal.Decimal, fractions.Fraction, string.Template])
def test_classes_of_data_may_be_set(kind):
    from flor import _settable

    assert _settable.is_settable(kind) and not _settable.is_settable(logging.Handler)


def test_what_a_record_may_not_set_is_not_saved():
    trainer = Trainer()
    trainer.folder = here_is_a_folder
    with pytest.raises(TypeError, match="trainer.folder: an object of type tempfile.TemporaryDirectory cannot be saved"):
        saved(trainer=trainer)


def test_a_value_that_no_digest_has_is_one_of_a_clock():
    """Else a copied record could set anything, and be called identical."""
    from flor import _restore

    with pytest.raises(_restore.Misfit, match="here_is_data has no value of a clock here"):
        _slots_of(sys._getframe(), **{"~here_is_data": "2"})
    assert here_is_data == 1


@pytest.mark.parametrize("texts, moved", [
    ({"here_is_data": '{"object": "builtins.function", "attributes": {}}'}, [("here_is_data", "here_is_a_function")]),
    ({"here_is_a_function": '{"kept": "which"}', "here_is_data": '{"same": "here_is_a_function"}'}, ())])
def test_a_record_binds_no_function_to_another_name(texts, moved):
    from flor import _restore

    with pytest.raises(_restore.Misfit):
        _slots_of(sys._getframe(), moved, **texts)
    assert here_is_data == 1


@pytest.mark.parametrize("origin, text", [
    ("here_are_numbers", '{"list": "numpy.ndarray", "items": [1, 2], "shape": [2], "dtype": "|O"}'),
    ("here_are_numbers", '{"list": "numpy.ndarray", "items": [1, 2], "shape": [2], "dtype": "<i8", "array": "here_is_data"}'),
    ("here_are_numbers", '{"array": "here_is_data", "dtype": "|O", "shape": [2], "scalar": false}'),
    ("here_are_numbers", '{"array": "here_is_data", "dtype": "i4,O", "shape": [2], "scalar": false}'),
    ("here_are_numbers", '{"array": "here_is_data", "dtype": "<i8", "shape": [9], "scalar": false}'),
    ("here_are_numbers", '{"object": "numpy.ndarray", "attributes": {}, "shape": [2], "dtype": "<i8"}'),
    ("here_is_a_tensor", '{"array": "here_is_data", "dtype": "<i8", "shape": [2], "scalar": false}'),
    ("here_is_a_tensor", '{"list": "torch.Tensor", "items": [1, 2], "shape": [2]}')])
def test_a_record_makes_no_objects_of_bytes(origin, text):
    """An array of objects over the bytes of another array would take these for pointers."""
    from flor import _restore

    with pytest.raises(_restore.Misfit):
        _slots_of(sys._getframe(), [("here_is_data", {"of": origin, "offset": 0, "stride": [8]})], here_is_data=text)
    assert here_is_data == 1 and here_are_numbers.tolist() == list(range(8))


@pytest.mark.parametrize("origin, offset, stride", [
    ("here_is_a_tensor", 2 ** 62 - 2, [1]), ("here_is_a_tensor", -1, [1]), ("here_is_a_tensor", 0, [2 ** 62]), ("here_is_a_tensor", 2 ** 62 - 2, [2 ** 61]),
    ("here_is_a_tensor", 7, [1]), ("here_is_a_tensor", 0, [True]), ("here_is_a_tensor", 0.0, [1]), ("here_is_a_tensor", 0, [1, 1]),
    ("here_are_numbers", 0, [2 ** 62]), ("here_are_numbers", 0, [-8]), ("here_are_numbers", 8, [2 ** 63 - 8]), ("here_are_numbers", 57, [8])])
def test_a_record_writes_to_no_memory_around_an_array(origin, offset, stride):
    """PyTorch takes this place modulo 2 to the power of 64."""
    from flor import _restore

    text = {"here_is_a_tensor": '{"tensor": "two numbers", "complex": false, "device": "cpu", "trained": false}',
            "here_are_numbers": '{"array": "here_is_data", "dtype": "<i8", "shape": [2], "scalar": false}'}[origin]
    with pytest.raises(_restore.Misfit, match="no view"):
        _slots_of(sys._getframe(), [("here_is_data", {"of": origin, "offset": offset, "stride": stride})], here_is_data=text)
    assert here_are_numbers.tolist() == here_is_a_tensor.tolist() == list(range(8))


@pytest.mark.parametrize("live, kind, word", [([], "builtins.list", "x"), (Indexed(), f"{Indexed.__module__}.Indexed", "x"),
                                              (Colour.RED, f"{Colour.__module__}.Colour", "mro")])
def test_a_record_takes_enumerations_alone_by_an_index(live, kind, word):
    from flor import _restore

    leaves = saved(settings={"state": 1})
    name, = (name for name in leaves if name.endswith(".@tree"))
    text = bytes(leaves[name].memory()).decode()
    leaves[name] = _leaf_of(text.replace('"items": [1]', '"items": [' + json.dumps({"enum": word, "of": kind}) + "]"))
    settings = {"state": live}
    with pytest.raises(_restore.Misfit):
        restored(leaves, settings=settings)
    assert settings == {"state": live}


@pytest.mark.parametrize("key", ["_forward_hooks", "_modules", "training"])
def test_a_record_puts_nothing_into_what_pytorch_keeps_of_a_module(key):
    from flor import _restore

    net = nn.Linear(2, 2)
    net.sizes = {1: 2}
    net.register_forward_hook(print)
    leaves, before = saved(net=net), dict(getattr(net, key)) if key != "training" else net.training
    name, = (name for name in leaves if name.endswith(".@tree"))
    text = bytes(leaves[name].memory()).decode()
    assert text.count('"sizes"') == 1
    leaves[name] = _leaf_of(text.replace('"sizes"', f'"{key}"'))
    del net.sizes
    with pytest.raises(_restore.Misfit):
        restored(leaves, net=net)
    assert getattr(net, key) == before


@pytest.mark.parametrize("path, kind", [("here_are_numbers", "numpy.ndarray"), ("here_is_a_tensor", "torch.Tensor")])
def test_a_record_fills_containers_alone_as_lists(path, kind):
    from flor import _restore

    for text in (f'{{"list": "{kind}", "items": []}}', f'{{"dict": "{kind}", "keys": [], "items": []}}'):
        with pytest.raises(_restore.Misfit):
            _slots_of(sys._getframe(), **{path: text})


def test_a_record_sets_data_of_the_program():
    global here_is_data
    here_is_data = 1
    _slots_of(sys._getframe(), here_is_data="2")
    assert here_is_data == 2
    here_is_data = 1


def _leaf_of(text, kind=b"U8", count=None):
    from flor import _leaves, _library

    leaf = _leaves.of_bytes(text.encode())
    shape = (ctypes.c_int64 * 1)(count or leaf.shape[0])
    loaded = _leaves.Loaded(_library.Buffer(b"x", kind, shape, 1, 0, leaf.pointer, leaf.size))
    loaded.kept = leaf
    return loaded


@pytest.mark.parametrize("make, old, new", [
    (lambda: np.random.Generator(np.random.MT19937(1)), "}, 623]", "}, 625]"), (lambda: np.random.RandomState(1), "}, 624]", "}, -1]"),
    (lambda: np.random.Generator(np.random.Philox(1)), "}, 4, 0, 0]", "}, 5, 0, 0]"),
    (lambda: np.random.Generator(np.random.Philox(1)), "}, 4, 0, 0]", "}, true, 0, 0]"),
])
def test_a_record_sets_no_place_beyond_the_memory_of_a_generator(make, old, new):
    """numpy would read there for the next number."""
    from flor import _restore

    rng = make()
    leaves = saved(rng=rng)
    text = bytes(leaves["rng.@tree"].memory()).decode()
    assert text.count(old) == 1
    restored(leaves, rng=rng)
    leaves["rng.@tree"] = _leaf_of(text.replace(old, new))
    with pytest.raises(_restore.Misfit):
        restored(leaves, rng=rng)


def test_a_record_sets_no_place_beyond_the_memory_of_the_default_generator():
    from flor import _places

    state = np.random.get_state()
    _places.check(state)
    for place in (-1, 625, 1.0):
        with pytest.raises(ValueError):
            _places.check((*state[:2], place, *state[3:]))
