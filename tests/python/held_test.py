"""Programs whose blocks and guards forget something: replays and resumed recordings are right all the same, never wrong
under the verdict identical."""
import os
import signal
import subprocess
import sys
import time

import pytest

BLOCK = """import collections, functools, heapq, itertools, operator, random
import flor
import numpy as np
SETUP
net = {"w": 0.0}
with flor.checkpointing(net):
    for epoch in flor.loop("epoch", range(6)):
        with flor.skip_block("train", net) as b:
            if b.step_into():
                net["w"] += 1.0
                if epoch >= 3:
                    CHANGE
        flor.log("w", net["w"])
"""
# What is set up, what the block does from epoch 3 on, and what a log statement outside of it reads.
LATE = {
    "alias": ("stats = {'n': 0}\ns = stats", "s['n'] = epoch", "stats['n']"),
    "element": ("p = {'a': [0]}\nq = p['a']", "q[0] = epoch", "p['a'][0]"),
    "for target": ("objs = [{'n': 0}]", "[o.update(n=epoch) for o in objs]", "objs[0]['n']"),
    "view": ("a = np.zeros(4)", "a.reshape(2, 2)[0, 0] = epoch", "a[0]"),
    "method": ("a = np.zeros(4)", "a.fill(epoch)", "a[0]"),
    "deque": ("d = collections.deque([1, 2, 3])", "d.rotate(1)", "d[0]"),
    "heapq": ("h = [5]", "heapq.heappush(h, -epoch)", "h[0]"),
    "out=": ("a = np.zeros(1)", "np.add(a, epoch, out=a)", "a[0]"),
    "setitem": ("d = {'n': 0}", "operator.setitem(d, 'n', epoch)", "d['n']"),
    "bound method": ("d = []\nput = d.append", "put(epoch)", "len(d)"),
    "partial": ("d = []\nput = functools.partial(d.append)", "put(epoch)", "len(d)"),
    "lambda": ("d = []\nput = lambda x: d.append(x)", "put(epoch)", "len(d)"),
    "iterator": ("it = iter(range(100))", "next(it)", "operator.length_hint(it)"),
    "count": ("it = itertools.count()", "next(it)", "repr(it)"),
    "generator": ("rng = random.Random(1)", "rng.random()", "sum(rng.getstate()[1])"),
    "numpy generator": ("rng = np.random.default_rng(1)", "rng.normal()", "str(rng.bit_generator.state)"),
    "class attribute": ("class C:\n    n = 0\nc = C()", "C.n = epoch", "c.n"),
    "default": ("def f(x, kept=[]):\n    kept.append(x)\n    return kept", "f(epoch)", "len(f.__defaults__[0])"),
    "function attribute": ("def f():\n    f.n += 1\nf.n = 0", "f()", "f.n"),
    "property": ("class C:\n    n = 0\n    @property\n    def x(self):\n        self.n += 1\nc = C()", "c.x", "c.n"),
    "call": ("class C:\n    n = 0\n    def __call__(self):\n        self.n += 1\nc = C()", "c()", "c.n"),
    "globals()": ("n = 0", "globals()['n'] = epoch", "n"),
    "exec": ("n = [0]", "exec('n.append(1)')", "len(n)"),
    "match": ("n = 0", "\n                    match (1, epoch):\n                        case (1, n):\n                            pass", "n"),
    "member": ("class T:\n    best = 0\n    def keep(self, x):\n        self.best = x\nt = T()", "t.keep(epoch)", "t.best"),
    "cache": ("@functools.lru_cache(None)\ndef f(x):\n    return x", "f(epoch)", "f.cache_info().currsize"),
}
CARRIED = """import random
import flor
SETUP
net = {"w": 0.0}
with flor.checkpointing(netGUARD):
    for epoch in LOOP:
        BEFORE
        with flor.skip_block("train", net) as b:
            if b.step_into():
                net["w"] += 1.0 if epoch < 3 else -0.25
        AFTER
        flor.log("w", net["w"])
"""
# What an iteration does outside of the block and passes on, and what a log statement reads.
PASSED = {
    "own generator": ({"SETUP": "rng = random.Random(7)", "BEFORE": "noise = rng.random()"}, "noise"),
    "iterator": ({"SETUP": "it = iter([5, 6, 7, 8, 9, 10, 11])", "BEFORE": "lr = next(it)"}, "lr"),
    "helper": ({"SETUP": "c = {'n': 0}\ndef tick(c):\n    c['n'] += 1\n    return c['n']", "BEFORE": "k = tick(c)"}, "k"),
    "zip": ({"SETUP": "lrs = [.1, .2, .3, .4, .5, .6]", "LOOP": "zip(flor.loop('epoch', range(6)), lrs)",
             "BEFORE": "epoch, lr = epoch"}, "lr"),
    "bound anew": ({"SETUP": "best = {'w': 0.0, 'e': -1}", "GUARD": ", best",
                    "AFTER": "if net['w'] > best['w']: best = {'w': net['w'], 'e': epoch}"}, "best['e']"),
    "list": ({"SETUP": "seen = []", "AFTER": "seen.append(epoch)"}, "len(seen)"),
}


def text_of(template, parts, read=None):
    defaults = {"SETUP": "", "GUARD": "", "LOOP": "flor.loop('epoch', range(6))", "BEFORE": "pass", "AFTER": "pass", "CHANGE": "pass"}
    for name, value in {**defaults, **parts}.items():
        template = template.replace(name, value)
    return template + (f'        flor.log("v", {read})\n' if read else "")


def never_wrong(place, text, edited):
    place.write("program.py", text)
    place.record("program.py")
    place.write("program.py", edited)
    done = place.run("flor", "replay", "a", "--workers", 2, "--", sys.executable, "program.py", code=None)
    assert done.returncode == 0 and ": identical" in done.stdout, done.stdout
    assert set(place.plain("program.py")) <= set(place.joined()), done.stdout


@pytest.mark.parametrize("name", LATE)
def test_what_a_block_changes_late(place, name):
    setup, change, read = LATE[name]
    if name == "match" and sys.version_info < (3, 10):
        pytest.skip("Python has no match before 3.10")
    parts = {"SETUP": setup, "CHANGE": change}
    never_wrong(place, text_of(BLOCK, parts), text_of(BLOCK, parts, read))


@pytest.mark.parametrize("name", PASSED)
def test_what_an_iteration_passes_on(place, name):
    parts, read = PASSED[name]
    never_wrong(place, text_of(CARRIED, parts), text_of(CARRIED, parts, read))


@pytest.mark.parametrize("name", ["bound anew", "list", "own generator"])
def test_a_killed_recording_passes_on_the_same(place, name):
    parts, read = PASSED[name]
    text = text_of(CARRIED, parts, read) + "        time.sleep(0.1)\n"
    place.write("program.py", "import time\n" + text)
    plain = place.plain("program.py")
    training = subprocess.Popen(["flor", "record", "--name", "a", "--every", "1", "--", sys.executable, "program.py"],
                                cwd=place.folder, env=place.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                start_new_session=True)
    for line in training.stdout:
        if "epoch=4" in line:
            break
    time.sleep(0.05)
    os.killpg(training.pid, signal.SIGKILL)
    training.communicate()
    place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "program.py")
    assert sorted(place.joined()) == sorted(plain)


def test_a_log_whose_value_is_used_counts(place):
    text = text_of(BLOCK, {})
    never_wrong(place, text, text.replace('                net["w"] += 1.0\n', '                net["w"] += 1.0\n                v = flor.log("v", net["w"])\n'))


def test_a_log_in_a_function_that_is_not_called_by_its_name_counts(place):
    registry = text_of(BLOCK, {"SETUP": "hooks = []\ndef register(f):\n    hooks.append(f)\n    return f\n@register\ndef decay(epoch):\n"
                                        "    net['w'] *= 0.9\n    pass", "CHANGE": "[f(epoch) for f in hooks]"})
    never_wrong(place, registry, registry.replace("    pass\n", '    flor.log("v", net["w"])\n', 1))


def test_a_block_that_may_be_left_in_its_middle_executes(place):
    text = ("import flor\nnet = {'w': 0.0}\ndef train(epoch):\n    with flor.skip_block('train', net) as b:\n        if not b.step_into():\n"
            "            return\n        net['w'] += 1\n        if epoch == 4:\n            return\n    pass\nfor epoch in flor.loop('epoch', range(6)):\n"
            "    train(epoch)\n    flor.log('w', net['w'])\n")
    never_wrong(place, text, text.replace("    pass\n", "    flor.log('after', epoch)\n"))


def test_sets_of_texts_are_restored(place):
    text = text_of(BLOCK.replace("net[\"w\"] += 1.0", "net[\"w\"] += 1.0\n                net.setdefault('s', set()).add(str(epoch))"), {})
    never_wrong(place, text, text + '        flor.log("v", sorted(net["s"]))\n')


# Whole programs: the text, and a line that is added at the mark.
WHOLE = {
    "global in a function": ("""import random
import flor
rng = random.Random(7)
def augment():
    return rng.random()
def main():
    net = {"w": 0.0}
    with flor.checkpointing(net):
        for epoch in flor.loop("epoch", range(6)):
            net["w"] += augment()
            flor.log("w", net["w"])
            MARK
main()
""", 'flor.log("v", augment.__name__ + str(rng.getstate()[1][-1]))'),
    "parameter": ("""import flor
def train(net, stats):
    with flor.skip_block("train", net) as b:
        if b.step_into():
            net["w"] += 1
            stats["n"] += 1
def main():
    net, stats = {"w": 0.0}, {"n": 0}
    for epoch in flor.loop("epoch", range(6)):
        train(net, stats)
        flor.log("w", net["w"])
        MARK
main()
""", 'flor.log("v", stats["n"])'),
    "self": ("""import flor
class Trainer:
    def __init__(self):
        self.net, self.best = {"w": 0.0}, None
    def train(self, epoch):
        with flor.skip_block("train", self.net) as b:
            if b.step_into():
                self.net["w"] += 1
                if epoch > 2:
                    self.best = self.net["w"]
def main():
    t = Trainer()
    for epoch in flor.loop("epoch", range(6)):
        t.train(epoch)
        flor.log("w", t.net["w"])
        MARK
main()
""", 'flor.log("v", t.best)'),
    "attribute of a module": ("""import flor, torch
class Net(torch.nn.Linear):
    tau = 1.0
    def forward(self, x):
        self.tau *= 0.9
        return super().forward(x) * self.tau
torch.manual_seed(1)
net = Net(2, 1)
net.tau = 1.0
with flor.checkpointing(net):
    for epoch in flor.loop("epoch", range(6)):
        with flor.skip_block("train", net) as b:
            if b.step_into():
                flor.log("out", net(torch.ones(1, 2)).item())
        flor.log("w", net.weight.sum().item())
        MARK
""", 'flor.log("v", net.tau)'),
    "subclass of dict": ("""import flor
class Stats(dict):
    pass
def note(stats, x):
    stats["n"] = x
stats, net = Stats(n=0), {"w": 0.0}
with flor.checkpointing(net):
    for epoch in flor.loop("epoch", range(6)):
        with flor.skip_block("train", net) as b:
            if b.step_into():
                net["w"] += 1
                note(stats, epoch)
        flor.log("w", net["w"])
        MARK
""", 'flor.log("v", stats["n"])'),
    "slots": ("""import flor
class Stats:
    __slots__ = ("n", "__hidden")
    def __init__(self):
        self.n = self.__hidden = 0
    def note(self, x):
        self.n = self.__hidden = x
    def hidden(self):
        return self.__hidden
stats, net = Stats(), {"w": 0.0}
for epoch in flor.loop("epoch", range(6)):
    with flor.skip_block("train", net) as b:
        if b.step_into():
            net["w"] += 1
            stats.note(epoch)
    flor.log("w", net["w"])
    MARK
""", 'flor.log("v", [stats.n, stats.hidden()])'),
    "inner generator": ("""import flor
def inner():
    for i in range(100):
        yield i
def outer():
    yield from inner()
numbers, net = outer(), {"w": 0.0}
def draw():
    return next(numbers)
with flor.checkpointing(net):
    for epoch in flor.loop("epoch", range(6)):
        rate = draw()
        net["w"] += rate
        flor.log("w", net["w"])
        MARK
""", 'flor.log("v", rate)'),
    "loop in a variable": ("""import flor
net, n = {"w": 0.0}, {"n": 0}
with flor.checkpointing(net):
    epochs = flor.loop("epoch", range(6))
    for epoch in epochs:
        with flor.skip_block("train", net) as b:
            if b.step_into():
                net["w"] += 1
                n["n"] += 1
        flor.log("w", net["w"])
        MARK
""", 'flor.log("v", n["n"])'),
    "everything imported": ("""from flor import *
net, n = {"w": 0.0}, {"n": 0}
with checkpointing(net):
    for epoch in loop("epoch", range(6)):
        with skip_block("train", net) as b:
            if b.step_into():
                net["w"] += 1
                n["n"] += 1
        log("w", net["w"])
        MARK
""", 'log("v", n["n"])'),
    "name with a space": ("""import flor
net, n = {"w": 0.0}, {"n": 0}
with flor.checkpointing(net):
    for epoch in flor.loop("epoch", range(6)):
        with flor.skip_block("train step", net) as b:
            if b.step_into():
                net["w"] += 1
                MARK
        flor.log("w", net["w"])
""", 'flor.log("v", net["w"])'),
    "state_dict() of copies": ("""import flor
import numpy as np
class Buffer:
    def __init__(self):
        self.seen = np.zeros(20000)
    def state_dict(self):
        return {"seen": self.seen.copy()}
    def load_state_dict(self, state):
        self.seen = state["seen"]
buffer = Buffer()
with flor.checkpointing(buffer):
    for epoch in flor.loop("epoch", range(6)):
        with flor.skip_block("train", buffer) as b:
            if b.step_into():
                buffer.seen += epoch + 1
        flor.log("sum", buffer.seen.sum())
        MARK
""", 'flor.log("v", buffer.seen[0])'),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_programs(place, name):
    text, line = WHOLE[name]
    never_wrong(place, text.replace("MARK", "pass"), text.replace("MARK", line))


def test_a_guard_in_another_file_counts(place):
    place.write("trainer.py", "import flor\ndef fit(net, numbers):\n    for epoch in flor.loop('epoch', range(6)):\n"
                              "        rate = next(numbers)\n        net['w'] += rate\n        flor.log('w', net['w'])\n        pass\n")
    text = "import flor, trainer\nnet = {'w': 0.0}\nwith flor.checkpointing(net):\n    trainer.fit(net, iter(range(100)))\n"
    place.write("program.py", text)
    place.record("program.py")
    place.write("trainer.py", (place.folder / "trainer.py").read_text().replace("        pass\n", "        flor.log('rate', rate)\n"))
    said = place.replay("program.py", "--workers", 2)
    assert ": identical" in said and set(place.plain("program.py")) <= set(place.joined()), said
