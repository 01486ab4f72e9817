"""Programs whose compiled result differs from plain Python, and the same programs without the fault.

The fault lies in Dynamo's reading of the program, or it is seeded: in a backend that loses changes of arguments, in a
node of the graph, or in the text of a kernel. The comment `# first` marks the first line whose value differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MARK = "# first"
HEAD = """import numpy as np
import torch
import torch.nn.functional as F

FAULT = {fault}


class Meta(type):
    def __instancecheck__(cls, value):
        return FAULT


class Special(metaclass=Meta):
    pass


class Odd:
    def __init__(self):
        self.gain = 2.0


def compiled():
    return FAULT and torch.compiler.is_compiling()


def f(x, w, n):
"""


@dataclass(frozen=True)
class Row:
    """A program: the kind of its fault, its lines, separated by `;`, and the fault.

    fault: a word that says where, and what happens there: for a graph, the node and the change; for a kernel, the text
    and its replacement.
    """

    kind: str
    body: str
    where: str = ""
    fault: str = ""


DYNAMO = [
    Row("dynamo", "y = x * 2.0; z = y + 1.0 if isinstance(Odd(), (int, Special)) else y - 1.0  # first; return z * w"),
    Row("dynamo", "y = x + w; if isinstance(Odd(), (int, Special)):  # first;     y = y * 3.0; return y.sum(-1)"),
    Row("dynamo", "g = 4.0 if isinstance(Odd(), (int, Special)) else 0.5  # first; return torch.relu(x) * g"),
    Row("dynamo", "y = x * 2.0; y = y * (0.5 if compiled() else 1.0)  # first; return y + w"),
    Row("dynamo", "y = torch.relu(x); if compiled():  # first;     y = y + 1.0; return y * w"),
    Row("dynamo", "y = x - w; z = y.sum(-1) if compiled() else y.mean(-1)  # first; return z * 2.0"),
    Row("dynamo", "k = 1 if compiled() else 2  # first; return torch.roll(x, k, -1) * w"),
    Row("dynamo", "y = x * w; s = [1.0, 3.0][compiled()]  # first; return y * s"),
    Row("dynamo", "y = x.clone(); for _ in range(3 if compiled() else 2):  # first;     y = y * 1.5; return y"),
    Row("dynamo", "y = x * 2.0; y = torch.exp(y) if compiled() else torch.sin(y)  # first; return y + w"),
    Row("dynamo", "y = x; if compiled():  # first;     x.add_(1.0); return y * w"),
    Row("dynamo", "y = x * 2.0; d = torch.float64 if compiled() else torch.float32  # first; return y.to(d)"),
    Row("dynamo", "o = Odd(); o.gain = 3.0 if compiled() else 5.0  # first; return x * o.gain + w"),
    Row("dynamo", "y = x.reshape(-1); m = y[:3] if compiled() else y[1:4]  # first; return m * 2.0"),
]

LOST = [
    Row("lost", "x.add_(1.0)  # first; return x * w", "", "clones"),
    Row("lost", "y = x * 2.0; x.mul_(w)  # first; return y", "", "clones"),
    Row("lost", "y = x + w; x[0] = 1.0  # first; return y", "", "clones"),
    Row("lost", "y = x.sum(-1); x[:, 1:].zero_()  # first; return y", "", "clones"),
    Row("lost", "y = x.amax(0); w.copy_(y)  # first; return x * 2.0", "", "clones"),
    Row("lost", "y = torch.relu(x); x.relu_()  # first; return y * w", "", "clones"),
    Row("lost", "y = x * w; x.clamp_(-0.5, 0.5)  # first; return y", "", "clones"),
    Row("lost", "y = x - w; x.masked_fill_(x > 0, 7.0)  # first; return y", "", "clones"),
    Row("lost", "y = x * 3.0; w.sub_(0.1)  # first; return y + 1.0", "", "clones"),
    Row("lost", "y = x.cumsum(0); x.copy_(y)  # first; return y * 2.0", "", "clones"),
    Row("lost", "y = x * 0.5; n[0].add_(2.0)  # first; return y", "", "clones"),
    Row("lost", "y = F.batch_norm(x, n[0], n[1].abs(), training=True)  # first; return y * w", "", "clones"),
    Row("lost", "y = x @ x.T; x.index_add_(0, torch.tensor([0, 1]), x[:2] * 2.0)  # first; return y", "", "clones"),
    Row("lost", "y = x.sin(); x.exp_()  # first; return y - w", "", "clones"),
]

GRAPH = [
    Row("graph", "y = x + 1.0; z = y * w  # first; return z - 1.0", "mul", "scaled"),
    Row("graph", "y = x * 2.0; z = torch.relu(y)  # first; return z + w", "relu", "negated"),
    Row("graph", "y = x - w; z = torch.softmax(y, -1)  # first; return z * 4.0", "softmax", "scaled"),
    Row("graph", "y = F.layer_norm(x, (6,))  # first; return y * w", "layer_norm", "shifted"),
    Row("graph", "y = x * 2.0; z = y.sum(-1)  # first; return z + 1.0", "sum", "zeroed"),
    Row("graph", "y = x + w; z = y.mean(0)  # first; return z * 2.0", "mean", "flipped"),
    Row("graph", "y = x * 0.5; z = torch.where(y > 0, y, w)  # first; return z", "where", "one_wrong"),
    Row("graph", "y = x @ x.T  # first; return y.sum(-1)", "matmul", "scaled"),
    Row("graph", "y = torch.cat([x, x * 2.0])  # first; return y * w", "cat", "flipped"),
    Row("graph", "y = x * w; z = y[:, 1:]  # first; return z * 2.0", "getitem", "shifted"),
    Row("graph", "y = x.abs(); z = y.cumsum(-1)  # first; return z * 2.0", "cumsum", "one_wrong"),
    Row("graph", "y = x * 2.0; z = torch.exp(y)  # first; return z * w", "exp", "halved"),
    Row("graph", "y = x + 1.0; z = F.gelu(y)  # first; return z - w", "gelu", "scaled"),
    Row("graph", "y = x * x; z = torch.sqrt(y + 1.0)  # first; return z", "sqrt", "half_precision"),
    Row("graph", "y = x * w; z = y.clamp(-0.5, 0.5)  # first; return z + x", "clamp", "shifted"),
    Row("graph", "y = x.std(-1)  # first; return x / y[:, None]", "std", "scaled"),
]

KERNEL = [
    Row("kernel", "y = x + w; z = y * 3.5  # first; return z", "3.5", "3.25"),
    Row("kernel", "y = torch.relu(x); z = y + 0.75  # first; return z * w", "0.75", "0.8"),
    Row("kernel", "y = x * w; z = torch.exp(y)  # first; return z + 1.0", "libdevice.exp(", "libdevice.exp2("),
    Row("kernel", "y = x + w; z = torch.sin(y)  # first; return z * 2.0", "tl_math.sin(", "tl_math.cos("),
    Row("kernel", "y = x * w; z = torch.relu(y)  # first; return z + w", "maximum(", "minimum("),
    Row("kernel", "y = x + w; z = torch.erf(y)  # first; return z * 2.0", "libdevice.erf(", "libdevice.tanh("),
    Row("kernel", "y = x * x; z = torch.sqrt(y)  # first; return z + w", "sqrt_rn(", "rsqrt("),
    Row("kernel", "y = x * w; z = y.amax(-1)  # first; return z * 2.0", "maximum(", "minimum("),
    Row("kernel", "y = x + w; z = y.abs()  # first; return z * 2.0", "tl_math.abs(", "-tl_math.abs("),
    Row("kernel", "y = x + w; z = torch.where(y > 1.25, y, w)  # first; return z", "1.25", "0.25"),
    Row("kernel", "y = x * w; z = y.clamp(-0.375, 0.625)  # first; return z", "0.625", "0.5"),
    Row("kernel", "y = x + w; z = torch.floor(y)  # first; return z * 2.0", "libdevice.floor(", "libdevice.ceil("),
    Row("kernel", "y = x + w; z = torch.tanh(y)  # first; return z + w", "libdevice.tanh(", "libdevice.sin("),
    Row("kernel", "y = x * w; z = y - 5.5  # first; return z", "5.5", "5.25"),
    Row("kernel", "y = x + w; z = y * y + 1.125  # first; return z", "1.125", "1.25"),
    Row("kernel", "y = x + w; z = torch.log1p(y.abs())  # first; return z", "libdevice.log1p(", "libdevice.log("),
]


@dataclass(frozen=True)
class Program:
    """A program, with its fault or without."""

    name: str
    row: Row
    is_wrong: bool

    @property
    def text(self) -> str:
        """Return the program."""
        rows = [row.removeprefix(" ") for row in self.row.body.split(";")]
        return HEAD.format(fault=self.is_wrong) + "".join(f"    {row}\n" for row in rows)

    @property
    def line(self) -> int:
        """Return the first line with another value."""
        return next(number for number, row in enumerate(self.text.splitlines(), 1) if row.endswith(MARK))

    def function(self, folder: Path) -> Any:
        """Write the program into a folder, and return its function."""
        path = folder / f"{self.name}.py"
        path.write_text(self.text)
        names: dict[str, Any] = {"__name__": self.name}
        exec(compile(self.text, str(path), "exec"), names)
        return names["f"]

    def inputs(self) -> tuple[Any, ...]:
        """Return the arguments."""
        import torch

        generator = torch.Generator().manual_seed(sum(map(ord, self.name)))
        x, w, a, b = (torch.randn(*size, generator=generator) for size in ((4, 6), (6,), (6,), (6,)))
        return x, w, [a, b]

    def backend(self) -> Any:
        """Return the backend, with the fault that is seeded in it. That of a kernel is seeded in Inductor's text."""
        if self.row.kind == "kernel":
            return "inductor"
        if not self.is_wrong or self.row.kind == "dynamo":
            return "eager"
        return _clones if self.row.kind == "lost" else _faulty(self.row.where, CHANGES[self.row.fault])


def _clones(module: Any, _: list[Any]) -> Callable[..., Any]:
    """Run a graph on copies of its inputs: their changes are lost."""
    import torch

    def run(*inputs: Any) -> Any:
        return module.forward(*(value.clone() if isinstance(value, torch.Tensor) else value for value in inputs))

    return run


def _one_wrong(value: Any) -> Any:
    changed = value.clone()
    changed.view(-1)[1] += 0.5
    return changed


CHANGES: dict[str, Callable[[Any], Any]] = {
    "scaled": lambda value: value * 1.01,
    "halved": lambda value: value * 0.5,
    "shifted": lambda value: value + 0.1,
    "negated": lambda value: -value,
    "zeroed": lambda value: value * 0.0,
    "flipped": lambda value: value.flip(0),
    "one_wrong": _one_wrong,
    "half_precision": lambda value: value.half().to(value.dtype),
}


def _faulty(word: str, change: Callable[[Any], Any]) -> Any:
    """Return a backend that changes the results of the nodes whose function or method has a name."""
    import torch

    class Faulty(torch.fx.Interpreter):
        def run_node(self, n: Any) -> Any:
            result = super().run_node(n)
            name = getattr(n.target, "__name__", str(n.target))
            return change(result) if n.op.startswith("call") and name == word else result

    def wrong(module: Any, _: list[Any]) -> Callable[..., Any]:
        return Faulty(module).run

    return wrong


def programs() -> Iterator[Program]:
    """Yield the programs: each with its fault and without."""
    for number, row in enumerate((*DYNAMO, *LOST, *GRAPH, *KERNEL)):
        yield Program(f"{row.kind}_{number}_wrong", row, True)
        yield Program(f"{row.kind}_{number}_right", row, False)
