"""How a program that names nothing of Flor's is rewritten, by its text alone."""
import ast
import textwrap

import pytest


@pytest.fixture
def rewrite(tmp_path):
    from flor._hook import read_source
    from flor._project import Project
    from flor._rewrite import by_plan, plans_of

    def rewrite(**files):
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        project = Project(str(tmp_path / "train.py"), read_source)
        trees = by_plan(project, plans_of(project))
        trees = {name: trees.get(str(tmp_path / f"{name}.py")) for name in files}
        return {name: None if tree is None else ast.unparse(tree) for name, tree in trees.items()}

    return rewrite


def heads(text):
    """The lines of loops and blocks."""
    return [line.strip().replace("__flor__.", "").replace(" as __flor_block__", "") for line in text.splitlines()
            if "loop(" in line or "skip_block(" in line]


STEP = "loss(net, x).backward()\n"


@pytest.mark.parametrize("train, wanted", [
    # Epochs and batches.
    (f"""
     for epoch in range(3):
         for x, y in loader:
             {STEP}
     """, ["for epoch in main_loop('epoch', range(3)):", "with skip_block('x'):", "for x, y in loop('x', loader):"]),
    # A flat loop has no block.
    (f"""
     for step in range(3):
         {STEP}
     """, ["for step in main_loop('step', range(3)):"]),
    # Phases are no block, batches are.
    (f"""
     def fit():
         for epoch in range(3):
             for phase in ("train", "val"):
                 for _, x in enumerate(loader):
                     {STEP}
                     optimizer.step()
                 scheduler.step()
     """, ["for epoch in main_loop('epoch', range(3)):", "for phase in loop('phase', ('train', 'val')):", "with skip_block('fit.x'):",
           "for _, x in loop('x', enumerate(loader)):"]),
    # What only gathers gradients is no block of its own.
    (f"""
     for epoch in range(3):
         for batch in loader:
             for x in batch:
                 {STEP}
             optimizer.step()
     """, ["for epoch in main_loop('epoch', range(3)):", "with skip_block('batch'):", "for batch in loop('batch', loader):"]),
    # An epoch in a function, called by its name, by a method, and through two functions.
    (f"""
     def epoch_of(loader):
         for x in loader:
             {STEP}
     class Trainer:
         def step(self):
             epoch_of(loader)
         def fit(self):
             for epoch in range(3):
                 self.step()
     """, ["with skip_block('epoch_of.x'):", "for x in loop('x', loader):", "for epoch in main_loop('epoch', range(3)):"]),
    # Folds: the outermost loop is the main loop, that in the function it calls is none.
    (f"""
     def run(fold):
         for epoch in range(3):
             for x in loader:
                 {STEP}
     for fold in range(2):
         run(fold)
     """, ["for epoch in loop('epoch', range(3)):", "with skip_block('run.x'):", "for x in loop('x', loader):",
           "for fold in main_loop('fold', range(2)):"]),
    # Two blocks of one function.
    (f"""
     for epoch in range(3):
         for x in a:
             {STEP}
         for x in b:
             {STEP}
     """, ["for epoch in main_loop('epoch', range(3)):", "with skip_block('x'):", "for x in loop('x', a):", "with skip_block('x.2'):",
           "for x in loop('x', b):"]),
    # Reinforcement: the training is behind the steps.
    (f"""
     def finish():
         {STEP}
     for episode in range(3):
         for t in range(100):
             act()
         finish()
     """, ["for episode in main_loop('episode', range(3)):"]),
    # A while loop that trains is a main loop, and its inner one a block.
    (f"""
     def train_step(x):
         {STEP}
         optimizer.step()
     for epoch in range(3):
         for x in loader:
             train_step(x)
         scheduler.step()
     """, ["for epoch in main_loop('epoch', range(3)):", "with skip_block('x'):", "for x in loop('x', loader):"]),
    (f"""
     def gather(x):
         env.step(x)
         {STEP}
     for epoch in range(3):
         for x in loader:
             gather(x)
         optimizer.step()
     """, ["for epoch in main_loop('epoch', range(3)):"]),
    (f"""
     while going:
         for x in loader:
             {STEP}
     """, ["for __flor_loop__ in main_loop('iteration', Conditions()):", "with skip_block('x'):", "for x in loop('x', loader):"]),
    # Not so where it has an else, or lies in another loop.
    (f"""
     while going:
         for x in loader:
             {STEP}
     else:
         ended()
     """, ["with skip_block('x'):", "for x in loop('x', loader):"]),
    (f"""
     for episode in range(3):
         while not done:
             {STEP}
     """, ["for episode in main_loop('episode', range(3)):"]),
    # Nothing trains.
    ("""
     for x in loader:
         for layer in layers:
             x = layer(x)
     """, []),
    # Generators and coroutines stay.
    (f"""
     def batches():
         for x in loader:
             {STEP}
             yield x
     async def serve():
         for x in loader:
             {STEP}
     """, []),
])
def test_loops_and_blocks(rewrite, train, wanted):
    text = rewrite(train=train)["train"]
    assert heads(text or "") == wanted


def test_a_program_of_several_files(rewrite):
    files = rewrite(train="""
                    from engine import fit
                    import helpers
                    for epoch in range(3):
                        fit()
                        helpers.say()
                    """, engine=f"""
                    def fit():
                        for x in loader:
                            {STEP}
                    """, helpers="""
                    def say():
                        print("value", value)
                    """, other=f"""
                    for epoch in range(3):
                        {STEP}
                    """)
    assert heads(files["train"]) == ["for epoch in main_loop('epoch', range(3)):"]
    assert heads(files["engine"]) == ["with skip_block('engine.fit.x'):", "for x in loop('x', loader):"]
    assert "noted('value', value)" in files["helpers"]
    assert files["other"] is None  # nothing imports it


@pytest.mark.parametrize("statement, wanted", [
    ('print(f"loss {loss.item():.3f} of {name!r}")', "print(f\"loss {noted('loss', loss.item()):.3f} of {noted('name', name)!r}\")"),
    ('print("loss", float(loss), end="")', "print('loss', noted('loss', float(loss)), end='')"),
    ('print("%d: %.3f" % (epoch, acc))', "print('%d: %.3f' % (noted('epoch', epoch), noted('acc', acc)))"),
    ('print("{} {x}".format(a, x=b))', "print('{} {x}'.format(noted('a', a), x=noted('b', b)))"),
    ("print(f'{time.time() - begun:.1f} s')", "print(f\"{noted('time.time() - begun', time.time() - begun, True):.1f} s\")"),
    ("print(f'{took}', file=log)", "print(f'{took}', file=log)"),
    ("print(*values)", "print(*values)"),
    ('logger.info("loss %.3f", loss)', "logger.info('loss %.3f', noted('loss', loss))"),
    ('writer.add_scalar("Loss/train", loss, step)', "writer.add_scalar('Loss/train', noted('Loss/train', loss), step)"),
    ('wandb.log({"loss": loss, **more})', "wandb.log({'loss': noted('loss', loss), **more})"),
    ("tqdm.write(f'{loss}')", "tqdm.write(f\"{noted('loss', loss)}\")"),
    ("logs.append(loss)", "logs.append(loss)"),
])
def test_what_is_shown_is_a_row(rewrite, statement, wanted):
    text = rewrite(train=f"print(first)\ntook = 1\n{statement}\n")["train"]
    assert text.replace("__flor__.", "").splitlines()[-1] == wanted


def test_what_comes_from_a_clock_may_differ(rewrite):
    text = rewrite(train="begun = time.time()\nwork()\ntook = time.time() - begun\nmeter.rate = n / took\nprint(took, meter.rate, n)\n")["train"]
    assert "noted('took', took, True)" in text and "noted('meter.rate', meter.rate, True)" in text and "noted('n', n))" in text


def test_what_a_program_says_of_files_and_folders_is_no_clock(rewrite):
    text = rewrite(train="import os, time, torch\ntorch.save(net, os.path.join(out, 'm.pt'))\nnet.load_state_dict(torch.load(os.path.join(d, 'm')))\n"
                   "torch.set_num_threads(os.cpu_count())\nloss, took = step(net), time.time()\nmeter.update(took)\nprint(loss, net.rate, took, meter.avg)\n")["train"]
    assert text.splitlines()[-1].replace("__flor__.", "") == ("print(noted('loss', loss), noted('net.rate', net.rate), noted('took', took, True), "
                                                               "noted('meter.avg', meter.avg, True))")


def test_a_function_that_is_handed_to_something_else_stays(rewrite):
    text = rewrite(train="@numba.njit\ndef f(a):\n    print(a)\n@torch.no_grad()\ndef g(a):\n    print(a)\n")["train"]
    assert text.count("noted(") == 1 and "def f(a):\n    print(a)" in text


def test_lines_and_other_functions_stay(rewrite, tmp_path):
    source = '"""Doc."""\nfrom __future__ import annotations\n\n\ndef other(x):\n    for layer in layers:\n        x = layer(x)\n    return x\n\n\n' \
             "for epoch in range(3):\n    loss.backward()\n    raise_here()\n"
    from flor._hook import read_source
    from flor._project import Project
    from flor._rewrite import rewritten

    path = tmp_path / "train.py"
    path.write_text(source)
    code = compile(rewritten(Project(str(path), read_source))[str(path)], str(path), "exec", dont_inherit=True)
    plain = compile(source, str(path), "exec", dont_inherit=True)

    def other(of):
        return next(one for one in of.co_consts if getattr(one, "co_name", "") == "other")

    assert other(code) == other(plain) and list(other(code).co_positions()) == list(other(plain).co_positions())
    assert code.co_consts[0] == "Doc." and code.co_flags & __import__("__future__").annotations.compiler_flag
    assert {line for _, _, line in code.co_lines() if line} - {1} == {line for _, _, line in plain.co_lines() if line} - {1}


def test_a_program_with_words_of_its_own_stays(rewrite, tmp_path):
    from flor._hook import read_source
    from flor._project import Project

    (tmp_path / "train.py").write_text("import flor\nfor epoch in flor.loop('epoch', range(3)):\n    flor.log('x', 1)\n")
    assert Project(str(tmp_path / "train.py"), read_source).has_words()
    (tmp_path / "train.py").write_text("import flor\nfor epoch in range(3):\n    flor.log('x', 1)\n")
    assert not Project(str(tmp_path / "train.py"), read_source).has_words()


@pytest.mark.parametrize("reads, body", [
    (False, "for x in loader:\n    opt.zero_grad()\n    loss(x).backward()\n    torch.nn.utils.clip_grad_norm_(weights, 1)\n    opt.step()"),
    (False, "for x in loader:\n    loss(x).backward()\n    norm = weight.grad.norm()\n    opt.step()\nprint(norm)"),
    (False, "for x in loader:\n    loss(x).backward()\n    shown(weight)\n"),
    (False, "for x in loader:\n    loss(x).backward()\nweight.grad = None\nslope = torch.autograd.grad(a, b)"),
    (False, "opt.zero_grad()\nloss(weight).backward()\ntorch.nn.utils.clip_grad_norm_(weights, 1)\nopt.step()"),  # there is no block
    (True, "train(weight)\nprint(weight.grad.norm())"),
    (True, "for x in loader:\n    loss(x).backward()\nif epoch % 10 == 9:\n    print(weight.grad.norm())"),
    (True, "for x in loader:\n    loss(x).backward()\nshown(weight)"),
    (True, "for x in loader:\n    loss(x).backward()\ntorch.nn.utils.clip_grad_norm_(weights, 1)"),
    (True, "for x in loader:\n    loss(x).backward()\nprint(getattr(weight, 'grad'))"),
])
def test_a_loop_that_reads_gradients_behind_its_block_says_so(rewrite, reads, body):
    functions = "def norm_of(weight):\n    return weight.grad.norm()\ndef shown(weight):\n    print(norm_of(weight))\n" \
                "def train(weight):\n    for x in loader:\n        loss(x).backward()\n        opt.step()\n"
    text = rewrite(train=functions + "for epoch in range(3):\n" + textwrap.indent(body, "    ") + "\n    pass\n")["train"]
    assert ("__flor__.main_loop('epoch', range(3), reads_gradients=True)" in text) == reads, text


def test_functions_that_call_each_other_are_read_once_each(rewrite):
    """Each calls all others, in methods of one name in many classes. Read again and again they would take for ever."""
    calls = "".join(f"        self.m{i}()\n" for i in range(40))
    text = "".join(f"class C{n}:\n" + "".join(f"    def m{i}(self):\n{calls}" for i in range(40)) for n in range(3))
    assert rewrite(train=text + "for epoch in range(3):\n    for x in loader:\n        C0().m0()\n        loss(x).backward()\n        opt.step()\n")["train"]


@pytest.mark.parametrize("planted", ["__import__('os').system('id')", "True, start=print()"])
def test_no_code_of_the_recorded_sources_gets_into_the_program(planted):
    """They may be another user's, who wrote there what Flor puts in."""
    from flor._rewrite import keep_marks, main_loop

    recorded = ast.parse(f"for epoch in __flor__.main_loop('epoch', range(3), reads_gradients={planted}): pass")
    present = ast.parse("for epoch in range(3): pass")
    present.body[0].iter = main_loop("epoch", present.body[0].iter)
    before = ast.unparse(present)
    keep_marks(recorded, present)
    assert ast.unparse(present) == before
    recorded.body[0].iter = main_loop("epoch", ast.Constant(1), ["reads_gradients"])
    keep_marks(recorded, present)
    assert ast.unparse(present) == before.replace("range(3))", "range(3), reads_gradients=True)")
    compile(ast.fix_missing_locations(present), "train.py", "exec")
