"""Trains a small GPT on characters. Nothing here knows of Flor:

    flor record --name gpt -- python3 examples/python/gpt.py --text some.txt

One flat loop over steps, as in nanoGPT (https://github.com/karpathy/nanoGPT); without --text it reads a file of Python's."""
import argparse
import math

import torch
import torch.nn as nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--text", default=argparse.__file__)
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--eval-interval", type=int, default=20)
parser.add_argument("--width", type=int, default=32)
args = parser.parse_args()

batch_size, block_size, n_head, n_layer = 8, 32, 4, 2
learning_rate, min_lr, warmup = 1e-3, 1e-4, 20
torch.manual_seed(1337)

with open(args.text, encoding="utf-8") as f:
    text = f.read()
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text], dtype=torch.long)
split = int(0.9 * len(data))
splits = {"train": data[:split], "val": data[split:]}


def get_batch(name):
    source = splits[name]
    ix = torch.randint(len(source) - block_size - 1, (batch_size,))
    x = torch.stack([source[i:i + block_size] for i in ix])
    y = torch.stack([source[i + 1:i + block_size + 1] for i in ix])
    return x, y


class Block(nn.Module):
    def __init__(self, n_embd):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.qkv = nn.Linear(n_embd, 3 * n_embd)
        self.proj = nn.Linear(n_embd, n_embd)
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd), nn.Dropout(0.1))
        self.register_buffer("mask", torch.tril(torch.ones(block_size, block_size)).bool())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (part.view(B, T, n_head, C // n_head).transpose(1, 2) for part in self.qkv(self.ln1(x)).split(C, dim=2))
        att = (q @ k.transpose(-2, -1)) / math.sqrt(C // n_head)
        att = F.softmax(att.masked_fill(~self.mask[:T, :T], float("-inf")), dim=-1)
        x = x + self.proj((att @ v).transpose(1, 2).reshape(B, T, C))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, n_embd):
        super().__init__()
        self.token = nn.Embedding(len(chars), n_embd)
        self.position = nn.Embedding(block_size, n_embd)
        self.blocks = nn.Sequential(*[Block(n_embd) for _ in range(n_layer)])
        self.head = nn.Linear(n_embd, len(chars))

    def forward(self, idx, targets):
        x = self.token(idx) + self.position(torch.arange(idx.shape[1]))
        logits = self.head(self.blocks(x))
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def get_lr(it):
    if it < warmup:
        return learning_rate * (it + 1) / warmup
    ratio = (it - warmup) / max(1, args.steps - warmup)
    return min_lr + 0.5 * (1.0 + math.cos(math.pi * ratio)) * (learning_rate - min_lr)


@torch.no_grad()
def estimate_loss():
    model.eval()
    out = {}
    for name in ("train", "val"):
        losses = torch.zeros(4)
        for k in range(4):
            losses[k] = model(*get_batch(name))[1].item()
        out[name] = losses.mean().item()
    model.train()
    return out


model = GPT(args.width)
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
best_val_loss = 1e9
for step in range(args.steps):
    lr = get_lr(step)
    for group in optimizer.param_groups:
        group["lr"] = lr
    if step % args.eval_interval == 0 or step == args.steps - 1:
        losses = estimate_loss()
        best_val_loss = min(best_val_loss, losses["val"])
        print(f"step {step}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}, best {best_val_loss:.4f}")
    xb, yb = get_batch("train")
    logits, loss = model(xb, yb)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
