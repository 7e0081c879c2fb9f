"""Trains a small convolutional network on images that it draws itself, as a tutorial would; needs torch alone.

    flor record --name cnn -- python3 examples/python/cnn.py --epochs 10"""
import argparse

import flor
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1),
                                      nn.ReLU(), nn.MaxPool2d(2))
        self.classes = nn.Sequential(nn.Flatten(), nn.Dropout(0.3), nn.Linear(32 * 7 * 7, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, x):
        return self.classes(self.features(x))


def draw(count):
    """Returns images with a bright bar whose place is the class, and noise."""
    y = torch.randint(0, 10, (count,))
    x = torch.randn(count, 1, 28, 28) * 3
    for place in range(10):
        x[y == place, :, 2 * place + 4 : 2 * place + 7] += 1
    return x, y


def evaluate(net, loader):
    net.eval()
    right = 0
    with torch.no_grad():
        for x, y in loader:
            right += (net(x).argmax(1) == y).sum().item()
    return right / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--samples", type=int, default=6000)
    parser.add_argument("--batch", type=int, default=50)
    options = parser.parse_args()
    torch.manual_seed(1)
    train = DataLoader(TensorDataset(*draw(options.samples)), batch_size=options.batch, shuffle=True)
    test = DataLoader(TensorDataset(*draw(500)), batch_size=100)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=flor.arg("lr", 1e-3))
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.epochs)
    with flor.checkpointing(net=net, optimizer=optimizer, scheduler=scheduler):
        for epoch in flor.loop("epoch", range(options.epochs)):
            with flor.skip_block("train", net, optimizer) as block:
                if block.step_into():
                    net.train()
                    for x, y in flor.loop("step", train):
                        optimizer.zero_grad()
                        loss = nn.functional.cross_entropy(net(x), y)
                        loss.backward()
                        optimizer.step()
                        flor.log("loss", loss.item())
            scheduler.step()
            flor.log("accuracy", evaluate(net, test))


if __name__ == "__main__":
    main()
