# gone: argument-function break-print
import torch


def f(x, then):
    y = then(x) + 1
    print("called")
    return y


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator), torch.tanh)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(11):

        def then(v):
            return v.tanh() - 1

        step(torch.ones(4) * seed, then)
    print("done")
