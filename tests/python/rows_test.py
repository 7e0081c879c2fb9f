"""Values of rows as JSON, as the C++ library writes them, and arguments as values of their defaults' types."""
import ast
import json
import pathlib
import sys

import numpy as np
import pytest
import torch


@pytest.mark.parametrize("value, text", [
    (None, "null"), (True, "true"), (3, "3"), (-(2 ** 63), "-9223372036854775808"), (2 ** 64 - 1, "18446744073709551615"),
    (2 ** 64, '"18446744073709551616"'), (0.1, "0.1"), (1e22, "1e+22"), (2.0, "2.0"), (float("nan"), '"NaN"'),
    (float("inf"), '"Infinity"'), (-float("inf"), '"-Infinity"'), (-0.0, "-0.0"), (5e-324, "5e-324"), ('a"\nä', '"a\\"\\nä"'),
    ([1, [2.5, None]], "[1,[2.5,null]]"), ((1, 2), "[1,2]"), ({"a": 1, 2: [3.0]}, '{"a":1,"2":[3.0]}'),
    (np.float32(0.1), "0.10000000149011612"), (np.int8(3), "3"), (np.array([[1, 2]]), "[[1,2]]"), (np.bool_(True), "true"),
    (torch.tensor(1.5), "1.5"), (torch.tensor([1, 2]), "[1,2]"), (torch.tensor([1 + 2j]), "[[1.0,2.0]]"),
    (torch.tensor([True]), "[true]"), (torch.tensor(1.0, dtype=torch.bfloat16), "1.0"), (torch.nn.Parameter(torch.ones(1)), "[1.0]"),
])
def test_values_are_json(value, text):
    from flor import _rows

    assert _rows._json_text(value) == text
    json.loads(text)


def test_a_large_tensor_is_logged_by_its_digest():
    from flor import _rows

    value = torch.arange(2000.0)
    said = json.loads(_rows._json_text(value))
    assert said == json.loads(_rows._json_text(value.numpy()))
    assert said["dtype"] == "F32" and said["shape"] == [2000] and len(said["xxh3"]) == 32
    value[1999] = 0
    assert json.loads(_rows._json_text(value)) != said


ARGUMENTS = """import flor
print([flor.arg("lr", 0.1), flor.arg("n", 3), flor.arg("flag", False), flor.arg("name", "x")])
for epoch in flor.loop("epoch", range(1)):
    print(flor.log("value", {"a": 1}))
"""


def test_arguments_are_values_of_the_types_of_their_defaults(place):
    place.write("program.py", ARGUMENTS)
    said = place.run("flor", "record", "--name", "a", "--arg", "lr=1e-3", "--arg", "n=7", "--arg", "flag=true", "--arg", "name=y z",
                     "--", sys.executable, "program.py").stdout
    assert "[0.001, 7, True, 'y z']" in said and "{'a': 1}" in said
    assert "lr=1e-3" in place.run("flor", "show", "a").stdout


def test_an_argument_of_another_type_gives_a_warning_and_the_default(place):
    place.write("program.py", ARGUMENTS)
    done = place.run("flor", "record", "--arg", "n=3.5", "--arg", "flag=yes", "--", sys.executable, "program.py")
    assert "[0.1, 3, False, 'x']" in done.stdout
    assert "argument n=3.5 is no int: the default 3 is used" in done.stderr
    assert "argument flag=yes is no bool (true or false): the default false is used" in done.stderr


def test_a_default_of_another_type_is_refused():
    import flor

    with pytest.raises(TypeError, match="must be a bool, int, float or str"):
        flor.arg("x", None)


def test_outside_flor_rows_are_printed(place):
    place.write("program.py", ARGUMENTS)
    assert 'epoch=0 value={"a":1}' in place.run(sys.executable, "program.py").stdout


def test_the_types_are_those_of_the_functions():
    import flor

    def signature(node):
        words = node.args
        return [word.arg for word in [*words.posonlyargs, *words.args]], words.vararg and words.vararg.arg, words.kwarg and words.kwarg.arg

    def named(tree):
        out = {}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name in ("__init__", "__enter__", "__exit__")):
                out[node.name] = signature(node)
            elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                out[node.name] = named(node)
        return out

    folder = pathlib.Path(flor.__file__).parent
    typed = named(ast.parse((folder / "__init__.pyi").read_text()))
    assert sorted(typed) == sorted(flor.__all__)
    found = {}
    for name in ("__init__", "_block", "_loop", "_rows"):
        found.update(named(ast.parse((folder / f"{name}.py").read_text())))
    assert typed == {name: found[name] for name in typed}
