"""The least that a compile takes: the smallest graph, in a process of its own with empty caches.

What the first compile needs once does not shrink with a graph: imports inside of the compiler, a precompiled header,
the questions to a C++ compiler. A second graph is compiled after it, which needs none of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

Stages: TypeAlias = Mapping[str, float]
"""Seconds of each stage."""
BACKENDS = ("eager", "aot_eager", "inductor")
"""The backends whose least is measured. Another one may be an object of the program's."""
FIRST, SECOND = "0/0", "0/1"
"""The compiles of the smallest program: both are of one function of torch's."""
_PROGRAM = """\
import torch

torch.set_num_threads(1)
for width in (8, 4):
    model = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ReLU())
    torch.compile(model, backend={backend!r}, dynamic=False)(torch.randn(2, width)){backward}
"""
_BACKWARD = ".sum().backward()"


@dataclass(frozen=True)
class Floor:
    """The seconds of each stage for the smallest graph: as the first compile of a process, and as a later one."""

    first: Stages = field(default_factory=dict)
    later: Stages = field(default_factory=dict)


def write_smallest(folder: Path, backend: str, *, has_gradients: bool) -> Path:
    """Write the program that compiles the smallest graphs, and return its file.

    Args:
        folder: the folder of the program; it is created if needed.
        backend: the backend of `torch.compile`.
        has_gradients: whether the program also compiles a backward.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "smallest.py"
    text = _PROGRAM.format(backend=backend, backward=_BACKWARD if has_gradients else "")
    file.write_text(text if has_gradients else f"import torch\ntorch.set_grad_enabled(False)\n{text}", encoding="utf-8")
    return file
