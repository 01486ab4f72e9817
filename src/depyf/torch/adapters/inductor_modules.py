"""Inductor's modules on their way to their files: their texts, and the graphs that they are for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from depyf.torch.adapters.provenance import NAMES_OF_NODES


@dataclass(frozen=True, slots=True)
class Written:
    """A module that Inductor has written: its text, the graph that it lowers, and the nodes of each launch if told."""

    text: str
    graph: Any
    is_backward: bool
    computed: dict[str, tuple[str, ...]]


@contextmanager
def rewritten(change: Callable[[Written], str]) -> Iterator[None]:
    """Have Inductor load what `change` returns for each module that it writes in the context; its caches are off."""
    import torch._inductor.config as config
    from torch._inductor import debug
    from torch._inductor.codecache import PyCodeCache
    from torch._inductor.virtualized import V

    before = PyCodeCache.write

    def write(source_code: str, extra: str = "") -> Any:
        told = getattr(debug, "_inductor_triton_kernel_to_post_grad_node_info", {})
        computed = {handle: tuple(nodes) for handle, nodes in told.items()}
        graph = V.graph
        is_backward = bool(getattr(graph, "is_backward", False))
        return before(change(Written(source_code, graph.orig_gm, is_backward, computed)), extra)

    wanted = {"fx_graph_cache": False, "force_disable_caches": True}
    with ExitStack() as undo:
        undo.enter_context(config.patch({name: value for name, value in wanted.items() if hasattr(config, name)}))
        if hasattr(config.trace, "provenance_tracking_level"):
            undo.enter_context(config.patch({"trace.provenance_tracking_level": NAMES_OF_NODES}))
        undo.enter_context(mock.patch.object(PyCodeCache, "write", staticmethod(write)))
        yield


def is_inductor(backend: object) -> bool:
    """Return whether a backend is Inductor."""
    name = getattr(backend, "compiler_name", None) or getattr(backend, "__name__", "")
    return backend == "inductor" or name in ("inductor", "compile_fx")


def writes_triton() -> bool:
    """Return whether Inductor is to write Triton's kernels here, for some device."""
    import torch
    import torch._inductor.config as config

    return torch.cuda.is_available() or getattr(config, "cpu_backend", "") == "triton"
