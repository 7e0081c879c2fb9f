"""What is a use of a gradient that is watched, and what is none: in this process, without a recording."""
import copy

import pytest
import torch


def trained():
    torch.manual_seed(1)
    net = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    net(torch.randn(4, 3)).pow(2).sum().backward()
    optimizer.step()
    return net, optimizer


def train(net, optimizer, **how):
    optimizer.zero_grad(**how)
    net(torch.ones(4, 3)).pow(2).sum().backward()
    optimizer.step()


USES = {
    "step": lambda net, optimizer: optimizer.step(),
    "accumulated": lambda net, optimizer: (net(torch.ones(1, 3)).sum().backward(), optimizer.step()),
    "clipped": lambda net, _: torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0),
    "a number": lambda net, _: net.weight.grad[0, 0].item(),
    "shown": lambda net, _: str(net.weight.grad),
    "added to": lambda net, _: net.weight.grad.add_(1),
    "a part is set": lambda net, _: net.bias.grad.__setitem__(0, 1.0),
    "by numpy": lambda net, _: net.weight.grad.numpy(),
    "its memory": lambda net, _: net.weight.grad.data_ptr(),
    "in a list": lambda net, _: torch.cat([parameter.grad.flatten() for parameter in net.parameters()]),
    "copied": lambda net, _: torch.zeros(2, 3).copy_(net.weight.grad),
    "its data": lambda net, _: net.weight.grad.data.mul_(2),
    "compared": lambda net, _: bool((net.bias.grad > 0).any()),
    "moved": lambda net, _: net.double(),
    "copied where it is": lambda net, _: net.weight.grad.to("cpu", copy=True),
    "its type": lambda net, _: net.weight.grad.double(),
    "its data is another": lambda net, _: [setattr(parameter.grad, "data", torch.ones_like(parameter)) for parameter in net.parameters()],
}
NO_USES = {
    "cleared to None": lambda net, optimizer: train(net, optimizer, set_to_none=True),
    "cleared to zeros": lambda net, optimizer: train(net, optimizer, set_to_none=False),
    "cleared by the module": lambda net, _: net.zero_grad(),
    "added to and cleared": lambda net, optimizer: (net(torch.ones(1, 3)).sum().backward(), train(net, optimizer)),
    "its data cleared": lambda net, _: [parameter.grad.data.zero_() for parameter in net.parameters()],
    "detached and cleared": lambda net, _: [parameter.grad.detach_().zero_() for parameter in net.parameters()],
    "overwritten": lambda net, _: [parameter.grad.copy_(torch.ones_like(parameter)) for parameter in net.parameters()],
    "asked whether there is one": lambda net, _: [one.grad is not None and one.grad != None for one in net.parameters()],  # noqa: E711
    "asked for its shape": lambda net, _: [(one.grad.shape, one.grad.dtype, one.grad.is_sparse) for one in net.parameters()],
    "the module is copied": lambda net, _: copy.deepcopy(net),
    "moved to where it is": lambda net, _: net.to("cpu").float(),
    "of the type that it has": lambda net, _: [parameter.grad.type(torch.float32) for parameter in net.parameters()],
    "removed": lambda net, _: [setattr(parameter, "grad", None) for parameter in net.parameters()],
}


@pytest.mark.parametrize("begin", ["watch", "be_unknown"])
@pytest.mark.parametrize("act, is_use", [(act, True) for act in USES.values()] + [(act, False) for act in NO_USES.values()],
                         ids=[*USES, *NO_USES])
def test_a_use_is_told_from_what_is_none(act, is_use, begin):
    from flor import _left_out

    net, optimizer = trained()
    uses = []
    for parameter in net.parameters():
        if begin == "watch":
            _left_out.watch(parameter, "block", lambda: uses.append("block"))
            _left_out.watch(parameter, "", lambda: uses.append(""))
        else:
            _left_out.be_unknown(parameter, lambda: uses.append(""))
    act(net, optimizer)
    assert set(uses) == (set() if not is_use else {"", "block"} if begin == "watch" else {""})
    assert all(parameter.grad is None or parameter.grad.dtype == parameter.dtype for parameter in net.parameters())


def test_a_gradient_behind_many_objects_is_found():
    from flor import _left_out

    class Agent:
        def __init__(self):
            self.seen = [(torch.zeros(1), [index]) for index in range(10000)]
            self.net = trained()[0]

    agent = Agent()
    assert len(_left_out.trained_in(agent, True)) == 2
    agent.seen = [[] for _ in range(200_001)]
    with pytest.raises(TypeError, match="too many"):
        _left_out.trained_in(agent, True)


class Noted(list):
    """In place of the library, what is noted in the record."""

    is_own_thread = 1

    def flor_note_unheld(self, block, path, _matters):
        self.append((block.decode(), path.decode()))

    def flor_recording(self):
        return 1

    def flor_active(self):
        return self.is_own_thread

    def flor_warn(self, _text):
        pass


@pytest.fixture
def noted(monkeypatch):
    from flor import _block, _gradient_uses, _library

    noted = Noted()
    monkeypatch.setattr(_gradient_uses, "library", noted)
    monkeypatch.setattr(_gradient_uses, "_seen", {"used": False, "in doubt": False})
    monkeypatch.setattr(_block, "_noted", {})
    monkeypatch.setattr(_library, "warn", lambda text: None)
    return noted


def test_a_checkpoint_between_two_steps_does_not_hide_that_the_one_before_lacks_gradients(noted):
    from flor import _gradient_uses

    net, optimizer = trained()
    _gradient_uses.watch_all("", [(parameter, False) for parameter in net.parameters()])
    _gradient_uses.watch_all("", [(parameter, True) for parameter in net.parameters()])
    optimizer.step()
    assert noted == [("@gradients", "?")]
    _gradient_uses.watch_all("", [(parameter, True) for parameter in net.parameters()])
    optimizer.step()
    assert noted == [("@gradients", "?"), ("@gradients", "!")]


def test_the_hooks_that_watch_are_gone_behind_the_next_backward(noted):
    from flor import _gradient_uses

    (net, optimizer), (watched, other) = trained(), trained()
    for act in (lambda *one: None, lambda net, _: net(torch.ones(1, 3)).sum().backward(), lambda net, _: net.zero_grad(set_to_none=True)):
        _gradient_uses.watch_all("train", [(parameter, False) for parameter in watched.parameters() if parameter.grad is not None])
        for one in ((net, optimizer), (watched, other)):
            act(*one)
            train(*one)
        assert not any(parameter._backward_hooks for parameter in watched.parameters())
        assert all(torch.equal(a, b) and torch.equal(a.grad, b.grad) for a, b in zip(net.parameters(), watched.parameters()))
    assert noted == [("train", "@gradients")]  # of the one in the middle alone


def test_what_backward_finds_on_another_thread_is_noted_by_the_one_that_trains(noted):
    """So it is for a model on a GPU."""
    from flor import _gradient_uses

    net, _ = trained()
    _gradient_uses.watch_all("train", [(parameter, False) for parameter in net.parameters()])
    noted.is_own_thread = 0
    net(torch.ones(1, 3)).sum().backward()
    assert noted == []
    noted.is_own_thread = 1
    _gradient_uses.settle()
    assert noted == [("train", "@gradients")]


def test_what_is_done_to_a_gradient_itself_goes_on_to_hold():
    from flor import _left_out

    net, _ = trained()
    net.weight.grad.requires_grad_(False)
    for parameter in net.parameters():
        _left_out.watch(parameter, "", lambda: None)
    gradient = net.weight.grad.requires_grad_(True)
    assert net.weight.grad.requires_grad and gradient.pow(2).sum().requires_grad
    net.bias.grad.unsqueeze_(0)
    assert net.bias.grad.shape == (1, 2)


@pytest.mark.parametrize("act", [USES["step"], USES["accumulated"], NO_USES["cleared to zeros"], NO_USES["added to and cleared"]])
def test_training_is_the_same_to_the_bit_where_it_is_watched(act):
    from flor import _left_out

    (net, optimizer), (watched, other) = trained(), trained()
    for parameter in watched.parameters():
        _left_out.watch(parameter, "", lambda: None)
    for one in ((net, optimizer), (watched, other)):
        act(*one)
        train(*one)
    assert all(torch.equal(a, b) and type(a.grad) is type(b.grad) for a, b in zip(net.parameters(), watched.parameters()))
