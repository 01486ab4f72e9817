# pytorch/pytorch#137068: a decorator measures the time of the decorated function, and sizes grow.
import functools
import time

import torch


def timed(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        start = time.perf_counter()  # here: time
        result = function(*args, **kwargs)
        inner.seconds = time.perf_counter() - start
        return result

    return inner


@torch.compile(backend="eager")
@timed
def attend(query, key):
    return (query @ key.transpose(-1, -2)).softmax(-1)


for length in (4, 6, 8, 10):
    attend(torch.randn(2, length, 8), torch.randn(2, length, 8))
