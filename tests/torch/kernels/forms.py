"""Every form of kernel that Inductor writes for a GPU, interpreted; the tests look at what depyf says of them.

python forms.py DIRECTORY FORM...
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
import torch._inductor.config
import triton
import triton.language as tl
from torch._inductor.kernel.flex import flex_attention as flex_lowering
from torch._inductor.lowering import lowerings
from torch.nn.attention.flex_attention import flex_attention

import depyf
from depyf.torch.kernels.interpreter import interpreting


@triton.jit
def scaled_kernel(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * factor, mask=mask)


def own(x):
    out = torch.empty_like(x)
    scaled_kernel[(4,)](x, out, 512, 3.0, BLOCK=128)
    return out.sin() + x


def matmul(x):
    return (x @ x.T).relu()


def foreach(x):
    return torch._foreach_add(torch._foreach_mul([x, x[0] + 1], 2.0), 1.0)


def unbound(x):
    first, second = x.reshape(2, 256).unbind(0)
    return torch._foreach_add(torch._foreach_mul([first, second], 2.0), 1.0)


def scan(x):
    return x.cumsum(-1) + x.cumprod(-1)


def sort(x):
    return x.sort(-1)[0]


def persistent(x):
    return torch.softmax(x, -1)


def looped(x):
    return x.repeat(1, 80).sum(-1)


def flex(x):
    q = x.reshape(1, 2, 16, 16)
    # A short query is decoded by another template, which asks for the GPU's cores.
    options = {"FORCE_USE_FLEX_ATTENTION": True}
    return flex_attention(q, q * 2, q + 1, score_mod=relative, kernel_options=options)


def relative(score, batch, head, i, j):
    return score + (i - j)


FORMS: dict[str, Callable[..., Any]] = {
    function.__name__: function for function in (own, matmul, foreach, unbound, scan, sort, persistent, looped, flex)
}
TEMPLATES = {"max_autotune": True, "max_autotune_gemm_backends": "TRITON", "benchmark_epilogue_fusion": False}


@contextmanager
def flex_of_triton() -> Iterator[None]:
    """Have flex_attention lowered to Triton on the CPU too: Inductor has a C++ template there."""
    source = inspect.getsource(flex_lowering.flex_attention).replace('== "cpu"', '== "none"', 1)
    scope = {**vars(flex_lowering), "register_lowering": lambda *_, **__: lambda function: function}
    exec(source, scope)
    with mock.patch.dict(lowerings, {torch.ops.higher_order.flex_attention: scope["flex_attention"]}):
        yield


def main(directory: str, *names: str) -> None:
    for name in names:
        torch._dynamo.reset()
        torch.manual_seed(0)
        x = torch.randn(16, 32)
        settings = {"cpu_backend": "triton", **(TEMPLATES if name == "matmul" else {})}
        with torch._inductor.config.patch(settings), interpreting(), flex_of_triton():
            with depyf.prepare_debug(f"{directory}/{name}"):
                ours = torch.compile(FORMS[name])(x)
        theirs = (x * 3).sin() + x if name == "own" else FORMS[name](x)
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-3)
        print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *(sys.argv[2:] or FORMS))
