# Gradients of each sample with torch.func in a compiled function.
import torch

weight = torch.randn(4)


def loss(w, x):
    return (w * x).sum().square()


@torch.compile(backend="eager")
def gradients(xs):
    return torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(weight, xs)


for _ in range(3):
    gradients(torch.randn(5, 4))
