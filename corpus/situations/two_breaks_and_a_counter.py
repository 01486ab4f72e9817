# PrimeIntellect-ai/prime-rl#1778: numpy statistics, a logger, and a counter that a branch reads.
import logging

import torch

logger = logging.getLogger("train")


class Router(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.steps = torch.nn.Linear(4, 3), 0

    def forward(self, x):
        self.steps += 1
        scores = self.gate(x)
        if self.steps % 100 == 0:  # here: steps
            scores = scores + 0.01
        logger.info("scores of step")  # here: log
        share = scores.detach().sigmoid().mean().item()  # here: item
        return scores * share


router = torch.compile(Router(), backend="eager")
for _ in range(10):
    router(torch.randn(5, 4)).sum().backward()
