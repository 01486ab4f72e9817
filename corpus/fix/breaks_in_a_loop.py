# gone: break-explicit break-item
import torch


def f(x):
    for _ in range(2):
        torch._dynamo.graph_break()
        x = x + 1
        x = x + 2
        x = x * x.abs().max().item()
    return x.cos()


def make():
    return f


def inputs(generator):
    return (torch.randn(3, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
