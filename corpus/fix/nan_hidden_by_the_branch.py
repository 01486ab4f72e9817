# gone: break-data-dependent-branch
# `torch.where` would run both arms, and the gradient of the square root at 0 is infinite. `torch.cond` runs one.
import torch


def f(x):
    if x.min() > 0:
        y = x.sqrt()
    else:
        y = x.exp()
    return y.sum()


def make():
    return f


def inputs(generator):
    return (torch.randn(3, generator=generator) + 1,)


if __name__ == "__main__":
    step = torch.compile(f, backend="eager")
    x = torch.zeros(3, requires_grad=True)
    for _ in range(3):
        step(x).backward()
    print(x.grad)
