"""A training step whose kernels are Triton's, interpreted: forward and backward, and again for another size.

python trained.py DIRECTORY
"""

from __future__ import annotations

import sys

import torch
import torch._inductor.config

import depyf
from depyf.torch.kernels.interpreter import interpreting

last = torch.sin


def step(x):
    return last(torch.softmax(x * 2, -1))


def main(directory: str) -> None:
    global last
    for name, function in (("step", torch.sin), ("other", torch.cos)):
        last = function
        torch._dynamo.reset()
        with torch._inductor.config.patch(cpu_backend="triton"), interpreting():
            with depyf.prepare_debug(f"{directory}/{name}"):
                compiled = torch.compile(step, dynamic=False)
                for size in (16, 24):
                    x = torch.randn(4, size, requires_grad=True)
                    compiled(x).sum().backward()


if __name__ == "__main__":
    main(sys.argv[1])
