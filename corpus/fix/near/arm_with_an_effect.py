# left: break-data-dependent-branch
import torch

seen = []


def f(x):
    if x.sum() > 0:
        y = x + len(seen)
        seen.append(1)
    else:
        y = x - 1
    return y


if __name__ == "__main__":
    step = torch.compile(f, backend="eager")
    for seed in range(4):
        step(torch.randn(4, generator=torch.Generator().manual_seed(seed)))
    print(len(seen))
