import sys
import torch
from torch import nn
import flor

torch.manual_seed(int(flor.arg("seed", 1)))
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.2), nn.BatchNorm1d(32), nn.Linear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=flor.arg("lr", 0.01))
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.5)
x = torch.randn(256, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
data = torch.utils.data.TensorDataset(x, y)
loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)
seen = {"best": 0.0, "epochs": []}

with flor.checkpointing(net=net, optimizer=optimizer, scheduler=scheduler, seen=seen):
    for epoch in flor.loop("epoch", range(8)):
        with flor.skip_block("train", net, optimizer) as train:
            if train.step_into():
                net.train()
                for xb, yb in flor.loop("step", loader):
                    optimizer.zero_grad()
                    loss = nn.functional.cross_entropy(net(xb), yb)
                    loss.backward()
                    optimizer.step()
                    flor.log("loss", loss.item())
        scheduler.step()
        net.eval()
        with torch.no_grad():
            accuracy = (net(x).argmax(1) == y).float().mean().item()
        seen["best"] = max(seen["best"], accuracy)
        seen["epochs"].append(epoch)
        flor.log("accuracy", accuracy)
        flor.log("best", seen["best"])
        flor.log("lr", scheduler.get_last_lr())
