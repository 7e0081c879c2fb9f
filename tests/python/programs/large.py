"""Large state of all kinds: what Flor reads straight into the program's memory, and what it must not."""
import flor
import numpy as np
import torch

N = 40000
torch.manual_seed(1)
np.random.seed(2)
plain, odd = torch.zeros(N), torch.zeros(2, N)[:, ::2]
both = torch.zeros(2 * N)
halves = [both[:N], both[N:]]
array, turned = np.zeros(N), np.zeros((200, 200)).T
listed, table = list(range(N)), {"best": None, "last": torch.zeros(N)}
net = torch.nn.Linear(300, 200)
optimizer = torch.optim.Adam(net.parameters())

with flor.checkpointing(plain, odd, halves, array, turned, listed, table, net, optimizer):
    for epoch in flor.loop("epoch", range(7)):
        with flor.skip_block("train", plain, odd, halves, array, turned, listed, table, net, optimizer) as train:
            if train.step_into():
                noise = torch.rand(N)
                plain += noise
                odd += noise[: odd.shape[1]]
                halves[epoch % 2] += noise
                array += noise.numpy()
                turned += np.random.rand(200, 200)
                listed[epoch] = -epoch
                table["last"] += noise
                if epoch % 2:
                    table["best"] = table["last"].clone()
                optimizer.zero_grad()
                net(torch.randn(4, 300)).pow(2).mean().backward()
                optimizer.step()
        flor.log("sums", [plain.sum(), odd.sum(), both.sum(), array.sum(), turned.sum(), sum(listed), table["last"].sum()])
        flor.log("net", net.weight.sum())
