"""What Inductor writes for GPUs that a machine does not have: their kernels are interpreted, their graphs never run.

python claimed.py DIRECTORY PROGRAM...
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
import torch._dynamo.device_interface
import torch._inductor.config
from torch._dynamo.device_interface import CudaInterface
from torch._inductor.fx_passes import joint_graph, post_grad
from torch._subclasses.fake_tensor import FakeTensorMode

import depyf
from depyf.torch.kernels.interpreter import interpreting

A100 = SimpleNamespace(
    type="cuda",
    index=0,
    name="claimed",
    major=8,
    minor=0,
    cc=80,
    multi_processor_count=108,
    regs_per_multiprocessor=65536,
    max_threads_per_multi_processor=2048,
    max_threads_per_block=1024,
    warp_size=32,
    total_memory=80 << 30,
    L2_cache_size=40 << 20,
    gcnArchName="",
    multi_gpu=False,
    shared_memory_per_block_optin=166912,
    shared_memory_per_block=49152,
)


def one(x, y):
    z = x * y
    return torch.softmax(z, -1) + x


def two(x, y):
    moved = y.to("cuda:1").sin()
    return torch.softmax(x, -1) + moved.to("cuda:0")


def host(x, y):
    z = x.sin().cpu()
    return z.cos().to("cuda:0") + y


PROGRAMS: dict[str, Callable[..., Any]] = {function.__name__: function for function in (one, two, host)}
SETTINGS: dict[str, dict[str, Any]] = {"host": {"graph_partition": False}}


@contextmanager
def claiming() -> Iterator[None]:
    """Have Inductor write what it writes for two A100, and the modules that it writes load."""
    with ExitStack() as undo:
        undo.enter_context(interpreting())
        answers = {
            "is_available": lambda *_: True,
            "is_bf16_supported": lambda *_, **__: True,
            "get_compute_capability": lambda *_: 80,
            "get_device_properties": lambda *_: A100,
            "current_device": lambda *_: 0,
        }
        for owner in (CudaInterface, CudaInterface.Worker):
            for name, answer in answers.items():
                if hasattr(owner, name):
                    undo.enter_context(mock.patch.object(owner, name, staticmethod(answer)))
        for name, answer in {
            "get_device_properties": lambda *_: A100,
            "get_device_capability": lambda *_: (8, 0),
            "current_device": lambda *_: 0,
            "device_count": lambda *_: 2,
            "_lazy_init": lambda *_: None,
        }.items():
            undo.enter_context(mock.patch.object(torch.cuda, name, answer))
        undo.enter_context(mock.patch.object(torch._C, "_cuda_getCurrentRawStream", lambda _: 0, create=True))
        undo.enter_context(mock.patch.object(torch.version, "cuda", "12.8"))
        for passes in (joint_graph, post_grad):
            # They trace examples of patterns with real tensors on the device.
            undo.enter_context(mock.patch.object(passes, "lazy_init", lambda *_: None))
        yield


def main(directory: str, *names: str) -> None:
    for name in names:
        torch._dynamo.reset()
        settings = {"compile_threads": 1, **SETTINGS.get(name, {})}
        with claiming(), torch._inductor.config.patch(settings), FakeTensorMode(allow_non_fake_inputs=True):
            x, y = (torch.randn(16, 16, device="cuda:0") for _ in range(2))
            with depyf.prepare_debug(f"{directory}/{name}"):
                try:
                    torch.compile(PROGRAMS[name], mode="reduce-overhead")(x, y)
                except RuntimeError as error:
                    # The compile is over, and its module asks for the device.
                    print(name, str(error).partition("\n")[0], flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *(sys.argv[2:] or PROGRAMS))
