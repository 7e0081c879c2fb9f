"""A block that is left in its middle takes what follows it along: a resumed recording and a replay execute it again, since a block that is
skipped always ends at its end."""
import ast

import pytest
from carried_test import goes_on, slowed
from unseen_test import BEGIN

IN_A_FUNCTION = BEGIN + '''
def epoch_of(epoch):
    for k in range(5):
        optimizer.step([k, 1, 2, 3])
        if k == 2 and epoch % 3 == 0:
            return 1.0
    for k in range(4):
        weights[k] *= 0.9
    return 0.0
for epoch in EPOCHS:
    early = epoch_of(epoch)
    print("loss", weights[0], early, flush=True)
    if epoch == 7:
        break
'''
BY_ELSE = BEGIN + '''
import itertools
for epoch in itertools.count():
    for k in range(5):
        if epoch == 7:
            break
        optimizer.step([k, 1, 2, 3])
    else:
        print("loss", weights[0], flush=True)
        continue
    break
'''
WITH_WORDS = BEGIN + '''
import flor
def epoch_of(epoch):
    with flor.skip_block("train", weights) as train:
        if train.step_into():
            for k in range(5):
                optimizer.step([k, 1, 2, 3])
                if k == 2 and epoch % 3 == 0:
                    return 1.0
    for k in range(4):
        weights[k] *= 0.9
    return 0.0
with flor.checkpointing(weights):
    for epoch in flor.loop("epoch", range(8)):
        early = epoch_of(epoch)
        flor.log("weight", weights[0])
        print("loss", weights[0], early, flush=True)
'''
CASES = {
    "by return": IN_A_FUNCTION.replace("EPOCHS", "range(8)"),
    "by return, where the loop begins anew": IN_A_FUNCTION.replace("EPOCHS", "__import__('itertools').count()"),
    "by continue": BY_ELSE,
    "by return, with words": WITH_WORDS,
}


@pytest.mark.parametrize("case", CASES)
def test_a_resumed_recording_executes_it(place, case):
    goes_on(place, slowed(CASES[case]))


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
