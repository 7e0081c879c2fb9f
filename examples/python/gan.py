"""Trains a generator against a discriminator on points of a ring. Nothing here knows of Flor:

    flor record --name gan -- python3 examples/python/gan.py"""
import math
import random

import torch
import torch.nn as nn
import torch.optim as optim

manualSeed = 999
random.seed(manualSeed)
torch.manual_seed(manualSeed)

nz, batch_size, num_epochs, lr, beta1 = 4, 64, 6, 0.0005, 0.5


def ring(count):
    angle = torch.rand(count) * 2 * math.pi
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(count, 2)


dataset = ring(1024)
dataloader = torch.utils.data.DataLoader(dataset, batch_size=batch_size, shuffle=True)

netG = nn.Sequential(nn.Linear(nz, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2))
netD = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(32, 1), nn.Sigmoid())
criterion = nn.BCELoss()
fixed_noise = torch.randn(64, nz)
optimizerD = optim.Adam(netD.parameters(), lr=lr, betas=(beta1, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=lr, betas=(beta1, 0.999))

G_losses = []
D_losses = []
iters = 0

print("Starting Training Loop...")
for epoch in range(num_epochs):
    for i, data in enumerate(dataloader, 0):
        netD.zero_grad()
        real_label = 0.9 if random.random() > 0.05 else 0.0
        label = torch.full((data.size(0),), real_label)
        errD_real = criterion(netD(data).view(-1), label)
        errD_real.backward()
        fake = netG(torch.randn(data.size(0), nz))
        errD_fake = criterion(netD(fake.detach()).view(-1), torch.zeros(data.size(0)))
        errD_fake.backward()
        errD = errD_real + errD_fake
        optimizerD.step()

        netG.zero_grad()
        errG = criterion(netD(fake).view(-1), torch.ones(data.size(0)))
        errG.backward()
        optimizerG.step()

        if i % 8 == 0:
            print("[%d/%d][%d/%d]\tLoss_D: %.4f\tLoss_G: %.4f" % (epoch, num_epochs, i, len(dataloader), errD.item(), errG.item()))
        G_losses.append(errG.item())
        D_losses.append(errD.item())
        iters += 1

    with torch.no_grad():
        radius = netG(fixed_noise).norm(dim=1)
    print(f"after {iters} iterations: radius {radius.mean():.4f} +- {radius.std():.4f}")
