# google-research/timesfm#459: a cache is written at an index that a tensor holds.
import torch


class Cache:
    def __init__(self):
        self.keys, self.next = torch.zeros(2, 16, 4), torch.zeros(1, dtype=torch.long)


@torch.compile(backend="eager")
def write(cache, keys):
    start = cache.next[0].item()  # here: item
    cache.keys[:, start : start + keys.shape[1]] = keys
    cache.next += keys.shape[1]
    return cache.keys.sum()


cache = Cache()
for length in (6, 1, 1, 1, 1):
    write(cache, torch.randn(2, length, 4))
