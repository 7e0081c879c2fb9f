"""Gradients in programs as they are: log statements that read them, and iterations that leave some to the next."""
import sys

import pytest
from free_test import ask_each, have, plain

GRADIENTS = """
import torch
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(3)]
for epoch in range(20):
    begins = epoch
    for x, y in data:
        optimizer.zero_grad()
        loss = (net(x) - y).pow(2).mean() * (100 if epoch in (6, 13) else 1)
        loss.backward()
        torch.nn.utils.clip_grad_value_(net.parameters(), 50)
        optimizer.step()
    print("loss", loss.item())
"""


OF_A_FUNCTION = GRADIENTS.replace("for epoch in range(20):\n    begins = epoch\n", """
def run(epoch, train):
""").replace("        optimizer.zero_grad()\n", "").replace("        loss.backward()", "        if not train:\n            continue\n        optimizer.zero_grad()\n        loss.backward()")
OF_A_FUNCTION = OF_A_FUNCTION.replace('    print("loss", loss.item())', """    return loss
for epoch in range(20):
    run(epoch, False)
    begins = epoch
    print("loss", run(epoch, True).item())""")


@pytest.mark.parametrize("text, in_front_of", [(GRADIENTS, '    print("loss"'), (GRADIENTS, "    begins = epoch"), (OF_A_FUNCTION, "    begins = epoch")],
                         ids=["behind the block", "of the iteration before", "behind a function that trains only where it is asked to"])
def test_a_print_of_gradients_has_the_values_of_a_plain_run(place, text, in_front_of):
    """They are seldom large: the proofs need not meet such an iteration."""
    place.write("train.py", text)
    place.record("train.py")
    ask_each(place, "train.py", text, in_front_of, ["net.bias.grad is not None and net.bias.grad.abs().max().item() > 20"])


ACCUMULATING = """
import os
import torch
torch.manual_seed(0)


class Trainer:
    def __init__(self, net, optimizer):
        self.net, self.optimizer = net, optimizer

    def train_step(self, i, x, y):
        self.optimizer.zero_grad()
        (self.net(x) - y).pow(2).mean().backward()
        self.optimizer.step()


class AccumulatingTrainer(Trainer):
    def train_step(self, i, x, y):
        (self.net(x) - y).pow(2).mean().backward()
        if i % 3 == 2:
            self.optimizer.step()
            self.optimizer.zero_grad()


net = torch.nn.Linear(4, 1)
trainer = AccumulatingTrainer(net, torch.optim.SGD(net.parameters(), lr=0.1))
data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(4)]
for epoch in range(8):
    for i, (x, y) in enumerate(data):
        trainer.train_step(i, x, y)
    print("weight", net.weight.sum().item())
    if epoch == 4 and os.environ.get("FLOR_RECORD") and not os.path.exists("killed"):
        open("killed", "w").close()
        os.kill(os.getpid(), 9)
"""


def test_gradients_that_are_accumulated_by_a_derived_class_are_there_after_a_kill(place):
    place.write("train.py", ACCUMULATING)
    rows = plain(place, "train.py")[1]
    place.record("train.py", code=None)
    assert (place.folder / "killed").exists()
    place.run("flor", "record", "--resume", "a", "--", sys.executable, "train.py")
    assert sorted(have(place)) == sorted(rows)
