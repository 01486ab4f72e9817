# gone: break-data-dependent-branch
import torch


def peak(x, mask):
    if not mask.any():
        return x.sum() * 0
    chosen = x[mask]
    return chosen.max() - chosen.mean()


def make():
    return peak


def inputs(generator):
    x = torch.randn(6, generator=generator)
    return x, x > 0.8


if __name__ == "__main__":
    fast = torch.compile(peak, backend="eager")
    g = torch.Generator().manual_seed(0)
    for _ in range(6):
        x = torch.randn(6, generator=g)
        x[0] = 1.0
        y = fast(x, x > 0.8)
    print(round(y.item(), 3))
