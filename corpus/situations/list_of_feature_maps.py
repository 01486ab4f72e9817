# pytorch/vision detectors: a pyramid has three maps, later four, and images are larger in the second half.
import torch

conv = torch.nn.Conv2d(2, 2, 3, padding=1)


@torch.compile(backend="eager")
def pyramid(maps):
    return sum(conv(level).mean() for level in maps)  # here: maps


for levels, size in ((3, 16), (3, 16), (4, 16), (4, 32), (3, 32)):
    pyramid([torch.randn(1, 2, size >> level, size >> level) for level in range(levels)])
