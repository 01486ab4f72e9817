# facebookresearch/LayerSkip#21, huggingface/transformers#38012: layer drop follows a list of floats on the config,
# and prints.
import random

import torch


class Config:
    def __init__(self, layers):
        self.drop = [0.1 * number for number in range(layers)]
        self.verbose = False


class Stack(torch.nn.Module):
    def __init__(self, config, width=6):
        super().__init__()
        self.config = config
        self.layers = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in config.drop)

    def forward(self, x):
        for layer, drop in zip(self.layers, self.config.drop):
            if self.training and random.random() < drop:  # here: drop
                continue
            x = layer(x).relu()
        if self.config.verbose:
            print("norm", x.norm())  # here: print
        return x


random.seed(3)
config = Config(4)
model = Stack(config)
compiled = torch.compile(model, backend="eager")
for step in range(6):
    config.verbose = step % 3 == 2
    compiled(torch.randn(2, 6)).sum().backward()
