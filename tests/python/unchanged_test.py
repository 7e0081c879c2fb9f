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
