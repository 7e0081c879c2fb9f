"""State that other code reaches than the text of the loop's function shows: it is restored, or the program begins again."""
import pytest
from carried_test import goes_on, slowed

BEGIN = '''
import collections, copy
import torch
torch.manual_seed(1)
net = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
data = list(torch.randn(3, 8, 4))
'''
STEP = '''
optimizer.zero_grad()
loss.backward()
optimizer.step()
'''


def indented(text, by):
    return "".join(" " * by + line + "\n" for line in text.strip().splitlines())


# Only another function reads what the loop's function binds.
GLOBAL = BEGIN + '''
prototypes = torch.zeros(80, 4)
def criterion(out):
    return ((out - prototypes[:8]) ** 2).mean()
def train():
    global prototypes
    for epoch in range(8):
        for x in data:
            loss = criterion(net(x))
''' + indented(STEP, 12) + '''
        with torch.no_grad():
            prototypes = torch.cat([net(x).detach() + 1 for x in data] * 4)
        print("weight", net.weight.norm().item())
        print("loss", loss.item())
train()
'''
NONLOCAL = BEGIN + '''
def main():
    prototypes = torch.zeros(80, 4)
    def criterion(out):
        return ((out - prototypes[:8]) ** 2).mean()
    def train():
        nonlocal prototypes
        for epoch in range(8):
            for x in data:
                loss = criterion(net(x))
''' + indented(STEP, 16) + '''
            with torch.no_grad():
                prototypes = torch.cat([net(x).detach() + 1 for x in data] * 4)
            print("weight", net.weight.norm().item())
            print("loss", loss.item())
    train()
main()
'''
# Only what is added later reads it.
BEST = BEGIN + '''
best_state = copy.deepcopy(net.state_dict())
def best():
    return sum(value.norm().item() for value in best_state.values())
def train():
    global best_state
    for epoch in range(8):
        for x in data:
            loss = net(x).pow(2).mean() * (1 if epoch < 2 else -1)
''' + indented(STEP, 12) + '''
        if epoch < 2:
            best_state = copy.deepcopy(net.state_dict())
        print("best", best())
        print("loss", loss.item())
train()
'''


@pytest.mark.parametrize("text, probe", [(GLOBAL, '        print("weight", net.weight.norm().item())\n'),
                                         (NONLOCAL, '            print("weight", net.weight.norm().item())\n'),
                                         (BEST, '        print("best", best())\n')], ids=["global", "nonlocal", "best"])
def test_a_variable_of_outside_that_the_loops_function_binds(place, text, probe):
    goes_on(place, slowed(text), probe)
