# gone: break-data-dependent-branch
import torch


def residual(x, a):
    return x * x - a


def newton(a, tol=1e-5, max_iter=20):
    x = torch.ones_like(a)
    for i in range(max_iter):
        r = residual(x, a)
        if r.abs().max() < tol:
            break
        x = x - r / (2 * x)
    return x


def make():
    return newton


def inputs(generator):
    return (torch.rand(5, generator=generator) + 0.5,)


if __name__ == "__main__":
    solve = torch.compile(newton, backend="eager")
    g = torch.Generator().manual_seed(0)
    for _ in range(4):
        x = solve(*inputs(g))
    print("root", x.shape)
