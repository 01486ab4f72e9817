# ACEsuit/mace#354: a configuration object has a cutoff that grows and the name of an activation.
import torch


class Config:
    def __init__(self):
        self.cutoff, self.activation = 2, "silu"


config = Config()


@torch.compile(backend="eager")
def energy(positions):
    distances = torch.cdist(positions, positions)
    near = distances.topk(config.cutoff, largest=False).values  # here: cutoff
    if config.activation == "silu":  # here: activation
        return torch.nn.functional.silu(near).sum()
    return near.tanh().sum()


for step in range(5):
    config.cutoff = 2 + step
    config.activation = "silu" if step < 3 else "tanh"
    energy(torch.randn(8, 3))
