"""What no longer changes is written once: the frozen part of a model."""
import pytest
from free_test import have, plain

FROZEN = '''
import torch
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.Linear(512, 1))
body, head = net
for parameter in body.parameters():
    parameter.requires_grad = False
optimizer = torch.optim.SGD(head.parameters(), lr=0.01, momentum=0.9)
for epoch in range(12):
    for x in torch.randn(3, 8, 512):
        loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    CHANGE_LINE
    print("loss", loss.item())
'''
BODY = 4 * (512 * 512 + 512)


def written(place):
    """Bytes of each checkpoint, in the order in which they were made."""
    found = sorted((place.folder / "store").glob("*/checkpoints/*/*.safetensors"), key=lambda path: path.stat().st_mtime_ns)
    return [path.stat().st_size for path in found]


@pytest.mark.parametrize("change, times", [
    ("", 1),
    # Written, and unchanged afterwards.
    ("if epoch == 6: body.weight.mul_(0.5)", 2),
    # Trained from then on.
    ("if epoch == 8: body.requires_grad_(True); optimizer.add_param_group({'params': body.parameters()})", None),
    # In a way that the version does not show.
    ("if epoch == 6: body.weight.data.mul_(0.5)", None),
    ("body.weight.data = body.weight.data * 0.9", None),
])
def test_a_frozen_part_is_written_when_it_changed_and_restored_everywhere(place, change, times):
    text = FROZEN.replace("CHANGE_LINE", change or "pass")
    place.write("train.py", text)
    place.record("train.py")
    if times is not None:
        sizes = written(place)
        assert times * BODY <= sum(sizes) <= times * BODY + len(sizes) * 60_000, sizes
    place.write("train.py", text.replace("    print(", "    print(body.weight.norm().item(), head.weight.norm().item())\n    print("))
    said = place.replay("train.py", "--workers", 2)
    assert ": identical" in said, said
    rows = plain(place, "train.py")[1]
    assert len(rows) >= 3 * 12 and set(rows) <= set(have(place))


# What the block leaves, the iteration leaves as it is. Each checkpoint of a block is on the disk before that of its iteration is taken.
TRAINED = '''
import pathlib
import time
import torch
torch.manual_seed(1)
net = torch.nn.Linear(512, 512)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
def train(epoch):
    for x in torch.randn(3, 8, 512):
        optimizer.zero_grad()
        net(x).pow(2).mean().backward()
        optimizer.step()
for epoch in range(6):
    train(epoch)
    end = time.monotonic() + 20
    while not list(pathlib.Path("store").glob(f"*/checkpoints/train*/epoch={epoch}.*")) and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.05)
    CHANGE_LINE
    print("norm", net.weight.norm().item())
'''


@pytest.mark.parametrize("change, times", [
    ("pass", 1),
    # In ways that the versions do and do not show.
    ("net.weight.detach().mul_(0.9)", 1.5),
    ("net.weight.data.mul_(0.9)", 1.5),
])
def test_an_iteration_shares_what_its_block_left(place, change, times):
    place.write("train.py", TRAINED.replace("CHANGE_LINE", change))
    place.record("train.py")
    state = 2 * 4 * (512 * 512 + 512)  # parameters and momentum
    epochs = [path.stat().st_size for path in (place.folder / "store").glob("*/checkpoints/*/epoch=[0-9]*")]
    assert len(epochs) == 12 and 6 * times * state <= sum(epochs) < (6 * times + 2) * state, epochs
    place.write("train.py", TRAINED.replace("CHANGE_LINE", change) + "    print(net.bias.norm().item())\n")
    said = place.replay("train.py", "--workers", 2)
    assert ": identical" in said, said
    rows = plain(place, "train.py")[1]
    assert len(rows) >= 2 * 6 and set(rows) <= set(have(place))
