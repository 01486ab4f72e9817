# pytorch/pytorch#163329: a configuration with two fields that change in the same calls.
import dataclasses

import torch


@dataclasses.dataclass
class Config:
    mode: str
    window: str


@torch.compile(backend="eager")
def smooth(x, config):
    x = x.cumsum(0) if config.mode == "sum" else x.cumprod(0) if config.mode == "product" else x  # here: mode
    return x * len(config.window)  # here: window


for mode, window in (("sum", "narrow"), ("product", "wide"), ("none", "full")):
    smooth(torch.rand(5), Config(mode, window))
