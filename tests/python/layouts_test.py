"""Programs as they are, laid out in ways that loops and blocks must fit: what is recorded trains as without Flor."""
import ast
import re
import sys
import textwrap

import pytest
from free_test import have, plain

# Blocks that no watched main loop is around: of a warm-up, and of a main loop in a function that takes its locals().
UNWATCHED = '''
import torch

def fit(model, optimizer, data, epochs):
    for epoch in range(epochs):
        for x, y in data:
            loss = (model(x) - y).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()

def main(rate=0.05, rounds=3):
    print("config", locals())
    torch.manual_seed(0)
    data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(3)]
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    print("warm-up", fit(model, optimizer, data, 2))
    for round in range(rounds):
        loss = fit(model, optimizer, data, 3)
        print("loss", loss)
main()
'''


def test_blocks_that_no_watched_loop_is_around_train_as_without(place):
    place.write("train.py", UNWATCHED)
    done, rows = plain(place, "train.py")
    recorded = place.run("flor", "record", "--name", "a", "--every", "1", "--", sys.executable, "train.py")
    assert recorded.stdout == done.stdout and "not watched any more" not in recorded.stderr
    assert len(rows) == 3 and set(rows) <= set(have(place))


# `python -m src.train` looks for `src.optim` from the working directory, and not from the script's folder.
PACKAGE = {
    "src/__init__.py": "",
    "src/engine.py": '''
def train_one_epoch(model, loader, optimizer):
    for i, (x, y) in enumerate(loader):
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        if i % 2:
            optimizer.step_and_clear()
    return loss.item()
''',
    "src/optim.py": '''
class Stepping:
    def __init__(self, optimizer):
        self._optimizer = optimizer
    def step_and_clear(self):
        self._optimizer.step()
        self._optimizer.zero_grad()
''',
    "src/train.py": '''
import torch
from src import engine
from src.optim import Stepping

def main():
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = Stepping(torch.optim.Adam(model.parameters()))
    data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(3)]
    for epoch in range(4):
        loss = engine.train_one_epoch(model, data, optimizer)
        print("loss", loss)

if __name__ == "__main__":
    main()
''',
}


def package(place, files):
    for name, text in files.items():
        place.write(name, text)
    return str(place.folder / "src/train.py")


def test_a_module_of_a_package_is_found_from_the_working_directory(place, monkeypatch):
    from flor._edits import _programs
    from flor._folders import NOTE, folders_of, from_text, text_of
    from flor._hook import read_source
    from flor._project import Project
    from flor._rewrite import rewritten

    script = package(place, PACKAGE)
    monkeypatch.chdir(place.folder)
    monkeypatch.setenv("PYTHONPATH", "/usr/lib/python3/dist-packages")
    folders = folders_of(script, True)
    assert folders == [str(place.folder), str(place.folder / "src")]
    project = Project(script, read_source, folders)
    assert {name for name in PACKAGE if str(place.folder / name) in project.files} == set(PACKAGE)
    tree = rewritten(project)[script]
    assert "main_loop(" in ast.unparse(tree)
    # The record says where imports look, so that a comparison of sources finds the same, also of a program that lies elsewhere.
    text = text_of(script, folders)
    assert from_text(text, "/else/where/src/train.py") == ["/else/where", "/else/where/src"]
    assert text_of(script, folders_of(script, False)) is None
    files = [{"path": str(place.folder / name), "recorded": text, "present": text} for name, text in PACKAGE.items()]
    asked = {"files": files, "script": script, "seen": [{"block": NOTE, "path": text}]}
    assert ast.unparse(_programs(asked, "recorded")[script].tree) == ast.unparse(tree)


def test_a_package_is_recorded_and_replayed(place):
    package(place, PACKAGE)
    words = ("--", sys.executable, "-m", "src.train")
    assert "completed" in place.run("flor", "record", "--name", "a", "--every", "1", *words).stderr
    place.write("src/engine.py", PACKAGE["src/engine.py"].replace("    return", "    print('norm', model.weight.norm())\n    return"))
    said = place.run("flor", "replay", "a", *words).stdout
    assert ": identical" in said and "4 skipped" in said, said
    assert sum(name.startswith("model.weight.norm()") for _, name, _ in place.joined()) == 4


def test_a_package_in_a_folder_of_pythonpath_is_recorded_and_replayed(place):
    package(place, {f"lib/{name}": text for name, text in PACKAGE.items()})
    place.environment["PYTHONPATH"] = "lib:" + place.environment["PYTHONPATH"]
    words = ("--", sys.executable, "-m", "src.train")
    assert "completed" in place.run("flor", "record", "--name", "a", "--every", "1", *words).stderr
    engine = PACKAGE["src/engine.py"].replace("    return", "    print('norm', model.weight.norm())\n    return")
    place.write("lib/src/engine.py", engine)
    said = place.run("flor", "replay", "a", *words).stdout
    assert ": identical" in said and "4 skipped" in said, said
    assert sum(name.startswith("model.weight.norm()") for _, name, _ in place.joined()) == 4


def main_loops(place, text):
    """The lines of main loops and blocks of a program."""
    from flor._hook import read_source
    from flor._project import Project
    from flor._rewrite import rewritten

    place.write("train.py", text)
    script = str(place.folder / "train.py")
    tree = rewritten(Project(script, read_source)).get(script)
    lines = [] if tree is None else ast.unparse(tree).replace("__flor__.", "").splitlines()
    return [re.search(r"(?:main_loop|skip_block)\('(.*?)'", line)[1] for line in lines if "main_loop(" in line or "skip_block(" in line]


FIT = """
for epoch in range(3):
    model.train()
    for x in loader:
        loss(model(x)).backward()
        optimizer.step()
"""


def within(head, indent, text=FIT):
    return head + textwrap.indent(text, " " * indent)


CALLS = {
    # A function of the name of a method of torch, a method of that name, and one that calls itself.
    "function": (within("def train(model, loader):\n", 4) + "train(torch.nn.Linear(1, 1), data)\n", ["epoch", "train.x"]),
    "method": (within("class Trainer:\n    def __init__(self, model):\n        self.model = model\n    def train(self):\n        model = self.model\n", 8) +
               "Trainer(torch.nn.Linear(1, 1)).train()\n", ["epoch", "train.x"]),
    "again": (within("def train(model, loader):\n", 4, FIT + "for other in more:\n    train(other, loader)\n"), ["epoch", "train.x", "other"]),
    "module": (within("class Net(torch.nn.Module):\n    pass\nclass Trainer:\n    def train(self, model):\n", 8) +
               "model = Net()\nfor trainer in [Trainer()]:\n    trainer.train(model)\n", ["train.x", "trainer"]),
    # Another object's method of the same name.
    "scaler": (within("class Model:\n    def fit(self, data):\n", 8) + "class Scaler:\n    def fit(self, x):\n        self.m = x.mean()\n"
               "scalers = [Scaler() for _ in range(3)]\nfor s, x in zip(scalers, data):\n    s.fit(x)\nModel().fit(data)\n", ["epoch", "fit.x"]),
    # What is made by something else may be of any class, and so may what is never made here.
    "registry": ("class Agent:\n    def learn(self, x):\n        loss(x).backward()\nagent = getattr(agents, name)()\n"
                 "for episode in range(3):\n    agent.learn(1)\n", ["episode"]),
    "hydra": ("class Agent:\n    def learn(self, x):\n        loss(x).backward()\nagent = instantiate(config.agent)\n"
              "for episode in range(3):\n    agent.learn(1)\n", ["episode"]),
    "dict": ("class Agent:\n    def learn(self, x):\n        loss(x).backward()\nAGENTS = {'dqn': Agent}\n"
             "def run(agent):\n    for episode in range(3):\n        agent.learn(1)\nrun(AGENTS[name]())\n", ["episode"]),
    "derived": ("class Base:\n    def learn(self, x):\n        self.update(x)\nclass Agent(Base):\n    def update(self, x):\n"
                "        loss(x).backward()\nagent = Agent()\nfor episode in range(3):\n    agent.learn(1)\n", ["episode"]),
    # An object that is called, and a function that another one makes.
    "called": ("class Scaler:\n    def __call__(self, loss):\n        loss.backward()\ndef epoch_of(loader, loss_scaler):\n    for x in loader:\n"
               "        loss_scaler(loss(x))\nloss_scaler = Scaler()\nfor epoch in range(3):\n    epoch_of(data, loss_scaler)\n", ["epoch_of.x", "epoch"]),
    "made": ("class Steps:\n    def __init__(self):\n        self.step_fn = self.make()\n    def make(self):\n        def perform(x):\n"
             "            loss(x).backward()\n        return perform\n    def train(self, loader):\n        for epoch in range(3):\n"
             "            for x in loader:\n                self.step_fn(x)\nSteps().train(data)\n", ["epoch", "train.x"]),
}


@pytest.mark.parametrize("case", CALLS)
def test_what_a_loop_calls(place, case):
    text, wanted = CALLS[case]
    assert main_loops(place, "import torch\n" + text) == wanted


def test_a_program_without_a_training_loop_is_told_so_once(place):
    place.write("helper.py", "print(1)\n")
    place.write("train.py", "import subprocess, sys\nsubprocess.run([sys.executable, 'helper.py'], check=True)\n")
    said = place.run("flor", "record", "--", sys.executable, "train.py").stderr
    assert said.count("no training loop is found in train.py") == 1 and said.count("no training loop") == 1
    assert "no training loop" not in place.run("flor", "record", "--", sys.executable, "train.py", FLOR_HANDS_FREE="0").stderr


# Where no time is left to look, a block is not walked through at each entry, and what it holds is not saved.
NO_TIME = '''
import flor._block, flor._free
import torch
walks, origins = [], flor._free.Origins

def counted(*words):
    walks.append(1)
    return origins(*words)
if "FLOR_RECORD" in __import__("os").environ:
    flor._free.Origins = counted
    for budget in (flor._block.budget(), flor._free._remembering):
        budget._spent = 1e9
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
memory = []
for episode in range(6):
    for x in torch.randn(5, 8, 4):
        memory.append((episode, x))
        loss = net(memory[-1][1]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss", loss.item())
assert len(walks) <= 3, walks
'''


def test_a_block_without_time_to_remember_is_not_saved(place):
    place.write("train.py", NO_TIME)
    place.record("train.py")
    (blocks,) = place.folder.glob("store/2*/checkpoints/x")
    assert [file.name for file in blocks.iterdir()] == ["episode=0.safetensors"]  # which there is always time to look at
    place.write("train.py", NO_TIME.replace('    print("loss"', '    print("norm", net.weight.norm().item(), len(memory))\n    print("loss"'))
    said = place.replay("train.py", "--workers", 2)
    assert ": identical" in said and "taken back" not in said, said
    assert set(plain(place, "train.py")[1]) <= set(have(place))
