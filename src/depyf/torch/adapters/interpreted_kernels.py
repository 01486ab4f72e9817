"""Events of torch's profiler for kernels that Triton's interpreter runs.

torch reports a kernel to its profiler when it launches it on a device. An interpreted kernel returns before that.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import torch

from depyf.torch.adapters.unseen import left_alone


def mark_interpreted() -> Callable[[], None]:
    """Make each interpreted Triton kernel of Inductor's an event with its name; return a function that ends this.

    Without Triton it does nothing.
    """
    if importlib.util.find_spec("triton") is None:
        return lambda: None
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    before: Callable[..., Any] | None = vars(CachingAutotuner).get("run")
    if before is None:
        return lambda: None

    @left_alone
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as torch's own
        if not getattr(self, "triton_interpret", False):
            return before(self, *args, **kwargs)
        name = str(self.inductor_meta.get("kernel_name") or getattr(self.fn, "__name__", "triton_kernel"))
        with torch._C._profiler._RecordFunctionFast(name):
            return before(self, *args, **kwargs)

    CachingAutotuner.run = run

    def end() -> None:
        if vars(CachingAutotuner).get("run") is run:
            CachingAutotuner.run = before

    return end
