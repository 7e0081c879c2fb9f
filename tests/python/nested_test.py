"""Objects with state_dict() inside of others: what their state leaves out of their modules is restored, too."""
import pytest
import torch
from remade_test import goes_on
from state_test import restored, saved

BEGIN = """
import os
import time
import torch
torch.manual_seed(1)
class Agent:
    def __init__(self):
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.BatchNorm1d(6), torch.nn.Dropout(0.3), torch.nn.Linear(6, 1))
        self.OPT = torch.optim.SGD(self.net.parameters(), lr=0.05)
    def begin(self, epoch):
        if epoch == 2:
            for parameter in self.net[0].parameters():
                parameter.requires_grad_(False)
                parameter.grad = None
            self.net[1].eval()
        if epoch == 3:
            self.net[2].eval()
            self.net[2].p = 0.5
    def learn(self, x):
        self.OPT.zero_grad()
        loss = (self.net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        self.OPT.step()
        return loss.item()
    def state_dict(self):
        return {"net": self.net.state_dict(), "optimizer": self.OPT.state_dict()}
    def load_state_dict(self, state):
        self.net.load_state_dict(state["net"])
        self.OPT.load_state_dict(state["optimizer"])
"""
TRAINER = BEGIN + """
class Trainer:
    def __init__(self):
        self.agent = Agent()
        self.learners = {"a": Agent(), "b": Agent()}
    def run(self):
        for epoch in range(8):
            for agent in (self.agent, self.learners["b"]):
                agent.begin(epoch)
            for x in torch.randn(5, 8, 4):
                loss = self.agent.learn(x) + sum(learner.learn(x) for learner in self.learners.values())
            SHOWN
            print("loss", loss)
            KILL
Trainer().run()
"""
KILL = """if epoch == 4 and os.environ.get("FLOR_RECORD") and not os.path.exists("killed"):
                open("killed", "w").close()
                time.sleep(0.5)  # the checkpoint of the epoch is written by then
                os.kill(os.getpid(), 9)
"""
SHOWN = "print([part.training for part in self.agent.net], sum(p.requires_grad for p in self.learners['b'].net.parameters()), self.agent.net[1].running_mean.sum())"


@pytest.mark.parametrize("optimizer", ["opt", "optimizer"])
def test_modes_and_frozen_parameters_of_an_inner_agent_are_restored(place, optimizer):
    text = TRAINER.replace("OPT", optimizer).replace("KILL", KILL).replace("SHOWN", SHOWN)
    said = goes_on(place, text, f"            {SHOWN}\n")
    assert "resumed behind epoch=" in said and "does not fit" not in said, said


class Keeper:
    """Its state has a copy of one network, and nothing of another."""

    def __init__(self):
        self.net, self.inner = torch.nn.Linear(2, 2), [{"other": torch.nn.BatchNorm1d(2)}]

    def state_dict(self):
        return {"net": {key: value.clone() for key, value in self.net.state_dict().items()}}

    def load_state_dict(self, state):
        self.net.load_state_dict(state["net"])


def test_modules_of_an_object_are_saved_with_what_its_state_leaves_out():
    keeper = Keeper()
    other = keeper.inner[0]["other"].eval()
    keeper.net.weight.requires_grad_(False)
    leaves = saved(keeper=keeper)
    other.train()(torch.randn(8, 2) + 5)
    keeper.net.weight.requires_grad_(True).data.zero_()
    restored(leaves, keeper=keeper)
    assert not other.training and other.running_mean.sum() == 0
    assert not keeper.net.weight.requires_grad and keeper.net.weight.abs().sum() > 0


def test_an_object_that_refers_to_much_is_saved_with_the_modules_that_are_near(monkeypatch):
    from flor import _inner

    keeper = Keeper()
    keeper.data = [(k % 7, f"text {k}") for k in range(220_000)]
    assert len(_inner.modules_in(keeper)) == 2 and "keeper" in str(list(saved(keeper=keeper)))
    keeper.data = [Point(k) for k in range(3000)]
    with pytest.raises(_inner.Late):
        _inner.modules_in(keeper, 0)
    monkeypatch.setattr(_inner, "_MOST", 1000)
    keeper.data[-1].place = torch.nn.Linear(2, 2)
    assert [type(one).__name__ for one in _inner.modules_in(keeper)] == ["Linear", "BatchNorm1d"]
    keeper.inner[0]["other"].eval()
    leaves = saved(keeper=keeper)
    keeper.inner[0]["other"].train()
    restored(leaves, keeper=keeper)
    assert not keeper.inner[0]["other"].training


class Point:
    def __init__(self, place):
        self.place = place
