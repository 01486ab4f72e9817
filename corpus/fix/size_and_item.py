# gone: tensor-size break-item
import torch


def f(x):
    scale = x.abs().sum().item()
    return x * scale


def make():
    return f


def inputs(generator):
    return (torch.randn(3 + int(torch.randint(5, (), generator=generator)), generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for n in (3, 5, 7):
        batch = torch.ones(n)
        step(batch)
    print("done")
