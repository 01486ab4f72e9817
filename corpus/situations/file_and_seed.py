# pytorch/pytorch#101154 and pytorch/pytorch#145446: random numbers of Python are seeded, and a file is written.
import os
import random

import torch


@torch.compile(backend="eager")
def noisy(x):
    x = x + 1
    random.seed(3)  # here: seed
    x = x * 2
    with open(os.devnull, "w") as file:  # here: file
        file.write("x")
    return x.sin()


for _ in range(3):
    noisy(torch.ones(3))
