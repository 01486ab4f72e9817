# gone: all
# Metrics are collected in a defaultdict of lists inside of the compiled step, and logged with a format.
import logging
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger("train")
metrics = defaultdict(list)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 3))


def compute_loss(x, target):
    logits = net(x)
    loss = F.cross_entropy(logits, target)
    with torch.no_grad():
        accuracy = (logits.argmax(1) == target).float().mean()
        entropy = -(logits.softmax(1) * logits.log_softmax(1)).sum(1).mean()
    metrics["loss"].append(loss.item())
    metrics["acc"].append(accuracy.item())
    logger.info("loss=%.4f acc=%.2f ent=%.3f", loss.item(), accuracy.item(), entropy.item())
    return loss


def make():
    return compute_loss


def inputs(generator):
    return torch.randn(9, 6, generator=generator), torch.randint(0, 3, (9,), generator=generator)


def main():
    step = torch.compile(compute_loss, backend="aot_eager")
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    g = torch.Generator().manual_seed(0)
    for _ in range(10):
        loss = step(*inputs(g))
        loss.backward()
        opt.step()
        opt.zero_grad()
    print({name: round(sum(values) / len(values), 3) for name, values in metrics.items()})


if __name__ == "__main__":
    main()
