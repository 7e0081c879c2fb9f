"""Values of the standard library that never change are made again, and a record makes nothing else."""
import ctypes
import datetime
import decimal
import fractions
import json
import pathlib

import pytest
from state_test import restored, saved


@pytest.mark.parametrize("value", [
    decimal.Decimal("-1.50"), decimal.Decimal("NaN"), fractions.Fraction(-2, 6), pathlib.Path("a/b"), pathlib.PurePosixPath("."),
    datetime.timedelta(-1, 5, 7), datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 1, 2, 3, 4)])
def test_values_of_the_standard_library_are_made_again(value):
    state = {"it": value}
    leaves = saved(state=state)
    state["it"] = None
    restored(leaves, state=state)
    assert repr(state["it"]) == repr(value) and type(state["it"]) is type(value)


@pytest.mark.parametrize("name", ["os.system", "decimal.getcontext", "pathlib.Path"])
def test_a_record_makes_nothing_else(name):
    from flor import _leaves, _library, _restore

    tree = json.dumps({"made": name, "of": ["x"]}).encode()
    memory = ctypes.create_string_buffer(tree, len(tree))
    shape = (ctypes.c_int64 * 1)(len(tree))
    leaf = _leaves.Loaded(_library.Buffer(b"", b"U8", shape, 1, 0, ctypes.addressof(memory), len(tree)))
    with pytest.raises(_restore.Misfit, match="is no"):
        restored({"state.@tree": leaf}, state={})
