# jax-like code, pytorch/pytorch#159590: functions that a loop defines are compiled by one helper, and each captures a
# number.
import torch


def compiled_step(scale, shift=0.0):
    @torch.compile(backend="eager")
    def step(x):
        return torch.tanh(x * scale) + shift  # here: step

    return step


def schedule(steps):
    for number in range(steps):
        yield number, compiled_step(1.0 + number, shift=0.1 * number)


x = torch.randn(4, 4)
for number, step in schedule(5):
    for _ in range(2):
        x = step(x)
