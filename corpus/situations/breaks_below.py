# PrimeIntellect-ai/prime-rl#996 and tenstorrent/tt-torch#852: two helpers of a loss each break the graph.
import torch


def clip(x):
    bound = x.abs().max().item()  # here: item
    return x.clamp(-bound, bound)


def report(x):
    print("loss", x.shape)  # here: print
    return x * 2


@torch.compile(backend="eager")
def loss(x):
    return report(clip(x + 1)).mean()


for _ in range(3):
    loss(torch.randn(4))
