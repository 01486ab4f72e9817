# huggingface/transformers#40328: a batch object has a mask in some calls only, and lengths differ.
import dataclasses

import torch


@dataclasses.dataclass
class Batch:
    x: torch.Tensor
    mask: torch.Tensor = None


@torch.compile(backend="eager")
def pool(batch):
    x = batch.x
    if batch.mask is not None:  # here: mask
        x = x * batch.mask
    return x.sum(0)


pool(Batch(torch.ones(3, 2)))
pool(Batch(torch.ones(5, 2)))
pool(Batch(torch.ones(6, 2), torch.ones(6, 1)))
pool(Batch(torch.ones(7, 2), torch.ones(7, 1)))
