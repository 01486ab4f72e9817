# gone: break-explicit
import torch


def f(x):
    y = x * 2
    if y.dim() == 1:
        torch._dynamo.graph_break()
    return y + 1


def make():
    return f


def inputs(generator):
    return (torch.randn(6, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        print(step(*inputs(torch.Generator().manual_seed(seed))).shape)
