# microsoft/dion#23: an optimizer orthogonalizes matrices of five shapes, and transposes the tall ones.
import torch


@torch.compile(backend="eager")
def orthogonalize(gradient, steps):
    x = gradient / (gradient.norm() + 1e-7)
    if gradient.size(0) > gradient.size(1):  # here: tall
        x = x.T
    for _ in range(steps):
        x = 1.5 * x - 0.5 * (x @ x.T) @ x
    return x.T if gradient.size(0) > gradient.size(1) else x


for _ in range(2):
    for shape in ((8, 16), (16, 8), (8, 32), (24, 8), (8, 8)):
        orthogonalize(torch.randn(shape), 3)
