# vllm-project/flash-attention#7: a function of its own is passed for each activation.
import torch


def double(x):
    return x * 2


def square(x):
    return x * x


def shift(x):
    return x + 1


@torch.compile(backend="eager")
def apply(x, function):
    return function(x).sum()  # here: function


for function in (double, square, shift, double):
    apply(torch.ones(3), function)
