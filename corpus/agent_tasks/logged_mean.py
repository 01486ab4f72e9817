import logging

import torch

logger = logging.getLogger("model")
mixer = torch.nn.Linear(7, 7)


class Block:
    def __init__(self, name):
        self.name = name

    def __call__(self, x):
        y = torch.sigmoid(mixer(x))
        logger.debug("%s: mean %.3f", self.name, y.mean().item())
        return y * x


torch.manual_seed(19)
mixer.reset_parameters()
blocks = [Block("first"), Block("second")]


@torch.compile
def run(x):
    for block in blocks:
        x = block(x)
    return x.sum()


total = 0.0
for step in range(6):
    total += float(run(torch.randn(2, 7)))
print("result", round(total, 4))
