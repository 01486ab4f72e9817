"""Inductor's modules before they are written: their texts, and the graphs that they implement."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from depyf.bytecode.records import dataclass
from depyf.torch.adapters.provenance import NAMES_OF_NODES

_NUMBERS = itertools.count()


@dataclass(frozen=True, slots=True)
class Written:
    """A module that Inductor wrote: its text, the graph that it lowers, and the nodes of each launch, if known."""

    text: str
    graph: Any
    is_backward: bool
    computed: dict[str, tuple[str, ...]]


@contextmanager
def rewritten(change: Callable[[Written], str]) -> Iterator[None]:
    """Make Inductor load the result of `change` for each module that it writes in the context.

    No graph comes from a cache. C++ kernels whose text is known are not compiled again. A module is loaded each time,
    since its text has a number.
    """
    import torch._functorch.config as autograd_config
    import torch._inductor.config as config
    from torch._inductor.codecache import PyCodeCache

    before = PyCodeCache.write

    def write(source_code: str, extra: str = "") -> Any:
        # While torch is still being imported, these modules cannot be.
        from torch._inductor import debug
        from torch._inductor.virtualized import V

        provenance = getattr(debug, "_inductor_triton_kernel_to_post_grad_node_info", {})
        computed = {handle: tuple(nodes) for handle, nodes in provenance.items()}
        graph = V.graph
        is_backward = bool(getattr(graph, "is_backward", False))
        text = change(Written(source_code, graph.orig_gm, is_backward, computed))
        return before(f"{text}\n# {os.getpid()}.{next(_NUMBERS)}\n", extra)

    with ExitStack() as undo:
        for settings, name in ((config, "fx_graph_cache"), (autograd_config, "enable_autograd_cache")):
            if hasattr(settings, name):
                undo.enter_context(settings.patch({name: False}))
        if hasattr(config.trace, "provenance_tracking_level"):
            undo.enter_context(config.patch({"trace.provenance_tracking_level": NAMES_OF_NODES}))
        undo.enter_context(mock.patch.object(PyCodeCache, "write", staticmethod(write)))
        yield


def is_inductor(backend: object) -> bool:
    """Return whether a backend is Inductor."""
    name = getattr(backend, "compiler_name", None) or getattr(backend, "__name__", "")
    return backend == "inductor" or name in ("inductor", "compile_fx")


def writes_triton() -> bool:
    """Return whether Inductor writes Triton kernels for some device here."""
    import torch
    import torch._inductor.config as config

    return torch.cuda.is_available() or getattr(config, "cpu_backend", "") == "triton"
