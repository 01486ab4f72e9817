# gone: tensor-stride
import torch


def f(x, mask):
    return x.masked_fill(mask, 0.0) + 1


def make():
    return f


def inputs(generator):
    return (torch.randn(3, 4, generator=generator), torch.rand(3, 4, generator=generator) > 0.5)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(6):
        mask = torch.ones(3, 4) if seed % 2 else torch.ones(4, 3).t()
        step(torch.ones(3, 4), mask=mask > 2)
    print("done")
