# huggingface/pytorch-image-models (stochastic depth), pytorch/pytorch#121369: Python's random number skips a block.
import random

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def forward(self, x):
        x = self.first(x).relu()
        if random.random() < 0.5:  # here: draw
            x = self.second(x)
        return x.sum()


torch.manual_seed(0)
random.seed(0)
net = torch.compile(Net(), backend="eager")
for _ in range(5):
    net(torch.randn(3, 4))
