"""What leaves a block in its middle, so that what follows it does not execute."""
import ast

import pytest

JUMPS = {
    "for x in y: break": False, "for x in y: continue": False, "while x:\n    if y: break": False,
    "for x in y: pass\nelse: continue": True, "for x in y: pass\nelse: break": True, "while x: pass\nelse: break": True,
    "for x in y:\n    for z in x: pass\n    else: continue": False, "for x in y:\n    while x: pass\n    else: break\nelse: continue": True,
    "for x in y:\n    try: x()\n    except KeyError: break\n    else: continue": False, "continue": True, "return 1": True,
    "def f(): return 1": False,
}


@pytest.mark.parametrize("text", JUMPS)
def test_what_leaves_a_block(place, text):  # pylint: disable=unused-argument
    from flor._program import Program, leaves

    body = "\n".join("                " + line for line in text.splitlines())
    program = Program("train.py", "import flor\ndef f():\n    for epoch in flor.loop('epoch', [1]):\n        with flor.skip_block('b') as b:\n"
                                  f"            if b.step_into():\n{body}\n")
    left = leaves(program, program.blocks[0])
    assert isinstance(left, (ast.Break, ast.Continue, ast.Return)) is JUMPS[text] and (left is not None) is JUMPS[text]
