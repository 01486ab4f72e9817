# huggingface/lerobot#3610: the cache of a prefix is deep-copied in each denoising step.
import copy

import torch


class Cache:
    def __init__(self):
        self.keys = [torch.ones(2, 4), torch.zeros(2, 4)]


@torch.compile(backend="eager")
def denoise(x, cache):
    x = x * 2
    copied = copy.deepcopy(cache)  # here: copy
    for keys in copied.keys:
        x = x + keys
    return x


cache = Cache()
for _ in range(3):
    denoise(torch.ones(2, 4), cache)
