# gone: argument-function
import torch


def f(x, act):
    return act(x) + 1


def make():
    return f


def inputs(generator):
    return (torch.randn(4, generator=generator), torch.sigmoid)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(11):
        act = lambda v: v.relu() * 2
        step(torch.ones(4) * seed, act)
    print("done")
