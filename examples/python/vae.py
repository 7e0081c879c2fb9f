"""Trains a variational autoencoder on small drawn images. Nothing here knows of Flor:

    flor record --name vae -- python3 examples/python/vae.py"""
import argparse
import logging

import numpy as np
import torch
from torch import nn, optim
from torch.nn import functional as F

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
logger = logging.getLogger("vae")


class VAE(nn.Module):
    def __init__(self, size, latent):
        super().__init__()
        self.fc1 = nn.Linear(size, 64)
        self.fc21 = nn.Linear(64, latent)
        self.fc22 = nn.Linear(64, latent)
        self.fc3 = nn.Linear(latent, 64)
        self.fc4 = nn.Linear(64, size)

    def forward(self, x):
        h = F.relu(self.fc1(x))
        mu, logvar = self.fc21(h), self.fc22(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z)))), mu, logvar


class Bars(torch.utils.data.Dataset):
    """Images of 8 x 8 pixels with one bright row or column, drawn with numpy."""

    def __init__(self, count, seed):
        rng = np.random.RandomState(seed)
        self.images = np.zeros((count, 8, 8), dtype=np.float32)
        for image in self.images:
            place = rng.randint(8)
            (image if rng.rand() < 0.5 else image.T)[place] = 1
        self.images = np.clip(self.images + 0.1 * rng.rand(count, 8, 8).astype(np.float32), 0, 1)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        if np.random.rand() < 0.5:
            image = image[::-1].copy()
        return torch.from_numpy(image.reshape(-1))


def loss_function(recon_x, x, mu, logvar, beta):
    bce = F.binary_cross_entropy(recon_x, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + beta * kld


def run(args):
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)
    loader = torch.utils.data.DataLoader(Bars(1024, 0), batch_size=args.batch_size, shuffle=True)
    test_loader = torch.utils.data.DataLoader(Bars(128, 1), batch_size=64)
    model = VAE(64, args.latent)
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    beta = 0.1
    for epoch in range(args.epochs):
        model.train()
        train_loss = 0
        for x in loader:
            optimizer.zero_grad()
            recon, mu, logvar = model(x)
            loss = loss_function(recon, x, mu, logvar, beta)
            loss.backward()
            train_loss += loss.item()
            optimizer.step()
        beta = min(1.0, beta * 1.5)
        logger.info("epoch %d: average loss %.4f, beta %.3f", epoch, train_loss / len(loader.dataset), beta)
        model.eval()
        test_loss = 0
        with torch.no_grad():
            for x in test_loader:
                recon, mu, logvar = model(x)
                test_loss += loss_function(recon, x, mu, logvar, 1.0).item()
        logger.info("epoch %d: test loss %.4f", epoch, test_loss / len(test_loader.dataset))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--latent", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    run(parser.parse_args())
