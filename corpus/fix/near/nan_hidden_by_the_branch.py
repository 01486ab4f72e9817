# left: break-data-dependent-branch
import torch


def f(x):
    if x.min() > 0:
        y = x.sqrt()
    else:
        y = x.exp()
    return y.sum()


if __name__ == "__main__":
    step = torch.compile(f, backend="eager")
    x = torch.zeros(3, requires_grad=True)
    for _ in range(3):
        step(x).backward()
    print(x.grad)
