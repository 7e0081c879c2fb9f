"""A restore binds variables to the very objects that they had, and writes into no others: objects that change places, views of
what stays as it is, copies that take an object's place."""
import sys

import pytest
from carried_test import goes_on, slowed
from merged import merged

BEGIN = "import collections, copy, types\nimport torch\ntorch.manual_seed(1)\n"
FRONT = '''
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
class Box:
    def __init__(self, scale):
        self.scale = scale
data = torch.randn(8, 4)
boxes = [Box(1.0), Box(2.0), Box(3.0)]
dicts = [{"scale": 1.0}, {"scale": 2.0}, {"scale": 3.0}]
'''
WITHIN = '''
loss = ((SCALE) * net(x) - x.sum(1, keepdim=True)).pow(2).mean()
optimizer.zero_grad()
loss.backward()
optimizer.step()
'''
CASES = {
    "one of several": (
        "box, kept, row = boxes[0], dicts[0], data[0]", "box.scale + kept['scale'] + row.norm()", "",
        "box, kept, row = boxes[(epoch + 1) % 3], dicts[(epoch + 2) % 3], data[(epoch + 1) % 8]; box.scale += 0.125",
        "box.scale, boxes[0].scale, dicts[0]['scale'], row.norm(), data.sum()"),
    "changing places": (
        "a, b = {'s': 1.0}, {'s': 2.0}; s, t = torch.ones(2), torch.zeros(2); ring = collections.deque(dicts); first, pair = a, (s, t)",
        "a['s'] + s.sum() + ring[0]['scale']", "",
        "a, b, s, t = b, a, t, s; a['s'] += 0.5; s += 0.5; ring.rotate(1); ring[0]['scale'] += 0.25",
        "a['s'], b['s'], first['s'], s.sum(), pair[0].sum(), ring[0]['scale'], dicts[0]['scale']"),
    "copies": (
        "best, past, last = net, collections.deque([0.0], maxlen=3), {'kept': dicts[0]}", "last['kept']['scale']", "",
        "best = copy.deepcopy(net) if epoch % 3 == 1 else best; past = collections.deque([*past, loss.item()], maxlen=3 + epoch % 2); "
        "last['kept'] = dicts[epoch % 3] if epoch % 2 else {'scale': 0.5}",
        "best.weight.norm(), net.weight.norm(), sum(past), last['kept']['scale'], dicts[0]['scale']"),
    "views": (
        "import numpy; big, row, numbers = torch.zeros(9, 2), data[1], numpy.arange(8.0); part, newest = numbers[:2], None",
        "1 + row.norm() + part.sum()", "row = data[epoch % 8]",
        "view = big[epoch]; view += 0.5 * (epoch + 1); part = numbers[epoch % 6:epoch % 6 + 2]; "
        "whole = torch.full((3, 2), float(epoch)) if epoch % 3 == 0 else whole; newest = whole[1]; newest += 0.5",
        "row.sum(), big.sum(), data.sum(), float(part.sum()), float(numbers.sum()), newest.sum(), whole.sum()"),
    "schedulers": (
        "warm = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=3); slow = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6); "
        "both = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm, slow], milestones=[3]); losses = [torch.nn.MSELoss(), "
        "torch.nn.L1Loss()]; measure = losses[0]",
        "1 + measure(net(data), data.sum(1, keepdim=True)).item()", "", "both.step(); measure = losses[(epoch + 1) % 2]",
        "both.get_last_lr()[0], type(measure).__name__ == 'L1Loss', net.weight.norm()"),
    "new optimizers": (
        "head = torch.nn.Linear(4, 1); parts = [net, head]", "1 + head(data).pow(2).mean()", "",
        "optimizer = torch.optim.SGD(parts[(epoch + 1) % 2].parameters(), lr=0.05, momentum=0.9) if epoch % 3 == 1 else optimizer",
        "net.weight.norm(), head.weight.norm()"),
    "members": (
        "class Run:\n    def __init__(self):\n        self.best, self.current = net, dicts[0]\n    def turn(self, epoch):\n"
        "        self.best = copy.deepcopy(net) if epoch % 3 == 1 else self.best\n        self.current = dicts[(epoch + 1) % 3]\n"
        "        self.current['scale'] += 0.125\nrun = Run()", "run.current['scale']", "", "run.turn(epoch)",
        "run.best.weight.norm(), run.current['scale'], dicts[0]['scale'], dicts[1]['scale']"),
}


def program(*names):
    """A program with these cases, and the lines of it that show their values."""
    cases = [(FRONT + front, WITHIN.replace("SCALE", scale) + within, behind, shown)
             for front, scale, within, behind, shown in (CASES[name] for name in names)]
    return merged(BEGIN, cases, 8)


@pytest.mark.parametrize("cases", [("one of several", "changing places", "copies", "members"), ("views", "schedulers", "new optimizers")],
                         ids=["places", "views"])
def test_a_killed_recording_goes_on_with_the_objects_that_it_had_and_workers_begin_anywhere_with_them(place, cases):
    text, shown = program(*cases)
    goes_on(place, slowed(text), shown)


def test_where_objects_are_too_many_nothing_is_restored_into_wrong_ones(place):
    text = "import flor._origins\nflor._origins._MOST = 5\n" + program("changing places")[0]
    goes_on(place, slowed(text))
    place.write("train.py", text)
    assert "too many objects to remember" in place.run("flor", "record", "--name", "b", "--", sys.executable, "train.py").stderr
