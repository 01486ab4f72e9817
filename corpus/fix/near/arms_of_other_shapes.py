# left: break-data-dependent-branch
import torch


def f(x):
    if x.sum() > 0:
        y = x + 1
    else:
        y = x.sum()
    return y * 2


if __name__ == "__main__":
    step = torch.compile(f, backend="eager")
    for seed in range(6):
        print(step(torch.randn(4, generator=torch.Generator().manual_seed(seed))).shape)
