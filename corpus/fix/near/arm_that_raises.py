# left: break-data-dependent-branch
import torch


def f(x, n):
    if n.sum() > 0:
        y = x.view(2, -1)
    else:
        y = x.view(3, -1)
    return y.sum(0)


if __name__ == "__main__":
    step = torch.compile(f, backend="eager")
    for size, sign in ((4, 1), (8, 1), (9, -1)):
        print(step(torch.ones(size), torch.tensor(sign)).shape)
