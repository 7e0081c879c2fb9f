"""State that is easily overlooked: what is written in a way that no version shows, large arrays, the position in a file, and the
order of a set. A recording that was killed goes on with it, and a replay has it."""
import sys

import pytest
from carried_test import goes_on, killed, slowed

BEGIN = '''
import copy, os
import numpy as np
import torch
torch.manual_seed(1)
net = torch.nn.Linear(300, 300)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
'''
EPOCHS = '''
for epoch in range(10):
    for x in torch.randn(3, 8, 300):
        loss = (net(x) - TARGET).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    BEHIND
    print("loss", loss.item())
'''
# A target network in the same module as what is trained, now and then overwritten through `.data`.
TARGET = BEGIN + '''
class Agent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.target = net, copy.deepcopy(net).requires_grad_(False)
agent = Agent()
''' + EPOCHS.replace("TARGET", "agent.target(x)").replace("    BEHIND\n", '''
    if epoch % 4 == 2:
        for a, b in zip(agent.target.parameters(), net.parameters()):
            a.data.copy_(b.data)
    print(agent.target.weight.norm())
''')
BUFFER = BEGIN + '''
class Bank:
    def __init__(self):
        self.rows, self.count = np.zeros((70000, 300), dtype=np.float32), 0
    def put(self, row):
        self.rows[self.count] = row
        self.count += 1
    def mean(self):
        return torch.from_numpy(self.rows[:self.count].mean(0)) if self.count else 0.0
bank = Bank()
''' + EPOCHS.replace("TARGET", "bank.mean()").replace("    BEHIND\n", '''
    bank.put(net.weight[0].detach().numpy())
    print(bank.rows.sum())
''')
STREAM = BEGIN + '''
lines = open("numbers.txt")
''' + EPOCHS.replace("TARGET", "float(lines.readline())").replace("    BEHIND\n", "")


@pytest.mark.parametrize("text, probe", [(TARGET, "    print(agent.target.weight.norm())\n"), (BUFFER, "    print(bank.rows.sum())\n"),
                                         (STREAM, "")], ids=["data", "array", "file"])
def test_it_is_restored_or_the_program_begins_again(place, text, probe):
    place.write("numbers.txt", "".join(f"{number / 10}\n" for number in range(100)))
    goes_on(place, slowed(text), probe)


SETS = BEGIN + '''
words = {w: i for i, w in enumerate({"the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog"})}
print("order", *words)
print("seed", os.environ.get("PYTHONHASHSEED"))
''' + EPOCHS.replace("TARGET", "words['fox']").replace("BEHIND", "print(words['dog'])")


def test_a_set_of_texts_has_one_order_in_all_recordings(place):
    place.write("train.py", SETS)
    said = {place.run("flor", "record", "--", sys.executable, "train.py").stdout for _ in range(3)}
    assert len(said) == 1 and "\nseed 0\n" in said.pop()
    assert "\nseed 7\n" in place.run("flor", "record", "--", sys.executable, "train.py", PYTHONHASHSEED="7").stdout


@pytest.mark.parametrize("seed, other, said", [("7", "8", "PYTHONHASHSEED is 8 and was 7"), ("random", "random", "PYTHONHASHSEED is random")])
def test_a_recording_is_not_resumed_with_another_order(place, seed, other, said):
    place.write("train.py", slowed(SETS).replace('loss.item())', 'loss.item(), flush=True)'))
    place.environment["PYTHONHASHSEED"] = seed
    killed(place)
    resume = ["flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "-u", "train.py"]
    assert said in place.run(*resume, PYTHONHASHSEED=other, code=1).stderr
    if seed != other:
        assert "resumed behind epoch=" in place.run(*resume).stderr


# The main loop runs over a loader whose data set, which no variable has, counts what was taken from it.
COUNTING = BEGIN + '''
class Counting(torch.utils.data.Dataset):
    def __init__(self):
        self.taken = 0
    def __len__(self):
        return 10
    def __getitem__(self, index):
        self.taken += 1
        return torch.full((300,), index / 10 + self.taken)
for x in torch.utils.data.DataLoader(Counting(), batch_size=1):
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
'''


def test_what_a_main_loops_elements_hide_is_not_begun_in_the_middle(place):
    said = goes_on(place, slowed(COUNTING))
    assert "what the main loop's elements lead to changes" in place.run("flor", "record", "--", sys.executable, "train.py").stderr, said
