"""examples/python/mnist.py with the words of the package: what a hands-free recording of that one is compared with."""
import argparse
import gzip
import pathlib
import struct

import flor
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, 1)
        self.conv2 = nn.Conv2d(16, 32, 3, 1)
        self.dropout = nn.Dropout(0.25)
        self.fc1 = nn.Linear(32 * 12 * 12, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(self.dropout(x).flatten(1)))
        return F.log_softmax(self.fc2(x), dim=1)


def read_idx(path):
    with gzip.open(path, "rb") as file:
        _, dimensions = struct.unpack(">HBB", file.read(4))[1:]
        shape = struct.unpack(f">{dimensions}I", file.read(4 * dimensions))
        return torch.frombuffer(bytearray(file.read()), dtype=torch.uint8).reshape(shape)


def load(folder):
    images = next(path for name in ("train", "t10k") for path in [pathlib.Path(folder) / f"{name}-images-idx3-ubyte.gz"] if path.exists())
    labels = images.with_name(images.name.replace("images-idx3", "labels-idx1"))
    return read_idx(images).float().div(255).sub(0.1307).div(0.3081).unsqueeze(1), read_idx(labels).long()


def draw(count):
    y = torch.randint(0, 10, (count,))
    x = torch.randn(count, 1, 28, 28) * 3
    for digit in range(10):
        x[y == digit, :, 2 * digit + 4:2 * digit + 7] += 1
    return x, y


def train(args, model, loader, optimizer, epoch):
    model.train()
    with flor.skip_block("train", model, optimizer) as block:
        if block.step_into():
            for batch_idx, (data, target) in flor.loop("batch_idx", enumerate(loader)):
                optimizer.zero_grad()
                loss = F.nll_loss(model(data), target)
                loss.backward()
                optimizer.step()
                if batch_idx % args.log_interval == 0:
                    print(f"Train Epoch: {epoch} [{batch_idx * len(data)}/{len(loader.dataset)}]\tLoss: {loss.item():.6f}")
                    flor.log("loss", loss.item())


def test(model, loader):
    model.eval()
    test_loss, correct = 0, 0
    with torch.no_grad():
        for data, target in loader:
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            correct += output.argmax(dim=1).eq(target).sum().item()
    test_loss /= len(loader.dataset)
    accuracy = 100.0 * correct / len(loader.dataset)
    flor.log("test_loss", test_loss)
    flor.log("accuracy", accuracy)
    print(f"Test set: Average loss: {test_loss:.4f}, Accuracy: {accuracy:.1f}%")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=1.0)
    parser.add_argument("--gamma", type=float, default=0.7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--log-interval", type=int, default=10)
    parser.add_argument("--data")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    x, y = load(args.data) if args.data else draw(args.samples + args.samples // 8)
    held_out = len(x) // 9
    train_loader = DataLoader(TensorDataset(x[held_out:], y[held_out:]), batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(TensorDataset(x[:held_out], y[:held_out]), batch_size=500)
    model = Net()
    optimizer = optim.Adadelta(model.parameters(), lr=args.lr)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=args.gamma)
    with flor.checkpointing(model=model, optimizer=optimizer, scheduler=scheduler):
        for epoch in flor.loop("epoch", range(1, args.epochs + 1)):
            train(args, model, train_loader, optimizer, epoch)
            test(model, test_loader)
            scheduler.step()


if __name__ == "__main__":
    main()
