# gone: tensor-size break-print
import torch


def f(x):
    y = x.cumsum(0)
    print("summed")
    return y * 2


def make():
    return f


def inputs(generator):
    return (torch.randn(int(torch.randint(3, 9, (), generator=generator)), 4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(6):
        batch = torch.ones(3 + seed, 4)
        step(batch)
    print("done")
