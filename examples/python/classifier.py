"""Trains a small network on points in a plane, on the CPU, in seconds; needs torch alone.

    flor record --name first -- python3 examples/python/classifier.py

Then add a log statement, inside the block or outside of it, and ask for its rows:

    flor replay first -- python3 examples/python/classifier.py"""
import flor
import torch
from torch import nn

torch.manual_seed(flor.arg("seed", 1))
x = torch.randn(256, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=32, shuffle=True)

net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.2), nn.BatchNorm1d(32), nn.Linear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=flor.arg("lr", 0.01))
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.5)
best = {"accuracy": 0.0}

with flor.checkpointing(net=net, optimizer=optimizer, scheduler=scheduler, best=best):
    for epoch in flor.loop("epoch", range(flor.arg("epochs", 8))):
        with flor.skip_block("train", net, optimizer) as train:
            if train.step_into():
                net.train()
                for points, classes in flor.loop("step", loader):
                    optimizer.zero_grad()
                    loss = nn.functional.cross_entropy(net(points), classes)
                    loss.backward()
                    optimizer.step()
                    flor.log("loss", loss.item())
        scheduler.step()
        net.eval()
        with torch.no_grad():
            accuracy = (net(x).argmax(1) == y).float().mean().item()
        best["accuracy"] = max(best["accuracy"], accuracy)
        flor.log("accuracy", accuracy)
        flor.log("best", best["accuracy"])
