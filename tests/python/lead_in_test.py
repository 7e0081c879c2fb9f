"""A block that reads what it changed before, and that no checkpoint holds, executes in front of what was asked for, too (rule 18a)."""
import pytest
from free_test import have, plain
from unseen_test import program

ENDLESS = '''
def forever():
    while True:
        yield random.random()
targets = forever()
'''
DRAWN = program(ENDLESS, "[next(targets)] * 4")[0].replace("import time; time.sleep(0.2)", "pass")
LEFT = DRAWN.replace('    print("loss"', '    if epoch == 6: break\n    print("loss"')
INNER, OUTER = ("        optimizer.step(", "        print('before', weights[0])\n        optimizer.step("), ("    print(\"loss\"", "    print('after', weights[1])\n    print(\"loss\"")


@pytest.mark.parametrize("text, edit", [(DRAWN, INNER), (DRAWN, OUTER), (LEFT, INNER), (LEFT, OUTER)])
def test_a_replay_by_two_workers_has_the_rows_of_a_plain_run(place, text, edit):
    place.write("train.py", text)
    place.record("train.py")
    place.write("train.py", text.replace(*edit))
    said = place.replay("train.py", "--workers", 2)
    assert ": identical" in said and "taken back" not in said, said
    assert sorted(have(place)) == sorted(plain(place, "train.py")[1])


def answer(text, *edit, seen=(("i", "targets"),)):
    from flor import _edits
    from flor._project import Project
    from flor._program import Program
    from flor._rewrite import rewritten

    def read(one):
        return Program("/train.py", "", rewritten(Project("/train.py", lambda _: one))["/train.py"])
    return _edits.Analysis([(read(text), read(text.replace(*edit)))], seen).answer()


def test_it_executes_there_only_where_it_executes_at_all():
    assert answer(DRAWN, *INNER)["lead_in"] == answer(DRAWN, *INNER)["blocks"] == ["i"]
    assert answer(DRAWN, *OUTER)["lead_in"] == answer(DRAWN, *OUTER)["blocks"] == []
    said = answer(LEFT, *OUTER)
    assert said["lead_in"] == said["blocks"] == ["i"] and "the main loop may be left in line" in said["reasons"][0], said
    assert answer(LEFT, *OUTER, seen=())["blocks"] == []
    # What each step makes anew is no such thing.
    own = DRAWN.replace("optimizer.step([next(targets)] * 4)", "batch = [next(targets)] * 4\n        optimizer.step(batch)")
    assert answer(own, "        optimizer.step(", "        print(batch)\n        optimizer.step(", seen=())["lead_in"] == []


def test_by_what_a_main_loop_may_be_left():
    from flor._program import Program, may_be_left

    def line(body):
        read = Program("train.py", "def f():\n for epoch in range(9):\n" + body)
        left = may_be_left(read, read.tree.body[0].body[0])
        return left and left.lineno

    assert line("  if a: break\n") == 3 and line("  b()\n  return\n") == 4 and line("  if c: raise ValueError\n") == 3
    assert line("  for x in y:\n   break\n  else:\n   break\n") == 6
    assert line("  for x in y: break\n  while z: break\n  def g(): return 1\n  continue\n") is None
    assert line("  if not __flor_loop__.goes_on(a < b): break\n") is None
