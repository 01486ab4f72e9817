# pytorch/pytorch#141589: two functions that share no value are compiled again in the same iterations.
import torch


class Config:
    gain = "mean"


class Scale(torch.nn.Module):
    factor = "low"

    def forward(self, x):
        return x * len(self.factor)  # here: factor


@torch.compile(backend="eager")
def adjust(x):
    return x * len(Config.gain)  # here: gain


scale = torch.compile(Scale(), backend="eager")
for factor, gain in (("low", "mean"), ("middle", "median"), ("high", "maximum")):
    Scale.factor = factor
    Config.gain = gain
    scale(torch.ones(3))
    adjust(torch.ones(3))
