"""Trains one of three models, as tutorials do. Nothing here knows of Flor: `__main__.py` adds what the original needs.

    program.py --size cnn|adam13|frozen51 [--epochs 8] [--steps 24]

The shapes are those of `sizes.cpp`. Data is made up: what counts is how much state an epoch leaves behind, and how long
it takes.
"""
import argparse

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64 * 7 * 7, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


def layers(count, frozen=False):
    body = nn.Sequential(*(layer for _ in range(count) for layer in (nn.Linear(2048, 2048), nn.ReLU())))
    return nn.Sequential(body.requires_grad_(not frozen), nn.Linear(2048, 250))


def train(net, loader, optimizer, epoch):
    net.train()
    for step, (inputs, targets) in enumerate(loader):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(inputs), targets)
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"epoch {epoch} step {step} loss: {loss.item()}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=["cnn", "adam13", "frozen51"], required=True)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--steps", type=int, default=24)
    args = parser.parse_args()
    torch.manual_seed(1)
    if args.size == "cnn":
        net, shape, classes = cnn(), (1, 28, 28), 10
        optimizer = optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    else:
        net, shape, classes = layers(3) if args.size == "adam13" else layers(12, frozen=True), (2048,), 250
        optimizer = optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-4)
    count = 64 * args.steps
    data = TensorDataset(torch.randn(count, *shape), torch.randint(0, classes, (count,)))
    loader = DataLoader(data, batch_size=64, shuffle=True)
    for epoch in range(args.epochs):
        train(net, loader, optimizer, epoch)


if __name__ == "__main__":
    main()
