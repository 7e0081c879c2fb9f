"""Which blocks execute for which edit: the analysis of sources, on short programs."""
import subprocess
import sys

import pytest

PROGRAM = """import torch
import flor
from torch import nn

def evaluate(net, data):
    total = 0
    for x, y in data:
        loss = net(x)
        total += loss.sum().item()
    return total

def augment(x):
    y = x * 2
    return y

net, optimizer, scheduler, loader = build()
history = []
with flor.checkpointing(net=net, optimizer=optimizer, scheduler=scheduler):
    for epoch in flor.loop("epoch", range(9)):
        with flor.skip_block("train", net, optimizer) as train:
            if train.step_into():
                for x, y in flor.loop("step", loader):
                    net.zero_grad()
                    loss = net(augment(x)).sum()
                    loss.backward()
                    optimizer.step()
                    flor.log("loss", loss.item())
        with flor.skip_block("tune", net) as tune:
            if tune.step_into():
                net.scale += 1
        scheduler.step()
        score = evaluate(net, loader)
        history.append(score)
        flor.log("score", score)
"""
SCORE = '        flor.log("score", score)\n'
LOSS = '                    flor.log("loss", loss.item())\n'


def asked(recorded, *edits, seen=()):
    from flor import _edits, _program

    present = recorded
    for old, new in edits:
        assert present.count(old) == 1, old
        present = present.replace(old, new)
    pair = (_program.Program("/x/train.py", recorded), _program.Program("/x/train.py", present))
    return _edits.Analysis([pair], seen).answer()


def behind(line, added):
    return (line, line + added)


NORM = 'flor.log("norm", net.weight.grad.norm().item())\n'
BLOCK = '        with flor.skip_block("train", net, optimizer) as train:\n'
NORM_OF = "def norm_of(net):\n    return sum(p.grad.norm().item() for p in net.parameters())\n\n"
WITH_NORM = PROGRAM.replace("def augment", NORM_OF + "def augment")


@pytest.mark.parametrize("program, edit, from_start", [
    (PROGRAM, behind(SCORE, "        " + NORM), False), (WITH_NORM, behind(SCORE, '        flor.log("norm", norm_of(net))\n'), False),
    (PROGRAM, behind(SCORE, '        flor.log("norm", sum(p.grad.norm() for p in net.parameters()).item())\n'), False),
    (PROGRAM, behind(SCORE, '        flor.log("norm", torch.stack([p.grad.norm() for p in list(net.parameters())]).norm().item())\n'), False),
    (PROGRAM, behind(SCORE, '        flor.log("norm", getattr(net.weight, "grad").norm().item())\n'), False),
    (PROGRAM, (BLOCK, "        " + NORM + BLOCK), False), (PROGRAM, (BLOCK, "        norm = net.weight.grad.norm().item()\n" + BLOCK), False),
    # What no guard holds has after a restore what this process has computed.
    (PROGRAM, behind(SCORE, "        " + NORM.replace("net.", "other.")), True),
    (WITH_NORM, behind(SCORE, '        flor.log("norm", norm_of(other))\n'), True),
    (PROGRAM, behind(SCORE, '        flor.log("norm", sum(p.grad.norm() for p in other.parameters()).item())\n'), True),
    (PROGRAM, behind(LOSS, "                    " + NORM.replace("net.", "other.")), True)])
def test_a_log_statement_that_reads_gradients_executes_the_blocks_that_leave_them(program, edit, from_start):
    edits = [edit] if "norm = " not in edit[1] else [edit, behind(SCORE, '        flor.log("norm", norm)\n')]
    said = asked(program, *edits)
    assert said["all"] and said["from_start"] == from_start, said["reasons"]


def test_a_block_that_reads_gradients_executes_and_computes_them():
    said = asked(PROGRAM, behind(LOSS, "                    " + NORM))
    assert not said["all"] and not said["from_start"] and said["blocks"] == ["train"], said["reasons"]


def test_nothing_edited_executes_nothing():
    answer = asked(PROGRAM)
    assert (answer["all"], answer["blocks"], answer["from_start"], answer["reasons"], answer["probes"]) == (False, [], False, [], [])


def test_what_is_bound_in_front_of_a_block_and_changed_in_it_must_be_held():
    recorded = PROGRAM.replace('        with flor.skip_block("train"', '        worst = []\n        with flor.skip_block("train"').replace(
        LOSS, LOSS + "                    worst.append(loss)\n")
    assert asked(recorded, behind(SCORE, '        flor.log("lr", scheduler.get_last_lr()[0])\n'))["blocks"] == []
    answer = asked(recorded, behind(SCORE, '        flor.log("worst", len(worst))\n'))
    assert answer["blocks"] == ["train"], answer["reasons"]
    # Bound anew behind the block, it is another object.
    assert asked(recorded, (SCORE, '        worst = [score]\n' + SCORE), )["all"]
    later = recorded.replace(SCORE, "        worst = [score]\n" + SCORE)
    assert asked(later, behind(SCORE, '        flor.log("worst", len(worst))\n'))["blocks"] == []


IN_EVALUATE = "        total += loss.sum().item()\n"


@pytest.mark.parametrize("added, is_harmless", [
    # A name of another function is none of this one.
    (behind(IN_EVALUATE, '        score = loss.max()\n        flor.log("max", score)\n'), True),
    (behind(IN_EVALUATE, '        total = loss.max()\n        flor.log("max", total)\n'), False),
    (behind(SCORE, '        x = net.scale\n        flor.log("scale", x)\n'), False),
    # A loop over what an object has, and a sum.
    (behind(SCORE, '        sum_of = 0\n        for key, p in net.named_parameters():\n            sum_of += p.norm()\n'
                   '            flor.log("norm", p.norm())\n        flor.log("sum", sum_of)\n'), True),
    (behind(SCORE, '        for key in loader:\n            flor.log("key", key)\n'), False),
    (behind(SCORE, '        for x in net.parameters():\n            flor.log("norm", x.norm())\n'), False),
    # Where variables are read by no name, each is one that counts.
    (behind("    y = x * 2\n", '    z = x + 1\n    flor.log("z", z)\n    return locals()\n'), False),
    (behind("from torch import nn\n", "import flor\n"), True),
])
def test_new_variables_and_loops(added, is_harmless):
    # A method called eval() is not the function that reads variables.
    for recorded in (PROGRAM, PROGRAM.replace("    total = 0\n", "    total = net.eval().total\n")):
        answer = asked(recorded, added)
        assert answer["all"] != is_harmless, answer["reasons"]


@pytest.mark.parametrize("edit, blocks, name", [
    (behind(SCORE, '        flor.log("lr", scheduler.get_last_lr()[0])\n'), [], "lr"),
    (behind(LOSS, '                    flor.log("norm", net.weight.grad.norm().item())\n'), ["train"], "norm"),
    (behind(LOSS, '                    g = net.weight.grad\n                    h = g.norm()\n'
                  '                    flor.log("norm", h.item())\n'), ["train"], "norm"),
    (behind(LOSS, '                    if epoch % 2 == 0:\n                        with torch.no_grad():\n'
                  '                            flor.log("even", net(x).mean().item())\n'), ["train"], "even"),
    (behind("                net.scale += 1\n", '                flor.log("scale", net.scale)\n'), ["tune"], "scale"),
    (behind("    y = x * 2\n", '    flor.log("y", y.mean().item())\n'), ["train"], "y"),
    (behind("        loss = net(x)\n", '        flor.log("part", loss.item())\n'), [], "part"),
    ((SCORE, SCORE + "        # a comment\n\n"), [], None),
    ((LOSS, ""), [], None),
])
def test_added_logs_execute_the_blocks_that_they_stand_in(edit, blocks, name):
    answer = asked(PROGRAM, edit)
    assert (answer["all"], answer["blocks"]) == (False, blocks), answer["reasons"]
    assert [probe["name"] for probe in answer["probes"]] == ([name] if name else [])
    assert answer["lead_in"] == [] and not answer["from_start"]


@pytest.mark.parametrize("edit, reason", [
    (("x * 2", "x * 3"), "train.py:13: changed code"),
    (("range(9)", "range(10)"), "train.py:19: changed code"),
    (behind(SCORE, "        score = 0\n"), "changed code"),
    (behind(SCORE, '        (n := 1)\n'), "changed code"),
    (behind(SCORE, '        flor.log("n", next(loader))\n'), "calls next(), which may change state"),
    (behind(SCORE, '        flor.log("n", net.weight.zero_())\n'), "calls zero_(), which may change state"),
    (behind(SCORE, '        z = net.train()\n        flor.log("z", str(z))\n'), "calls train(), which may change state"),
    (("import torch\n", "import torch, os\n"), "changed code"),
    (behind("import flor\n", "import extra\n"), "changed code"),
    (("def augment(x):\n", "@compiled\ndef augment(x):\n"), "changed code"),
    (behind(SCORE, "        h = net.register_forward_hook(f)\n"), "no log statement uses the new variable h"),
    (behind("history = []\n", "rate = 2\n"), "no log statement uses the new variable rate"),
    (behind("def augment(x):\n", "    class Part(nn.Module):\n        momentum = 0.5\n"), "changed code"),
])
def test_every_other_edit_executes_everything(edit, reason):
    answer = asked(PROGRAM, edit)
    assert answer["all"] and any(reason in one for one in answer["reasons"]), answer["reasons"]


@pytest.mark.parametrize("brought, log", [
    ("import math\n", "math.log(score)"), ("from math import log as ln\n", "ln(score)"), ("import numpy as np\n", "np.log(score)"),
    ("def norm_of(net):\n    total = [p.norm().item() for p in net.parameters()]\n    return sum(total)\n", "norm_of(net)"),
])
def test_imports_and_functions_that_only_compute_change_nothing(brought, log):
    answer = asked(PROGRAM, behind("from torch import nn\n", brought), behind(SCORE, f'        flor.log("new", {log})\n'))
    assert not answer["all"] and not answer["from_start"] and answer["blocks"] == [], answer["reasons"]
    assert [probe["name"] for probe in answer["probes"]] == ["new"]


def test_a_recorded_log_behind_other_code_is_the_same_one():
    """It keeps its name, by which its rows are found in the record."""
    from flor import _program, _reports, _skeleton

    handle = _reports.HANDLE
    program = PROGRAM.replace("flor.", f"{handle}.").replace("import flor", f"import flor._free as {handle}").replace(f"{handle}.log(", f"{handle}.noted(")
    recorded = _program.Program("/x/train.py", program)
    present = _program.Program("/x/train.py", "import extra\n" + program.replace("        history.append(score)\n", "        history.append(score)\n"
                               f'        extra.look(net)\n        {handle}.noted("score", score)\n', 1))
    _skeleton.name_anew(recorded, present)
    assert sorted(log.args[0].value for log in present.logs) == ["loss", "score", "score (new)"]


@pytest.mark.parametrize("edits, from_start", [
    ([("x * 2", "x * 3")], False), ([("range(9)", "range(10)")], False),
    ([behind("    y = x * 2\n", "    y = y.abs() + y.mean()\n")], False),
    ([behind("    y = x * 2\n", "    history.append(1)\n")], True), ([behind("    y = x * 2\n", "    net.seen = 1\n")], True),
    ([behind("    y = x * 2\n", "    global count\n    count = 1\n")], True), ([behind("    y = x * 2\n", "    look(y)\n")], True),
    ([behind("history = []\n", "seen = []\n"), behind("    y = x * 2\n", "    seen.append(1)\n")], True),
    ([behind("from torch import nn\n", "def count(flag, seen=[]):\n    seen.append(flag)\n    return len(seen)\n"),
      behind(SCORE, '        flor.log("new", count(score > 0))\n')], True),
    ([behind("history = []\n", "best = 0\n"), behind(SCORE, "        best = max(best, score)\n")], True),
])
def test_new_code_that_may_last_begins_at_the_start(edits, from_start):
    answer = asked(PROGRAM, *edits)
    assert answer["from_start"] == from_start and (answer["all"] or from_start), answer["reasons"]


@pytest.mark.parametrize("value, log, from_start", [
    ("net.weight.norm().item()", "net.weight.norm().item() / kept", False), ("{k: v.clone() for k, v in net.state_dict().items()}",
                                                                           "sum((p - kept[k]).norm().item() for k, p in net.named_parameters())", False),
    ("loader.first", "evaluate(net, kept)", False), ("torch.zeros(3)", "torch.dist(net.weight, kept)", False), ("[1, 2]", "len(kept) + max(kept)", False),
    ("{'a': Counter()}", "kept['a'].see(score)", True), ("Counter()", "kept.of.see(score)", True), ("[Counter()]", "[one.see(score) for one in kept]", True),
    ("iter(range(9))", "next(kept)", True), ("iter(data)", "[one for one, _ in zip(kept, range(1))]", True), ("(x for x in data)", "sum(kept)", True), ("torch.Generator()", "torch.rand(1, generator=kept)", True), ("[]", "heapq.heappush(kept, score)", True),
    ("torch.zeros(3)", "torch.add(net.weight, 1, out=kept)", True), ("Counter()", "count(kept, score)", True), ("torch.zeros(3)", "kept.data.mul_(2)", True),
])
def test_what_a_question_changes_itself_begins_at_the_start(value, log, from_start):
    program = PROGRAM.replace("def augment", "def count(counter, score):\n    counter.see(score)\n    return counter.n\n\ndef augment")
    answer = asked(program.replace("import torch\n", "import heapq\nimport torch\n", 1), behind("history = []\n", f"kept = {value}\n"),
                   behind(SCORE, f'        flor.log("new", {log})\n'))
    assert answer["from_start"] == from_start, answer["reasons"]


def test_another_file_of_an_own_package_is_new_code():
    from flor import _program, _skeleton

    names = _skeleton.Names([_program.Program("/home/ada/train.py", "import utils.data, metrics, torch\n"), _program.Program("/home/ada/utils/data.py", ""),
                             _program.Program("/home/ada/metrics.py", "")])
    assert names.packages == {"metrics", "torch"}


LISTINGS = ["len(list(folder.iterdir()))", "os.path.exists('best.pt')", "saved()", "sorted(os.listdir('out')).pop()", "len(kept)"]
READINGS = ["float(open('best.txt').read())", "best()", "numpy.genfromtxt('a.csv').min()", "torch.load('best.pt')['epoch']"]
# Ways to write a file.
WRITES = ["torch.save(net.state_dict(), 'best.pt')", "save(net, 'best.pt')", "file = open('a.txt', mode)", "shutil.copy('a.pt', 'b.pt')", "score.numpy().tofile('a')",
          "if not flor.replaying():\n            torch.save(net.state_dict(), 'best.pt')"]


def with_files(write=""):
    """A program that has functions for files; `write`: a statement behind each iteration."""
    functions = "def best():\n    with open('best.txt') as file:\n        return float(next(file))\n\ndef saved():\n    return len(os.listdir('out'))\n\ndef augment"
    kept = "        kept = sorted(folder.glob('*.pt'))\n"
    return PROGRAM.replace("def augment", functions).replace(SCORE, SCORE + kept + (f"        {write}\n" if write else ""))


@pytest.mark.parametrize("log", READINGS)
def test_files_are_in_no_checkpoint(log):
    answer = asked(with_files(), behind(SCORE, f'        flor.log("new", {log})\n'))
    assert answer["all"] and answer["from_start"], answer["reasons"]
    assert [probe["withheld"] for probe in answer["probes"]] == [""]


@pytest.mark.parametrize("log, write", [*((log, "") for log in LISTINGS), *((log, WRITES[0]) for log in READINGS), *((READINGS[0], write) for write in WRITES)])
def test_files_that_others_write_are_not_answered(log, write):
    for edits in ([], [("    y = x * 2\n", "    y = 2 * x\n")], [behind("history = []\n", "unused = 3\n")]):  # whatever else was edited
        answer = asked(with_files(write), *edits, behind(SCORE, f'        flor.log("new", {log})\n'))
        (probe,) = answer["probes"]
        assert "files" in probe["withheld"], answer["reasons"]


@pytest.mark.parametrize("edits", [[("    y = x * 2\n", "    y = 2 * x\n")], [behind("def augment(x):\n", "    unused = 3\n")]])
def test_what_a_question_keeps_is_looked_at_whatever_else_was_edited(edits):
    answer = asked(PROGRAM, *edits, behind("history = []\n", "kept = Counter()\n"), behind(SCORE, '        flor.log("new", kept.see(score))\n'))
    assert answer["from_start"], answer["reasons"]


@pytest.mark.parametrize("forward, from_start", [("x -= x.mean()\n        return x", True), ("x.mul_(2)\n        return x", True), ("x[0] = 1\n        return x", True),
                                                 ("x = x * 2\n        x += 1\n        return x", False), ("return x * 2", False)])
def test_a_tensor_of_the_question_that_a_network_changes_begins_at_the_start(forward, from_start):
    program = PROGRAM.replace("def augment", f"class Net(nn.Module):\n    def forward(self, x):\n        {forward}\n\ndef augment")
    answer = asked(program, behind("history = []\n", "kept = torch.ones(2)\n"), behind(SCORE, '        flor.log("new", net(kept).sum())\n'))
    assert answer["from_start"] == from_start, answer["reasons"]


@pytest.mark.parametrize("log, needs_graph", [
    ("kept.item()", False), ("kept.mean()", False), ("f'{kept.mean()}'", False), ("f'{kept.sum() / 3:.2f}'", False), ("kept.argmax(1).float().mean()", False),
    ("(kept > 0).sum()", False), ("torch.softmax(kept, 1).max().item()", False), ("abs(kept.sum()).item()", False), ("kept.detach()", False),
    ("str(kept)", True), ("f'{kept}'", True), ("f'{kept.abs()}'", True), ("f'{kept.mean(1)}'", True), ("abs(kept.sum()).requires_grad", True),
    ("kept.requires_grad", True), ("show(kept)", True), ("holder()", True), ("shown()", True),
])
def test_what_shows_a_graph_that_no_checkpoint_has_begins_at_the_start(log, needs_graph):
    program = PROGRAM.replace("def augment", "class Holder:\n    def __call__(self):\n        return kept.requires_grad\n\nshown = lambda: f'{kept}'\n\n"
                              "def show(what):\n    return repr(what)\n\ndef augment").replace("history = []\n", "kept, holder = None, Holder()\n")
    program = program.replace("        history.append(score)\n", "        kept = kept if epoch else net(torch.ones(2, 2))\n")
    answer = asked(program, behind(SCORE, f'        flor.log("new", {log})\n'), seen=[("@graphs", "kept")])
    assert any("no checkpoint tells how it was computed" in reason for reason in answer["reasons"]) == needs_graph, answer["reasons"]


def test_a_log_statement_reaches_no_method_that_has_its_name():
    program = PROGRAM.replace("def augment", "class Logger:\n    def log(self, text):\n        print(self.bar.n, text)\n\ndef augment")
    for log, reaches in (('flor.log("new", score)', False), ('flor.log("new", logger.log(score))', True)):
        answer = asked(program, behind(SCORE, f"        {log}\n"), seen=[("@bars", "logger.bar")])
        assert answer["from_start"] == reaches, answer["reasons"]


def test_a_log_in_a_method_that_python_calls_itself_executes_everything():
    program = PROGRAM + "\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n"
    assert asked(program, ("        return x\n", '        flor.log("x", 1)\n        return x\n'))["all"]


def test_a_log_that_moves_is_another_one():
    answer = asked(PROGRAM, (LOSS, ""), (SCORE, SCORE + '        flor.log("loss", loss.item())\n'))
    assert [probe["block"] for probe in answer["probes"]] == [""]
    assert answer["blocks"] == answer["lead_in"] == ["train"]
    assert "block train changes loss, which it does not hold" in answer["reasons"][0]


@pytest.mark.parametrize("edits", [
    [(LOSS, ""), behind("                    loss.backward()\n", LOSS)],
    [(SCORE, "        if epoch % 2:\n            pass\n        else:\n            flor.log('even', 1)\n" + SCORE)],
])
def test_a_log_in_another_place_of_the_same_statements_is_another_one(edits):
    answer = asked(PROGRAM, *edits)
    assert len(answer["probes"]) == 1


def test_names_of_blocks_are_those_of_the_record():
    assert asked(PROGRAM.replace('"train"', '"train it!"'), behind(LOSS, '                    flor.log("n", 1)\n'))["blocks"] == ["train_it_"]


@pytest.mark.parametrize("edits, block", [
    ([("net.scale += 1", "count = 1"), behind(SCORE, "        print(count)\n")], "tune"),
    ([("net.scale += 1", "count += 1"), behind(SCORE, "        print(count)\n")], "tune"),
    ([("net.scale += 1", "history.append(1)"), behind(SCORE, "        print(history)\n")], "tune"),
    ([("net.scale += 1", "table['a'] = 1"), behind(SCORE, "        print(table['b'])\n")], "tune"),
    ([("net.scale += 1", "count = 1"), ("net, optimizer, sch", "count = 0\nnet, optimizer, sch"), behind(SCORE, "print(count)\n")],
     "tune"),
    ([("net.scale += 1", "count = 1"), behind("def augment(x):\n", "    print(count)\n")], "tune"),
    ([("net.scale += 1", "run.count = 1"), behind("def augment(x):\n", "    run.count\n")], "tune"),
])
def test_what_a_block_changes_and_others_read_must_be_held(edits, block):
    program = PROGRAM
    for old, new in edits:
        program = program.replace(old, new)
    answer = asked(program)
    assert answer["blocks"] == answer["lead_in"] == [block], answer["reasons"]


@pytest.mark.parametrize("added", [
    "        for loss in [1]:\n            print(loss)\n",
    "        print([loss for loss in history])\n",
    "        print((lambda loss: loss)(1))\n",
    "        loss = 3\n        print(loss)\n",
    "        print(sum(loss for loss in history))\n",
])
def test_a_name_that_is_bound_anew_is_another_value(added):
    assert asked(PROGRAM.replace(SCORE, SCORE + added))["blocks"] == []


@pytest.mark.parametrize("old, new, name", [
    (", scheduler=scheduler", "", "scheduler"),
    (SCORE, SCORE + "        best = max(best, score)\n", "best"),
    (SCORE, SCORE + "        if epoch == 2:\n            mark = 1\n        print(mark)\n", "mark"),
    (SCORE, SCORE + "        print(history[-2:])\n", "history"),
    (SCORE, SCORE + "print(history)\n", "history"),
    (SCORE, SCORE + "        state['a'] = 1\n        print(state)\n", "state"),
])
def test_what_iterations_pass_on_the_guard_must_hold(old, new, name):
    answer = asked(PROGRAM.replace(old, new))
    assert answer["from_start"] and f"passes {name} to the next" in answer["reasons"][-1], answer["reasons"]


def test_what_is_read_before_the_loop_alone_is_no_matter():
    program = PROGRAM.replace("history = []\n", "loss = 1\nhistory = [loss]\n")
    assert asked(program)["blocks"] == []
    assert asked(program.replace("history = [", "for fold in range(2):\n  print(loss)\nhistory = ["))["blocks"] == []


def test_an_object_that_a_block_holds_may_be_changed_by_an_operator():
    program = PROGRAM.replace("net.scale += 1", "net += 1")
    assert asked(program)["blocks"] == [] and not asked(program)["from_start"]


def test_clocks_are_volatile():
    answer = asked(PROGRAM, behind(SCORE, '        flor.log("now", time.time())\n'))
    assert [probe["volatile"] for probe in answer["probes"]] == [True]


def test_what_python_cannot_read_executes_everything(tmp_path):
    import json
    import os

    import flor

    file = tmp_path / "asked.json"
    file.write_text(json.dumps({"files": [{"path": "/x/a.py", "recorded": "x = 1", "present": "x ="}]}))
    done = subprocess.run([sys.executable, "-m", "flor._edits", file], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(flor.__file__))})
    answer = json.loads(done.stdout)
    assert answer["all"] and "a.py: Python cannot read it" in answer["reasons"][0]


@pytest.mark.parametrize("lines, note", [
    ("torch.save(net.state_dict(), 'last.pt')", "save() writes a file: each worker may"),
    ("with open('a', 'w') as file: pass", "open() writes a file: each worker"), ("with open('a', mode='ab') as file: pass", "open() writes a file"),
    ("if not flor.replaying():\n    torch.save(net, 'last.pt')", None), ("with open('a') as file: pass", None), ("with open('a', 'rb') as file: pass", None), ("frame.to_csv('a')", "to_csv() writes a file"),
    ("np.save('a', x); np.save('b', x)", "save() writes a file, and in 1 other place: each worker")])
def test_a_replay_says_that_it_writes_files_again(lines, note):
    """What is there may be the trained model."""
    said = [reason for reason in asked(PROGRAM + lines + "\n", behind(SCORE, '        flor.log("lr", 1)\n'))["reasons"] if "writes a file" in reason]
    assert len(said) == (note is not None) and all(note in reason and reason.startswith("train.py:") for reason in said), said
