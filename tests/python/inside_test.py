"""A replay begins units between two steps of an epoch, and its rows are those of a plain run of the edited program, bit for bit."""
import pytest
from free_test import have, plain
from steps_test import HEAD, PROGRAMS

# In front of which line of a step which values are shown; the last ones are of the step before.
PROBES = {
    "in the process": ("        optimizer.zero_grad()\n", ["net[0].weight.norm()", "x.sum()", "history[-3:]", "total", "scheduler.last_epoch"]),
    "workers": ("        optimizer.zero_grad()\n", ["net[0].weight.norm()", "x.sum()", "seen"]),
    "accumulated": ("            loss.backward()\n", ["self.net[0].weight.grad", "self.step", "self.best", "self.average[0].weight.norm()"]),
    "own generator": ("            loss.backward()\n", ["self.net[0].weight.norm()", "x.sum()", "self.rng.bit_generator.state['state']"]),
    "carried": ("        optimizer.zero_grad()\n", ["hidden.sum()", "embed.weight.norm()", "at"]),
    "counted by twos": ("        optimizer.zero_grad()\n", ["hidden.sum()", "embed.weight.norm()"]),
}


def with_probes(text, line, shown):
    indent = line[:len(line) - len(line.lstrip())]
    assert text.count(line) == 1
    return text.replace(line, "".join(f"{indent}print({one})\n" for one in shown) + line)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("name", PROBES)
def test_units_begin_between_steps(place, name, workers):
    line, shown = PROBES[name]
    text = HEAD + PROGRAMS[name][0]
    place.write("train.py", text)
    place.record("train.py", FLOR_STEP_SECONDS="0")
    place.write("train.py", with_probes(text, line, shown))
    said = place.replay("train.py", "--workers", workers)
    assert ": identical" in said and "taken back" not in said, said
    assert int(said.split(": ")[1].split(" units")[0]) > 12, said
    rows = plain(place, "train.py")[1]
    assert set(rows) <= set(have(place)) and len(rows) > 24 * len(shown)


UNHELD = """
def main():
    net = nn.Linear(6, 2)
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    loader = DataLoader(TensorDataset(torch.randn(60, 6), torch.randint(0, 2, (60,))), batch_size=6, shuffle=True)
    for epoch in range(3):
        large = torch.zeros(720)
        for x, y in loader:
            optimizer.zero_grad()
            out = net(x)
            loss = nn.functional.cross_entropy(out, y)
            loss.backward()
            optimizer.step()
            large = out.detach().flatten().repeat(60)
            print("loss", loss.item())

main()
"""
TOP = "            optimizer.zero_grad()\n"


@pytest.mark.parametrize("added, units", [
    (TOP + "            print(x.sum().item())\n", 29),
    # Of the step before, and in no checkpoint between steps, since nothing read it and it is large.
    ("            print(large.sum().item())\n" + TOP, 3),
])
def test_what_no_checkpoint_between_steps_holds_begins_units_at_iterations(place, added, units):
    text = HEAD + UNHELD
    place.write("train.py", text)
    place.record("train.py", FLOR_STEP_SECONDS="0")
    place.write("train.py", text.replace(TOP, added))
    said = place.replay("train.py", "--workers", 2)
    assert f": {units} units" in said and ": identical" in said, said
    assert ("no checkpoint between steps holds it: units begin at iterations" in said) == (units == 3), said
    rows = plain(place, "train.py")[1]
    assert set(rows) <= set(have(place)) and len(rows) == 2 * 30


def test_what_follows_a_loop_that_was_left_may_fail(place):
    text = HEAD + UNHELD.replace("        large = torch", "        seen = {}\n        large = torch").replace(
        TOP, "            seen[len(seen)] = x\n" + TOP).replace("\nmain()", "        print('last', seen[9].sum().item())\n\nmain()")
    place.write("train.py", text)
    place.record("train.py", FLOR_STEP_SECONDS="0")
    place.write("train.py", text.replace(TOP, "            print(x.sum().item())\n" + TOP))
    said = place.replay("train.py", "--workers", 3)
    assert ": identical" in said, said
    rows = plain(place, "train.py")[1]
    assert set(rows) <= set(have(place)) and len(rows) == 2 * 30 + 3
