# huggingface/transformers#34615: two functions have one decorator, so they share a code object, and both are compiled.
import functools

import torch


def in_float(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*(arg.float() for arg in args), **kwargs)

    return wrapper


@torch.compile(backend="eager")
@in_float
def rotate(x, angle):
    return x * angle.cos()


@torch.compile(backend="eager")
@in_float
def scale(x):
    return x * 2


for _ in range(2):
    rotate(torch.randn(3), torch.ones(3))
    scale(torch.randn(4))
