# gone: break-logging
import logging

import torch

LOG = logging.getLogger("fix")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 3

    def forward(self, x):
        y = x * self.scale
        LOG.warning("mean %s at scale %d", y.mean(), self.scale)
        return y + 1


def make():
    return Net()


def inputs(generator):
    return (torch.randn(6, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        print(step(*inputs(torch.Generator().manual_seed(seed))).shape)
