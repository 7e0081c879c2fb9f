"""Which iterations leave gradients that something uses: only where a text surely clears them all do checkpoints leave them out."""
import ast
import pathlib
import textwrap

import pytest

EXAMPLES = sorted((pathlib.Path(__file__).parent.parent.parent / "examples/python").glob("*.py"))
MADE = "import torch\nnet = Net()\ncriterion = Loss()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nscheduler = torch.optim.lr_scheduler.StepLR(opt, 2)\n"
FIRST = "opt.zero_grad()\nloss(net(x)).backward()\nopt.step()\n"
LAST = "loss(net(x)).backward()\nopt.step()\nopt.zero_grad()\n"


def leaves(path):
    """Are gradients held, of any main loop of the program?"""
    from flor._hook import read_source
    from flor._project import Project
    from flor._rewrite import plans_of

    plans = plans_of(Project(str(path), read_source)).values()
    assert any(plan.main for plan in plans)
    return any("leaves_gradients" in marks for plan in plans for marks in plan.marks.values())


@pytest.fixture
def held(tmp_path):
    def held(text, **modules):
        for name, one in {"train": text, **modules}.items():
            (tmp_path / f"{name}.py").write_text(one)
            ast.parse(one)
        return leaves(tmp_path / "train.py")
    return held


def epochs(body, made=MADE):
    return made + "for epoch in range(3):\n    for x in loader:\n" + textwrap.indent(body, " " * 8) + "    scheduler.step()\n    print('loss', epoch)\n"


@pytest.mark.parametrize("path", [path for path in EXAMPLES if "import flor" not in path.read_text()], ids=lambda path: path.name)
def test_the_examples_leave_none(path):
    assert not leaves(path)


TRAINER = """
class Trainer:
    def __init__(self, model, loader):
        self.model = model.to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.loader, self.best = loader, 0

    def step(self, x):
        BODY
        return 1

    def train_epoch(self):
        self.model.train()
        for x in self.loader:
            self.step(x)

    def fit(self):
        for epoch in range(3):
            self.train_epoch()
            self.model.eval()
            self.best = max(self.best, epoch)

trainer = Trainer(Net(), loader)
trainer.fit()
"""
OF_SELF = "self.optimizer.zero_grad()\nself.model(x).backward()\ntorch.nn.utils.clip_grad_norm_(self.model.parameters(), 1)\nself.optimizer.step()\n"


def of_trainer(body, trainer=TRAINER):
    return "import torch\n" + trainer.replace("        BODY\n", textwrap.indent(body, " " * 8))


ENGINE = """
def train_one_epoch(model, loader, optimizer, scheduler):
    model.train()
    for x in loader:
        model(x).backward()
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
"""
GAN = """
import torch
G, D = Generator(), Discriminator()
opt_g = torch.optim.SGD(G.parameters(), lr=0.05)
opt_d = torch.optim.SGD(D.parameters(), lr=0.05)
"""


@pytest.mark.parametrize("text", [
    epochs(FIRST), epochs(LAST), epochs(FIRST.replace("opt.zero", "net.zero")), epochs(LAST.replace("opt.zero", "net.zero")),
    epochs(FIRST.replace("opt.step", "torch.nn.utils.clip_grad_norm_(net.parameters(), 1)\nopt.step")),
    epochs(LAST.replace("opt.step", "torch.nn.utils.clip_grad_norm_(net.parameters(), 1)\nopt.step")),
    epochs(FIRST.replace("loss(net(x)).backward()\nopt.step()", "scaler.scale(loss(net(x))).backward()\nscaler.unscale_(opt)\nscaler.step(opt)\nscaler.update()")),
    epochs(FIRST.replace("opt.step", "norm = sum(p.grad.norm() for p in net.parameters() if p.grad is not None)\nopt.step")),
    epochs(FIRST + "ema.update(net)\nfor p, q in zip(net.parameters(), slow.parameters()):\n    q.data.lerp_(p.data, 0.1)\n"),
    epochs("try:\n" + textwrap.indent(FIRST, "    ") + "except RuntimeError:\n    torch.cuda.empty_cache()\n"),
    epochs("def closure():\n    opt.zero_grad()\n    e = loss(net(x))\n    e.backward()\n    return e\nopt.step(closure)\n"),
    epochs("with torch.autocast('cuda'):\n    e = loss(net(x))\nopt.zero_grad(set_to_none=True)\ne.backward()\nopt.step()\n"),
    epochs("for p in net.parameters():\n    p.grad = None\nloss(net(x)).backward()\nopt.step()\n"),
    epochs("opt.zero_grad()\nfor part in x.chunk(2):\n    loss(net(part)).backward()\nopt.step()\n"),
    epochs("state, reward, done, _ = env.step(action)\n" + FIRST),
    epochs(FIRST, MADE.replace("opt = torch", "if args.adam:\n    opt = torch.optim.Adam(net.parameters())\nelse:\n    opt = torch")),
    epochs(FIRST.replace("opt.step", "torch.nn.utils.clip_grad_norm_(net.parameters(), 1)\nopt.step"), MADE.replace("Net()", "Net()\nnet = torch.nn.DataParallel(net).to(d)")),
    epochs(FIRST, MADE.replace("net.parameters()", "filter(lambda p: p.requires_grad, net.parameters())")),
    epochs(LAST.replace("opt.zero", "net.zero"), MADE.replace("net.parameters()", "[{'params': net.body.parameters()}, {'params': net.head.parameters()}]")),
    epochs(FIRST, MADE.replace("net.parameters()", "list(net.parameters()) + list(criterion.parameters())")),
    of_trainer(OF_SELF), of_trainer("self.model(x).backward()\nself.optimizer.step()\nself.optimizer.zero_grad()\n"),
    of_trainer(OF_SELF).replace("self.model = model.to(device)", "self.model = model").replace("Adam(self.model", "Adam(model"),
    of_trainer(OF_SELF.replace("torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1)\n", "")).replace("model, loader):", "model, optimizer, loader):").replace(
        "torch.optim.Adam(self.model.parameters())", "optimizer").replace("Net(), ", "Net(), make(), "),
    of_trainer(OF_SELF) + "second = Trainer(Net(), loader)\nsecond.fit()\n",
    GAN + "for epoch in range(3):\n    for x in loader:\n        opt_d.zero_grad()\n        d(x).backward()\n        opt_d.step()\n        opt_g.zero_grad()\n"
    "        g(x).backward()\n        opt_g.step()\n",
    "import torch\nimport fire\ndef main():\n" + textwrap.indent(epochs(LAST), "    ") + "fire.Fire(main)\n",
    "import torch\nimport fire\ndef fit():\n" + textwrap.indent(epochs(LAST), "    ") + "def main():\n    fit()\nfire.Fire(main)\n",
    "import torch\nfrom engine import train_one_epoch\ndef main():\n    net = Net()\n    opt = torch.optim.SGD(net.parameters())\n    sched = StepLR(opt)\n"
    "    for epoch in range(3):\n        train_one_epoch(net, loader, opt, sched)\nif __name__ == '__main__':\n    main()\n",
])
def test_ordinary_programs_leave_none(held, text):
    assert not held(text, engine=ENGINE)


PLAYER = """
class Player:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    def learn(self, loss):
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
"""


@pytest.mark.parametrize("text", [
    # Gradients that nothing clears, and that something uses: to clip, to unscale, to read.
    epochs(FIRST.replace("opt.step", "torch.nn.utils.clip_grad_norm_(net.parameters(), 1)\nopt.step"), MADE.replace("net.p", "net.head.p")),
    epochs(FIRST.replace("opt.step", "clip_grad_norm_(weights, 1)\nopt.step")),
    epochs(FIRST.replace("opt.step", "torch.nn.utils.clip_grad_norm_(net.parameters(), 1)\nopt.step"),
           MADE.replace("net.p", "filter(lambda p: p.requires_grad, net.p").replace("rs(), lr", "rs()), lr")),
    epochs(FIRST.replace("opt.step", "torch.nn.utils.clip_grad_norm_(net.parameters(), 1)\nopt.step"), MADE + "net.extra = Extra()\n"),
    epochs(FIRST.replace("opt.step", "scaler.unscale_(other)\nopt.step")),
    epochs(FIRST.replace("opt.step", "print(sum(p.grad.norm() for p in every))\nopt.step")),
    epochs(FIRST.replace("opt.step", "print(getattr(weight, 'grad').norm())\nopt.step")),
    epochs(FIRST + "if criterion.scale.grad.norm() > 2:\n    break\n"),
    # One text for two things: a parameter, an object, a name that is bound anew, an element.
    GAN + "def optimize(optimizer, loss):\n    loss.backward()\n    optimizer.step()\n    optimizer.zero_grad()\n"
    "for epoch in range(3):\n    for x in loader:\n        optimize(opt_d, d(x))\n        optimize(opt_g, g(x))\n",
    "import torch\n" + PLAYER + "G, D = Player(A()), Player(B())\nfor epoch in range(3):\n    for x in loader:\n        D.learn(d(x))\n        G.learn(g(x))\n",
    "import torch\n" + PLAYER + "players = [Player(A()), Player(B())]\nfor epoch in range(3):\n    for player in players:\n        player.learn(d(x))\n",
    GAN + "for epoch in range(3):\n    opt = opt_g if epoch % 2 else opt_d\n    for x in loader:\n        d(x).backward()\n        opt.step()\n        opt.zero_grad()\n",
    GAN + "opts = [opt_g, opt_d]\nfor epoch in range(3):\n    for x in loader:\n        d(x).backward()\n        opts[epoch % 2].step()\n        opts[epoch % 2].zero_grad()\n",
    GAN + "for epoch in range(3):\n    for x in loader:\n        for opt in (opt_g, opt_d):\n            d(x).backward()\n            opt.step()\n            opt.zero_grad()\n",
    of_trainer("self.model(x).backward()\nself.optimizer.step()\nself.optimizer.zero_grad()\n").replace(
        "self.model.train()", "self.model.train()\n        self.optimizer = self.other()"),
    # An optimizer of what is cleared in part, or of what the text does not name.
    epochs("net.zero_grad()\n" + FIRST.partition("\n")[2], MADE.replace("net.parameters()", "[{'params': net.parameters()}, {'params': criterion.parameters()}]")),
    epochs("net.zero_grad()\n" + FIRST.partition("\n")[2], MADE.replace("net.parameters()", "parts_of(net)")),
    # An exception between backward() and what clears; a context that ends it; a loop that may have no iteration.
    epochs("try:\n" + textwrap.indent(LAST, "    ") + "except ValueError:\n    skipped += 1\n"),
    epochs("with contextlib.suppress(ValueError):\n" + textwrap.indent(LAST, "    ")),
    epochs("for part in x:\n    opt.zero_grad()\n    loss(net(part)).backward()\nopt.step()\n"),
    # Functions that may not be those, and values that are functions.
    epochs("net.clear()\n" + FIRST.partition("\n")[2], MADE + "class Other:\n    def clear(self):\n        opt.zero_grad()\n"),
    *(epochs("clear()\n" + FIRST.partition("\n")[2], MADE + f"{head} clear():\n    opt.zero_grad()\n{more}") for head, more in (
        ("def", "    yield 1\n"), ("@every(4)\ndef", ""), ("async def", ""))),
    epochs(FIRST, MADE.replace("torch.optim.SGD", "Mine").replace("net = ", "class Mine(torch.optim.SGD):\n    def zero_grad(self):\n        pass\nnet = ")),
    epochs("net.zero_grad()\n" + FIRST.partition("\n")[2], MADE + "opt.add_param_group({'params': head.parameters()})\n"),
    epochs("loss(net(x)).backward()\nadvance()\n", MADE + "advance = opt.step\n"),
    epochs("loss(net(x)).backward()\nadvance()\n", MADE + "advance = lambda: opt.step()\n"),
    epochs("loss(net(x)).backward()\nadvance(opt)\n", MADE + "from tools import advance\n"),
    epochs("loss(net(x)).backward()\nonward()\n", MADE + "def inner():\n    opt.step()\ndef outer():\n    inner()\nonward = outer\n"),
    epochs("loss(net(x)).backward()\nonward(opt)\n", MADE + "from tools import advance as onward\n"),
    epochs("loss(net(x)).backward()\ntools[0]()\n", MADE + "def outer():\n    opt.step()\ntools = [outer]\n"),
    epochs("loss(net(x)).backward()\nmade()\n", MADE + "class Made:\n    def __call__(self):\n        opt.step()\nmade = Made()\n"),
    epochs("loss(net(x)).backward()\nopt.step_and_update_lr()\n"),
    # The first iteration finds some, and what follows the last one uses some.
    epochs(LAST, MADE + "def warm_up():\n    loss(net(x)).backward()\nwarm_up()\n"),
    epochs(FIRST) + "print(net.weight.grad.norm())\n",
    "import torch\ndef fit(net):\n" + textwrap.indent(epochs(FIRST), "    ") + "fit(net)\nopt.step()\n",
])
def test_what_is_not_surely_cleared_is_held(held, text):
    assert held(text)
