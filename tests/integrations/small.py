"""A small model with a graph break, and its data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

NAMES = {
    f"depyf/{name}"
    for name in ("compiles", "recompiles", "graph_breaks", "failures", "eager_calls", "compile_seconds", "step_seconds")
}


class Net(torch.nn.Module):
    """Two layers with a graph break between them."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = torch.nn.Linear(4, 8)
        self.second = torch.nn.Linear(8, 1)

    def forward(self, x: torch.Tensor, labels: torch.Tensor | None = None) -> dict[str, torch.Tensor]:
        hidden = torch.relu(self.first(x))
        torch._dynamo.graph_break()
        out = self.second(hidden)
        return {"loss": ((out - labels) ** 2).mean(), "out": out} if labels is not None else {"out": out}


def rows(number: int = 32) -> list[dict[str, torch.Tensor]]:
    """Return a dataset: four numbers and their sum."""
    generator = torch.Generator().manual_seed(1)
    values = torch.randn(number, 4, generator=generator)
    return [{"x": row, "labels": row.sum().reshape(1)} for row in values]


def scalars_of_tensorboard(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Return the scalars in TensorBoard's own files below a folder: steps and values, by name."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    scalars: dict[str, list[tuple[int, float]]] = {}
    for directory in sorted({path.parent for path in folder.rglob("events.out.tfevents*")}):
        events = EventAccumulator(str(directory))
        events.Reload()
        for name in events.Tags()["scalars"]:
            scalars.setdefault(name, []).extend((scalar.step, scalar.value) for scalar in events.Scalars(name))
    return scalars


def weights(model: torch.nn.Module) -> list[Any]:
    """Return the values of a model's parameters."""
    return [parameter.detach().clone() for parameter in model.parameters()]
