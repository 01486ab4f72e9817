# huggingface/transformers#37421: rotary frequencies are rescaled when positions go beyond those seen so far.
import torch


class DynamicRotary(torch.nn.Module):
    def __init__(self, width=8, longest=8):
        super().__init__()
        self.width = width
        self.longest = longest
        self.register_buffer("frequencies", self.rescaled(1.0), persistent=False)

    def rescaled(self, factor):
        return 1.0 / (10000.0 * factor) ** (torch.arange(0, self.width, 2) / self.width)

    def forward(self, positions):
        length = positions.max() + 1
        if length > self.longest:  # here: longest
            self.frequencies = self.rescaled(2.0)
        angles = positions[:, None] * self.frequencies
        return angles.cos(), angles.sin()


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = DynamicRotary()
        self.project = torch.nn.Linear(4, 4)

    def forward(self, x, positions):
        cos, sin = self.rotary(positions)
        return self.project(x * cos + x * sin)


model = torch.compile(Block(), backend="eager", dynamic=True)
with torch.no_grad():
    for start in (0, 2, 4, 6, 8):
        model(torch.randn(6, 4), torch.arange(start, start + 6))
