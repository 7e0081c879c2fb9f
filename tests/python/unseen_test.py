"""What a text does not show of what an iteration passes on: it is restored, or the program begins at its start. Never does a
resumed recording train on without it."""
import pytest
from carried_test import goes_on, slowed

# Stands for PyTorch, which takes seconds to load.
BEGIN = '''
import random
random.seed(0)
weights = [0.0] * 4
class Optimizer:
    def __init__(self, weights):
        self.weights = weights
    def step(self, targets):
        for k, target in enumerate(targets):
            self.weights[k] += 0.1 * (target - self.weights[k]) + 0.01 * random.random()
optimizer = Optimizer(weights)
'''
LOOP = '''
for epoch in range(8):
    FIRST
    for i in range(5):
        optimizer.step(TARGETS)
    LAST
    print("loss", weights[0], flush=True)
    PROBE
'''


def program(begin, targets, first="pass", last="pass", probe=""):
    text = BEGIN + begin + LOOP
    for word, line in (("FIRST", first), ("TARGETS", targets), ("LAST", last)):
        text = text.replace(word, line)
    return slowed(text.replace("    PROBE\n", f"    print({probe})\n" if probe else "")), f"    print({probe})\n" if probe else ""


CASES = {
    # By a loop that follows, which a replay and a resumed recording execute alone.
    "read behind its loop": program('''
outputs, teacher = {0: 0.0}, [0.0] * 4
for epoch in range(4):
    for i in range(3):
        Optimizer(teacher).step([1, 2, 3, 4])
    outputs = {k: value for k, value in enumerate(teacher)}
''', "list(outputs.values())", probe="weights[0] - outputs[0]"),
    "read by a function": program('''
before = {k: [value] for k, value in enumerate(weights)}
def distances():
    return [1 + 9 * abs(value - before[k][0]) for k, value in enumerate(weights)]
''', "distances()", last="before = {k: [value] for k, value in enumerate(weights)}"),
    "another function": program('''
class Phase:
    def __init__(self):
        self.target = self.easy = lambda k: k
        self.hard = lambda k: -9 * k
    def begin(self, epoch):
        if epoch == 2:
            self.target = self.hard
phase = Phase()
''', "[phase.target(k) for k in range(4)]", first="phase.begin(epoch)"),
    "a function of that name in another module": program('''
import easy, hard
target = easy.target
''', "[target(k) for k in range(4)]", first="target = hard.target if epoch == 2 else target"),
    "of a module that an object knows": program('''
import settings
class Agent:
    def __init__(self):
        self.settings, self.count = settings, 0
    def act(self):
        self.count += 1
        if self.count > 12:
            self.settings.stats["scale"] += 1
        return [self.settings.stats["scale"]] * 4
class Trainer:
    def __init__(self):
        self.agent = Agent()
trainer = Trainer()
''', "trainer.agent.act()"),
    "a generator's subclass": program('''
class Sampler(random.Random):
    def pick(self):
        return [self.randrange(9) for _ in range(4)]
sampler = Sampler(3)
''', "sampler.pick()"),
    "slots of a base": program('''
class Base:
    __slots__ = ("steps",)
class Agent(Base):
    def __init__(self):
        self.steps, self.name = 0, "agent"
    def act(self):
        self.steps += 1
        return [self.steps] * 4
agent = Agent()
''', "agent.act()"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_restored_or_the_program_begins_again(place, case):
    for name, sign in (("easy", ""), ("hard", "-9 * ")):
        place.write(f"{name}.py", f"def target(k):\n    return {sign}k\n")
    place.write("settings.py", 'stats = {"scale": 1.0}\n')
    goes_on(place, *CASES[case])


TORCH = '''
import torch
torch.manual_seed(1)
def decaying():
    kept = [1.0]
    def rate(epoch):
        kept[0] *= 0.8
        return kept[0]
    return rate
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self._calls = torch.nn.Linear(4, 1), 0
    def forward(self, x):
        self._calls += 1
        return self.fc(x) / self._calls
class Agent:
    def __init__(self):
        self.net, self.seen = Net(), 0
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def learn(self, x):
        self.seen += 1
        loss = (self.net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss
class Trainer:
    def __init__(self):
        self.agent = Agent()
def clip(net):
    norms = []
    def hook(gradient):
        norms.append(gradient.norm().item())
        return gradient * min(1.0, sorted(norms)[len(norms) // 4] / norms[-1])
    net.weight.register_hook(hook)
trainer = Trainer()
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
BEGIN
for epoch in range(8):
    for x in torch.randn(5, 8, 4):
        STEP
    LAST
    print("loss", loss.item(), flush=True)
'''
STEP = '''loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()'''
OF_TORCH = {
    "counter of a module in an object of an object": ("", "loss = trainer.agent.learn(x)", ""),
    "closure of a schedule": ("scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, decaying())", STEP, "scheduler.step()"),
    "attribute of a parameter": ("for p in net.parameters(): p.average = p.detach().clone()", STEP + """
        for p in net.parameters():
            p.average.mul_(0.9).add_(p.detach(), alpha=0.1)
            p.data.lerp_(p.average, 0.3)""", ""),
    "hook of a parameter": ("clip(net)", STEP, ""),
    "gradients that are taken by hand": ("count = 0", '''loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        count += 1
        if count % 3 == 0:
            with torch.no_grad():
                for p in net.parameters():
                    p -= 0.02 * p.grad
                    p.grad.zero_()''', ""),
}


@pytest.mark.parametrize("case", OF_TORCH)
def test_it_is_restored_or_the_program_begins_again_with_torch(place, case):
    begin, step, last = OF_TORCH[case]
    text = TORCH
    for word, line in (("BEGIN", begin), ("STEP", step), ("LAST", last or "pass")):
        text = text.replace(word, line)
    goes_on(place, slowed(text))
