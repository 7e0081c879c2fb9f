"""Programs as they are, laid out in ways that loops and blocks must fit: what is recorded trains as without Flor."""
import sys

from free_test import have, plain

# Blocks that no watched main loop is around: of a warm-up, and of a main loop in a function that takes its locals().
UNWATCHED = '''
import torch

def fit(model, optimizer, data, epochs):
    for epoch in range(epochs):
        for x, y in data:
            loss = (model(x) - y).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()

def main(rate=0.05, rounds=3):
    print("config", locals())
    torch.manual_seed(0)
    data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(3)]
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    print("warm-up", fit(model, optimizer, data, 2))
    for round in range(rounds):
        loss = fit(model, optimizer, data, 3)
        print("loss", loss)
main()
'''


def test_blocks_that_no_watched_loop_is_around_train_as_without(place):
    place.write("train.py", UNWATCHED)
    done, rows = plain(place, "train.py")
    recorded = place.run("flor", "record", "--name", "a", "--every", "1", "--", sys.executable, "train.py")
    assert recorded.stdout == done.stdout and "not watched any more" not in recorded.stderr
    assert len(rows) == 3 and set(rows) <= set(have(place))
