# cloneofsimo/zeroshampoo#1 and pytorch/pytorch#134954: numbers of a configuration, and a mode that changes once.
import torch


class Config:
    def __init__(self, epsilon, power):
        self.epsilon, self.power = epsilon, power


@torch.compile(backend="eager")
def normalize(x, config, training):
    y = x / (x.norm() + config.epsilon)  # here: epsilon
    y = y ** config.power  # here: power
    return y * 2 if training else y  # here: mode


normalize(torch.rand(3), Config(0.1, "x" == "y"), True)
normalize(torch.rand(3), Config(0.2, "x" == "y"), True)
normalize(torch.rand(3), Config(0.3, "x" == "x"), True)
normalize(torch.rand(3), Config(0.4, "x" == "x"), False)
