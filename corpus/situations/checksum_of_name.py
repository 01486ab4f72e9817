# pytorch/pytorch#161765: a function of a C extension is called in forward.
import zlib

import torch


class Tagged(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x)
        tag = zlib.crc32(self.name.encode()) % 7  # here: c
        return y * tag


model = torch.compile(Tagged("encoder"), backend="eager")
for _ in range(3):
    model(torch.randn(2, 4))
