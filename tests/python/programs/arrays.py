"""A program of numpy alone, in functions, with an early end, an object and a carried average."""
import random

import flor
import numpy as np


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, value):
        self.total += value
        self.count += 1


def gradient(weights, x, y):
    return 2 * x.T @ (x @ weights - y) / len(y)


def train(rng, weights, momentum, meter, x, y, epoch):
    with flor.skip_block("train", weights, momentum, meter=meter, rng=rng) as block:
        if block.step_into():
            for step, rows in flor.loop("step", enumerate(np.array_split(rng.permutation(len(y)), 8))):
                noise = random.gauss(0, 0.01) + np.random.normal() * 0.01
                momentum *= 0.9
                momentum -= 0.01 * gradient(weights, x[rows], y[rows]) + noise
                weights += momentum
                meter.add(float(np.abs(momentum).sum()))
                flor.log("moved", np.abs(momentum).sum())


def main():
    random.seed(5)
    np.random.seed(6)
    rng = np.random.default_rng(7)
    x = rng.normal(size=(64, 4))
    y = x @ np.array([1.0, -2.0, 3.0, 0.5])
    weights, momentum, meter = np.zeros(4), np.zeros(4), Meter()
    best = {"loss": np.inf, "weights": None}
    with flor.checkpointing(weights, momentum, meter=meter, rng=rng, best=best):
        for epoch in flor.loop("epoch", range(12)):
            train(rng, weights, momentum, meter, x, y, epoch)
            loss = float(((x @ weights - y) ** 2).mean())
            if loss < best["loss"]:
                best.update(loss=loss, weights=weights.copy())
            flor.log("loss", loss)
            flor.log("best", best["loss"])
            flor.log("average", meter.total / meter.count)
            if epoch == 9:
                break
    flor.log("end", best["weights"])


main()
