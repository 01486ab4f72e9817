"""A program whose kernels the tests look at; `triton` has Inductor write Triton's, which are interpreted.

python written.py DIRECTORY cpp|triton [pdb]

With `pdb` the program runs once more in `depyf.debug()`, under pdb.
"""

from __future__ import annotations

import contextlib
import sys

import torch
import torch._inductor.config

import depyf


def softened(x, y):
    scaled = x * y
    peaked = torch.softmax(scaled, -1)
    return peaked + torch.nn.functional.gelu(x)


def main(directory: str, language: str, debugger: str = "") -> None:
    torch.manual_seed(0)
    x, y = torch.randn(16, 40, requires_grad=True), torch.randn(40)
    with contextlib.ExitStack() as stack:
        if language == "triton":
            from depyf.torch.kernels.interpreter import interpreting

            stack.enter_context(torch._inductor.config.patch(cpu_backend="triton"))
            stack.enter_context(interpreting())
        compiled = torch.compile(softened)
        with depyf.prepare_debug(directory):
            result = compiled(x, y)
            result.square().sum().backward()
        if debugger:
            x.grad = None
            with depyf.debug():
                import pdb

                pdb.set_trace()
                result = compiled(x, y)
                result.square().sum().backward()
    gradient, x.grad = x.grad, None
    softened(x, y).square().sum().backward()
    torch.testing.assert_close(result, softened(x, y), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(gradient, x.grad, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    main(*sys.argv[1:])
