# gone: tensor-size
import torch


def f(x):
    return torch.relu(x).sum(0)


def make():
    return f


def inputs(generator):
    return (torch.randn(3 + int(torch.randint(5, (), generator=generator)), 4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for n in (3, 5, 7, 9):
        batch = torch.randn(n, 4)
        step(batch)
    print("done")
