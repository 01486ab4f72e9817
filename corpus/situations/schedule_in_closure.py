# pytorch/pytorch#120934: a noise schedule is a closure over a number that the training loop changes.
import torch


def make_step():
    beta = 0.0

    def set_beta(value):
        nonlocal beta
        beta = value

    @torch.compile(backend="eager")
    def step(x):
        return x * (1 - beta) + beta * torch.ones_like(x)  # here: beta

    return step, set_beta


step, set_beta = make_step()
for number in range(12):
    set_beta(number / 12)
    step(torch.randn(3))
