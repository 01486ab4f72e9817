"""The least that a compile takes: the smallest graph, in a process of its own with empty caches.

What the first compile needs once does not shrink with a graph: imports inside of the compiler, a precompiled header,
the questions to a C++ compiler.
"""

from __future__ import annotations

from pathlib import Path

BACKENDS = ("eager", "aot_eager", "inductor")
"""The backends whose least is measured. Another one may be an object of the program's."""
_PROGRAM = """\
import torch

torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())
result = torch.compile(model, backend={backend!r})(torch.randn(2, 8))
"""
_BACKWARD = "result.sum().backward()\n"


def write_smallest(folder: Path, backend: str, *, has_gradients: bool) -> Path:
    """Write the program that compiles the smallest graph, and return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "smallest.py"
    text = _PROGRAM.format(backend=backend)
    file.write_text(
        text + _BACKWARD if has_gradients else text.replace("result =", "with torch.no_grad():\n    result =")
    )
    return file
