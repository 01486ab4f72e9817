# pytorch/pytorch#154867: a threshold decides a branch and is another float in each call.
import torch


@torch.compile(backend="eager")
def cut(x, threshold):
    if threshold > 0.5:  # here: threshold
        return x.clamp(max=threshold)
    return x * 2


for threshold in (0.1, 0.2, 0.3, 0.7, 0.8):
    cut(torch.rand(4), threshold)
