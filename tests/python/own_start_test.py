"""A program that goes on by itself with what its loop saved: Flor does not resume it on top of that."""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import time

import numpy
import pytest
import torch
from carried_test import goes_on, have, killed, plain, slowed
from unseen_test import program

LOADS = '''
import json, os
out = os.environ.get("OUT", ".")
first, best, reference = 0, {"error": 9.0}, list(weights)
if os.path.exists("last.json"):
    with open("last.json") as file:
        saved = json.load(file)
    RESTORE
'''
SAVES = '''with open("last.json", "w") as file:
        json.dump({"weights": weights, "epoch": epoch}, file)'''
OWN = {
    "it skips epochs": ('weights[:] = saved["weights"]\n    first = saved["epoch"] + 1', "if epoch < first: continue"),
    "it counts from its first epoch": ('first = saved["epoch"] + 1', "targets = [min(1.0, (epoch - first + 1) / 3)] * 4"),
    "its folder is of the environment": ('first = json.load(open(f"{out}/last.json"))["epoch"] + 1', "targets = [min(1.0, (epoch - first + 1) / 3)] * 4"),
    "it keeps what it began with": ('weights[:] = saved["weights"]\n    reference = list(weights)', "targets = [value + 1.0 for value in reference]"),
}


def own(case, loop="range(8)"):
    restore, first = OWN[case]
    text = program(LOADS.replace("RESTORE", restore) + "targets = [1.0] * 4\n", "targets", first=first, last=SAVES)[0]
    return text.replace("range(8)", loop)


def resumed(place, code):
    return place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "-u", "train.py", code=code).stderr


@pytest.mark.parametrize("case, loop", [*((case, "range(8)") for case in OWN), ("it skips epochs", "range(first, 8)")])
def test_it_is_not_resumed_until_its_file_is_gone(place, case, loop):
    place.write("train.py", own(case, loop))
    rows = plain(place, "train.py")[1]
    (place.folder / "last.json").unlink()
    killed(place)
    said = resumed(place, 1)
    assert "it seems to begin with files that its earlier attempt saved. Move these files away to let Flor resume" in said, said
    assert ("reference" if case == "it keeps what it began with" else "first") in said.split("than when it was recorded (")[1].split(")")[0].split(", ")
    assert "error: the recording cannot be resumed" in said
    (place.folder / "last.json").unlink()
    assert "resumed behind" in resumed(place, 0)
    assert sorted(have(place)) == sorted(rows)


# Data and a model that are there from the start, a clock, the process, and what the loop saves; data that each job copies to a folder of its
# own, and a folder for each run.
TUNED = program('''
import glob, json, os, shutil, tempfile, time
if not os.path.exists("data.json"):
    with open("data.json", "w") as file:
        json.dump([1.0, 2.0, 3.0, 4.0], file)
with open("data.json") as file:
    targets = json.load(file)
began, process, folder = time.time(), {"id": os.getpid()}, f"run_{os.getpid()}"
class Timer:
    def __init__(self):
        self.start = time.perf_counter()
class Data:
    def __init__(self, root):
        self.files = sorted(glob.glob(os.path.join(root, "*.json")))
        self.sizes = {name: os.path.getsize(name) for name in self.files}
staged = tempfile.mkdtemp()
for k in range(3):
    shutil.copy("data.json", f"{staged}/{k}.json")
data, names = Data(staged), [os.path.join(staged, "data.json")]
os.makedirs("runs", exist_ok=True)
number = len(os.listdir("runs"))
free = shutil.disk_usage(".").free // 1000
made = f"runs/run{number + 1}"
os.makedirs(made)
timer, ran = Timer(), 0
''', "targets", last=SAVES + "\n    ran = time.time() - began")[0]


def test_a_program_that_only_loads_what_was_there_is_resumed(place):
    assert "resumed behind" in goes_on(place, TUNED)


def digests(**variables):
    from flor import _own_start

    _own_start.ask()
    return _own_start.found(variables, sys._getframe())


def test_what_a_variable_holds_counts():
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Sequential(torch.nn.Sequential(torch.nn.Linear(2, 2))))
    optimizer = torch.optim.Adam(net.parameters())
    state = {"epoch": 3, "best": float("nan"), "done": {"a", "b"}, "seen": list(range(100))}
    variables = {"net": net, "optimizer": optimizer, "state": state, "array": numpy.zeros(3), "half": torch.zeros(3, dtype=torch.bfloat16),
                 "queue": collections.deque([1, 2]), "number": 7, "text": "text", "none": None, "weights": collections.OrderedDict(w=torch.zeros(2, 2).t())}
    before = digests(**variables)
    assert before == digests(**variables) and "value of text" not in before and len(before) == len(variables) - 1

    def others():
        now = digests(**variables)
        return {name[len("value of "):] for name in before if now[name] != before[name]}

    with torch.no_grad():
        net[1][0][0].bias.add_(1)
    assert others() == {"net", "optimizer"}  # which refers to its parameters
    net(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    state["done"].add("c")
    variables["number"], variables["array"][0] = 8, 1
    variables["weights"]["w"][0] = 1
    assert others() == {"net", "optimizer", "state", "number", "array", "weights"}
    state["done"].remove("c")
    assert "state" not in others()
    state["seen"][-1] = 5
    assert "state" in others()


def test_each_variable_is_compared_by_itself():
    data = {str(i): {"a": [1], "b": [2], "c": [3], "d": [4], "e": [5]} for i in range(3600)}
    assert {"value of first", "value of weights"} <= set(digests(data=data, others=[dict(data) for _ in range(9)], weights=[0.0], first=3))
    saved = {"weights": [0.5]}
    assert digests(saved=saved, weights=saved["weights"])["value of weights"] == digests(weights=[0.5])["value of weights"] != digests(weights=[0.0])["value of weights"]

    class Run:
        def __init__(self, epoch):
            self.data, self.inner = data, argparse.Namespace(epoch=epoch, options=Options(epoch=epoch))

    class Options(dict):
        def __init__(self, **values):
            super().__init__(values)
            self.__dict__ = self

    assert digests(run=Run(1)) == digests(run=Run(1)) != digests(run=Run(2))
    for made in (lambda k: argparse.Namespace(epoch=k), lambda k: Options(epoch=k), lambda k: [{"epoch": k}, "text"], lambda k: {k}):
        assert digests(value=made(1)) == digests(value=made(1)) != digests(value=made(2))


def loader(dataset, **settings):
    return torch.utils.data.DataLoader(dataset, shuffle=True, **settings)


class Noisy(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.randn(4)


def test_settings_of_a_loader_that_change_its_elements_count_wherever_they_come_from():
    data, of_machine = torch.utils.data, {"BATCH": "8"}
    batch_size = int(os.environ.get("BATCH", of_machine["BATCH"]))  # no file says what it is, and it is compared with nothing
    dataset, noisy = data.TensorDataset(torch.ones(64, 4)), Noisy()
    assert digests(batch_size=batch_size).keys() == digests().keys()
    part = data.Subset(dataset, range(32))
    before = digests(batches=loader(dataset, batch_size=batch_size))
    assert before and before != digests(batches=loader(dataset, batch_size=batch_size // 2)) != digests(batches=loader(part, batch_size=batch_size // 2))
    assert before == digests(batches=loader(dataset, batch_size=batch_size, pin_memory=True))
    made = [digests(batches=loader(part, num_workers=count)) for count in (0, 1, 2)]
    assert made[0] != made[1] == made[2] == digests(batches=loader(part, num_workers=2, prefetch_factor=3, timeout=9))
    generator = torch.Generator()
    assert digests(batches=loader(part, generator=generator, num_workers=1)) != digests(batches=loader(part, generator=generator, num_workers=2))
    # What each worker draws is its own.
    many = [digests(batches=loader(noisy, num_workers=count)) for count in (0, 1, 2)]
    assert many[0] != many[1] != many[2] != many[0] and digests(batches=loader(noisy, pin_memory=True)) == many[0]
    assert digests(batches=loader(part, collate_fn=list, num_workers=1)) != digests(batches=loader(part, collate_fn=list, num_workers=2))
    made = [digests(cpu_count=[loader(dataset, batch_size=size)]) for size in (4, 8)]  # of a list that the machine makes
    assert made[0] != made[1]


def test_settings_of_a_node_in_a_namespace_do_not_count():
    made = [digests(args=argparse.Namespace(began=value, folder=f"/scratch/{value}", workers=value, epochs=3)) for value in (4, 8)]
    began = time.time()
    workers = os.cpu_count()
    assert began and workers and made[0] == made[1] != digests(args=argparse.Namespace(began=4, folder="", workers=4, epochs=2))


def test_texts_count_nowhere():
    def paths(root):
        return digests(one=root, many=[f"{root}/{k}" for k in range(3)], by_name={f"{root}/{k}": 1.0 for k in range(3)}, known={root},
                       rows=[(root, 1), (root, 2)], path=pathlib.Path(root), table=numpy.array([root, "a"]))

    assert paths("/tmp/1") == paths("/scratch/job/27") and paths("/tmp/1")["value of rows"] != digests(rows=[("a", 1), ("a", 3)])["value of rows"]


def test_no_array_is_copied_to_be_compared():
    array = numpy.arange(24.0).reshape(4, 3, 2).transpose(2, 0, 1)
    others = array.copy(order="K")
    others[-1, -1, -1] = 0
    assert digests(a=array) != digests(a=others) and digests(a=torch.from_numpy(array)) != digests(a=torch.from_numpy(others))
    assert digests(a=array, b=torch.ones(3, 1).expand(3, 4)) == digests(a=array.copy(order="K"), b=torch.ones(3, 1).expand(3, 4))
    code = ("import resource, sys; sys.path.insert(0, sys.argv[1]); import numpy; from flor import _own_start; _own_start.ask(); "
            "known = dict.fromkeys(range(1 << 20)); data = numpy.ones((64, 256, 256, 16), numpy.float32).transpose(0, 3, 1, 2); "
            "was = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; found = _own_start.found({'data': data, 'known': known}, sys._getframe()); "
            "print(len(found), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - was)")
    folder = os.path.dirname(os.path.dirname(sys.modules["flor"].__file__))
    count, more = map(int, subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True).stdout.split())
    assert count == 2 and more < 30_000, more  # KiB; the array has 256 MiB


MACHINE = """
import os, time, shutil
out = os.environ["OUT"]
saved = json.load(open(f"{out}/last.json"))
first = saved["epoch"] + 1
second = restored(out)
third = int(open(out).read())
log = f"{out}/log.txt"
began = time.time() - saved["warmup"]
number = len(os.listdir(out))
skipped = len(os.listdir(out))
start = saved["start"]
def restored(path):
    return read(path)
def read(path):
    return json.load(open(path))["epoch"]
def timed(make):
    start = time.time()
    return Timer(start)
class Timer:
    def __init__(self, value):
        self.value = value
timer = Timer(time.time())
for epoch in range(8):
    if epoch < skipped:
        continue
"""


def test_what_a_file_holds_is_not_of_the_machine(tmp_path):
    from flor import _machine_names

    (tmp_path / "train.py").write_text(MACHINE)
    names = {name for name in _machine_names.names_of_machine(str(tmp_path / "train.py")) if f"{name} = " in MACHINE}
    assert names == {"out", "log", "began", "number", "timer"}
