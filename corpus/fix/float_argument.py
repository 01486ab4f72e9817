# gone: argument-float recompile-limit
import torch


def f(x, temperature):
    return torch.softmax(x / temperature, -1)


def make():
    return f


def inputs(generator):
    return torch.randn(4, generator=generator), 0.5 + float(torch.rand((), generator=generator))


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(5):
        step(torch.ones(4), 1.0 + seed / 10)
    print("done")
