# PrimeIntellect-ai/prime-rl#1778: a loss takes the number of the epoch and a flag that changes once.
import torch


@torch.compile(backend="eager")
def loss(x, epoch, warm):
    weight = 0.5 if warm else 1.0  # here: flag
    return (x * epoch).square().mean() * weight  # here: epoch


for epoch in range(2, 8):
    loss(torch.randn(4), epoch, epoch < 5)
