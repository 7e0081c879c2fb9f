"""What ordinary programs have in reach: data sets in files and in long lists, optimizers of their own, words of their command line. None of
it keeps a recording from going on where it was stopped."""
import array
import collections

import mmap
import multiprocessing
import re
import sys
import textwrap

import numpy
import pytest

from steps_test import HEAD

PROGRAM = """
BEFORE
def main():
    WORDS
    net = nn.Linear(6, 2)
    optimizer = OPTIMIZER
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 90)
    for epoch in range(4):
        may_stop(epoch, 0)
        for x in torch.randn(3, 8, 6):
            loss = nn.functional.cross_entropy(net(x + OFFSET), torch.zeros(8, dtype=torch.long))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()
        BEHIND
        print("loss", loss.item())

main()
"""
LION = """
class Lion(torch.optim.Optimizer):
    def __init__(self, parameters, lr=0.01):
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for one in group["params"]:
                mean = self.state[one].setdefault("mean", torch.zeros_like(one))
                one.add_(torch.sign(mean.lerp(one.grad, 0.1)), alpha=-group["lr"])
                mean.lerp_(one.grad, 0.01)
"""
FILE = """
if not os.path.exists("data.bin"):
    np.arange(4000, dtype=np.float32).tofile("data.bin")
data = np.memmap("data.bin", dtype=np.float32, mode="r")
"""
SAMPLES = """
class Folder(Dataset):
    def __init__(self):
        self.samples = [(f"data/train/{i // 1000}/{i}.png", i // 1000) for i in range(120000)]
        self.targets = [label for _, label in self.samples]
folder = Folder()
"""
CASES = {
    "an optimizer of its own": {"BEFORE": LION, "OPTIMIZER": "Lion(net.parameters())"},
    "an array in a file": {"BEFORE": FILE, "OFFSET": "float(data[np.random.randint(4000)])"},
    "a long list": {"BEFORE": SAMPLES, "OFFSET": "folder.targets[np.random.randint(120000)]"},
    "words": {"BEFORE": "import argparse", "WORDS": "config = dict(vars(argparse.Namespace(lr=0.1)))"},
}
PLAIN = {"BEFORE": "", "WORDS": "pass", "OPTIMIZER": "torch.optim.SGD(net.parameters(), 0.1)", "OFFSET": "0.0", "BEHIND": "pass"}


@pytest.mark.parametrize("name", CASES)
def test_a_recording_of_an_ordinary_program_goes_on_where_it_was_stopped(place, name):
    text = HEAD + textwrap.dedent(PROGRAM)
    for word, value in {**PLAIN, **CASES[name]}.items():
        text = text.replace(word, value)
    place.write("train.py", text)
    plain = place.run("/usr/bin/python3", "train.py").stdout
    words = ("--every", 1, "--", "/usr/bin/python3", "train.py")
    first = place.run("flor", "record", "--name", "run", *words, STOP="2.0", SIGNAL="15", code=143)
    second = place.run("flor", "record", "--resume", "run", *words)
    assert "warning" not in first.stderr
    behind = re.search("resumed behind epoch=(.)", second.stderr)
    # On a slow machine there is no time to look at a long list in each epoch.
    assert behind is not None and behind.group(1) == "2" or name == "a long list"
    done = first.stdout.splitlines(True)[:int(behind.group(1)) + 1 if behind else 0]
    assert "".join(done) + second.stdout == plain


def written_through(place, text):
    """What a recording says of a program whose iterations write into an array in a file."""
    place.write("train.py", HEAD + textwrap.dedent(PROGRAM).replace("BEFORE", FILE.replace('"r"', '"r+"')).replace("BEHIND", text)
                .replace("WORDS", "pass").replace("OPTIMIZER", PLAIN["OPTIMIZER"]).replace("OFFSET", "float(data[0])"))
    return place.run("flor", "record", "--name", "run", "--every", 1, "--", "/usr/bin/python3", "train.py").stderr


def test_an_array_in_a_file_is_not_written_by_a_restore(place):
    assert "data changes from iteration to iteration and cannot be saved" in written_through(place, "data[0] += 1")


# --- looks ---


@pytest.fixture
def looks(place):  # pylint: disable=unused-argument
    from flor import _plain, _seen

    return _seen, _plain


def prints(seen, **variables):
    """The fingerprints of a frame with these variables, without those of the test."""
    def frame_of():
        return sys._getframe()

    frame = frame_of()
    look = seen._Look([], frozenset(), None, variables)
    out = {}
    for name, value in variables.items():
        look.add(out, name, value)
    assert frame is not None
    return out


LISTS = {
    "numbers": list(range(1000)),
    "texts": [str(i) for i in range(1000)],
    "pairs": [(str(i), i) for i in range(1000)],
    "rows": [[i, i + 1] for i in range(1000)],
    "dict": {str(i): i for i in range(1000)},
    "mixed": [1.0 if i % 2 else "a" for i in range(1000)],
}


@pytest.mark.parametrize("name", LISTS)
def test_a_change_of_a_long_list_is_seen(looks, name):
    seen, plain = looks
    value = LISTS[name]
    assert plain.digest_of(value) is not None
    before = prints(seen, x=value)
    assert prints(seen, x=value) == before
    at = "500" if name == "dict" else 500
    old = value[at]
    for other in ([500, 501, 7], ("500", 500.0), True, 1, None, "500", 500.0):
        if type(other) is type(old) and other == old:
            continue
        value[at] = other
        assert prints(seen, x=value) != before, other
    value[at] = old
    assert prints(seen, x=value) == before


def test_what_holds_objects_is_no_plain_list(looks):
    _, plain = looks
    assert plain.digest_of([[1]] * 300 + [[numpy.zeros(3)]]) is None
    assert plain.digest_of([(1, [2])] * 300) is None
    assert plain.digest_of(collections.OrderedDict((i, i) for i in range(300))) is None
    assert plain.is_plain([(1, "a")] * 300)
    assert not plain.is_plain([[1]] * 300)  # each is an object that a variable may be bound to


def test_memory_is_read_without_a_copy_of_what_cannot_change(looks, tmp_path):
    seen, _ = looks
    path = tmp_path / "large.bin"
    with open(path, "wb") as file:
        file.truncate(1 << 40)  # a hole: to read it takes minutes
    large = numpy.memmap(path, dtype=numpy.uint8, mode="r")
    assert prints(seen, x=large) == prints(seen, x=large)
    assert prints(seen, x=large[5:]) != prints(seen, x=large)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 4096, access=mmap.ACCESS_READ) as mapped:
        assert prints(seen, x=mapped) == prints(seen, x=mapped)
    counts = array.array("l", range(100000))
    before = prints(seen, x=counts)
    assert prints(seen, x=counts) == before
    counts[7] += 1
    assert prints(seen, x=counts) != before


def test_a_queue_to_another_process_may_change_it(looks):
    seen, _ = looks
    torch = pytest.importorskip("torch")
    queue = multiprocessing.Queue()
    assert prints(seen, x=[queue]) != prints(seen, x=[queue])
    loader = torch.utils.data.DataLoader(list(range(8)), num_workers=1)
    elements = iter(loader)
    assert prints(seen, x=[elements])["x"] == prints(seen, x=[elements])["x"]
    del elements


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="a frame has no such dict any more")
def test_which_functions_take_their_variables(looks):
    from flor._frames import takes_locals

    functions = {"a = locals()": True, "a = vars()": True, "a = dir()": True, "a = eval('x')": True, "a = vars(x)": False,
                 "a = dir(x)": False, "x.eval()": False, "a = [vars(one) for one in x]": False}
    for statement, takes in functions.items():
        scope = {}
        exec(f"def function(x):\n    {statement}\n", scope)
        assert takes_locals(scope["function"].__code__) is takes, statement
