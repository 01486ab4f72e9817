# ACEsuit/mace#354: options are a data class; one field is a float that changes, another a tuple of ints.
import dataclasses

import torch


@dataclasses.dataclass
class Options:
    scale: float = 1.0
    shape: tuple = (2, 6)
    reduce: str = "sum"


@torch.compile(backend="eager")
def apply(x, options):
    x = x.view(options.shape) * options.scale  # here: shape
    return x.sum() if options.reduce == "sum" else x.mean()  # here: reduce


for given in ((), (2.0,), (3.0, (3, 4)), (4.0, (4, 3), "mean"), (5.0, (2, 6), "mean")):
    apply(torch.randn(12), Options(*given))
