"""Programs with one planted difference of bits between compiled and eager, and the same programs without one.

A program is a planted line in a context of exact operations: products with powers of two, `relu`, maxima, products with
a permutation matrix. So the first bits that can differ are those of the planted line. On other inputs, such as small
integers, the planted line is exact too: then no arrangement may give other bits.

    def f(x, p):
        y = torch.relu(x * 2.0)
        y = y @ p
        z = y.sum(-1)          # planted: order; kernel "sum", forward
        return z * 4.0
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MARK = "# planted"
CONTRACT = {"cpp.enable_floating_point_contract_flag": "fast"}
FAST_MATH = {"cpp.enable_unsafe_math_opt_flag": True}
ONE_THREAD = {"threads": 1}
EAGER_RANDOM = {"fallback_random": True}

CONTEXTS = {
    # One fused kernel.
    "one": "y = torch.relu(x * 2.0)\n{plant}\nreturn z * 4.0",
    # A library's kernel before it, so that the planted line lies in a later kernel.
    "later": "y = torch.relu(x * 2.0)\ny = y @ p\n{plant}\nreturn z * 4.0",
    # An exact reduction before it, whose result is used.
    "maximum": "m = x.amax()\ny = torch.where(x > m, m, x * 0.5)\n{plant}\nreturn z * 2.0, m",
    # Operations after it that give other bits, too.
    "followed": "y = (x * 2.0) @ p\n{plant}\nu = torch.exp(z * 0.25)\nreturn u + z, y",
    # A backward: each operation of the forward rounds once.
    "backward": "y = x * 2.0\n{plant}\nreturn z * c",
    # The same with a library's kernel between.
    "backward_later": "y = torch.relu(x @ p)\n{plant}\nreturn z * c, y",
}


@dataclass(frozen=True)
class Row:
    """A planted line.

    plant: its text; `y` is the value before it, `z` the value after it; `w`, `v`, `i` are more inputs.
    kernel: a word in the name of the kernel that computes it. contexts: where it stands.
    inputs: further inputs with their shapes: a letter, `=`, sizes, and a dtype.
    exact: the values on which the line is exact: integers, zeros, a large number; "any" for any values, or with other
    settings; "" if there are none. Logarithms and exponentials are exact nowhere but at a few values.
    """

    kind: str
    plant: str
    kernel: str
    contexts: str
    x: str = "32x48"
    inputs: str = ""
    exact: str = "integers"
    settings: dict[str, Any] = field(default_factory=dict)
    exact_settings: dict[str, Any] | None = None


CPP = [
    Row("order", "z = y.sum(-1)", "sum", "one later followed maximum"),
    Row("order", "z = y.sum(0)", "sum", "later followed"),
    Row("order", "z = y.sum()", "sum", "one later", x="64x64"),
    Row("order", "z = y.mean(-1)", "mean", "one followed", x="32x64"),
    Row("order", "z = (y * 0.5 + 1.0).prod(-1)", "prod", "one later", exact="zeros"),
    Row("order", "z = y.sum((0, 2))", "sum", "one", x="8x16x48"),
    Row("order", "z = (y * w).sum(-1)", "sum", "later followed", inputs="w=48"),
    Row("order", "z = y.double().sum(-1)", "sum", "one"),
    Row("split", "z = y.sum()", "sum", "one", x="300x400"),
    Row("split", "z = y.sum(0)", "sum", "one", x="4096x8"),
    Row("split", "z = y.mean()", "mean", "one", x="256x256"),
    Row("contraction", "z = y * w + v", "add", "one later", inputs="w=48 v=48", settings=CONTRACT),
    Row("contraction", "z = y * w - v", "sub", "one later", inputs="w=48 v=48", settings=CONTRACT),
    Row("contraction", "z = v - y * w", "sub", "maximum", inputs="w=48 v=48", settings=CONTRACT),
    Row("contraction", "z = (y * w) + (y * v)", "add", "one later", inputs="w=48 v=48", settings=CONTRACT),
    Row("contraction", "z = torch.addcmul(v, y, w)", "addcmul", "one", inputs="w=48 v=48", settings=CONTRACT),
    Row("cast", "z = y.bfloat16() * w.bfloat16() + v.bfloat16()", "add", "one later", inputs="w=48 v=48"),
    Row("cast", "z = (y.half() * w.half() - v.half()).float()", "sub", "one later", inputs="w=48 v=48"),
    Row("cast", "z = y * w + v", "add", "one maximum", x="32x48:bf16", inputs="w=48:bf16 v=48:bf16"),
    Row("cast", "z = (y * w) * v", "mul", "one", x="32x48:f16", inputs="w=48:f16 v=48:f16"),
    Row("cast", "z = (y + w).sum(-1)", "sum", "one", x="32x48:bf16", inputs="w=48:bf16"),
    Row("cast", "z = torch.maximum(y * w, v) + w", "add", "one", x="32x48:f16", inputs="w=48:f16 v=48:f16"),
    Row("threads", "z = y.sum()", "sum", "one", x="400x500", settings=ONE_THREAD),
    Row("threads", "z = y.sum(-1).sum()", "sum", "one", x="512x256", settings=ONE_THREAD),
    Row("algorithm", "z = y @ w + v", "mm", "one", inputs="w=48x32 v=32"),
    Row("algorithm", "z = y[:1] @ w", "mm", "one later", inputs="w=48x32"),
    Row("algorithm", "z = torch.bmm(y[:, :1], w)", "bmm", "one", x="4x8x48", inputs="w=4x48x16"),
    Row("decomposition", "z = torch.softmax(y, -1)", "softmax", "one later followed", exact="zeros", x="16x32"),
    Row("decomposition", "z = torch.log_softmax(y, -1)", "softmax", "one later", exact="", x="16x48"),
    Row("decomposition", "z = F.layer_norm(y, (48,))", "layer_norm", "one later followed", exact="zeros"),
    Row("decomposition", "z = F.group_norm(y, 4)", "group_norm", "one", exact="zeros", x="4x8x20"),
    Row("decomposition", "z = F.rms_norm(y, (48,))", "rsqrt", "one later", exact="zeros"),
    Row("decomposition", "z = F.gelu(y)", "gelu", "one later", exact="zeros", x="16x45"),
    Row("decomposition", "z = F.mish(y - w)", "mish", "one", exact="zeros", inputs="w=48"),
    Row("decomposition", "z = F.silu(y - w)", "silu", "one", exact="zeros", inputs="w=48"),
    Row("decomposition", "z = torch.var(y, -1)", "var", "one later", exact="zeros"),
    Row("decomposition", "z = torch.logsumexp(y, -1)", "logsumexp", "one", exact="", x="16x48"),
    Row("decomposition", "z = F.cosine_similarity(y, w, -1)", "sum", "one", exact="zeros", inputs="w=48"),
    Row("decomposition", "z = torch.linalg.vector_norm(y, dim=-1)", "vector_norm", "one later", exact="zeros"),
    Row("decomposition", "z = torch.logaddexp(y, w)", "logaddexp", "one", exact="", x="16x45", inputs="w=45"),
    Row("decomposition", "z = F.batch_norm(y, None, None, training=True)", "batch_norm", "one", exact="zeros"),
    Row("decomposition", "z = F.softplus(y)", "softplus", "one", exact="large", x="16x45"),
    Row("decomposition", "z = torch.cumsum(y, -1)", "cumsum", "one later"),
    Row("random", "z = F.dropout(y, 0.5)", "dropout", "one later", exact="any", exact_settings=EAGER_RANDOM),
    Row("random", "z = y + torch.rand_like(y)", "rand", "one later", exact="any", exact_settings=EAGER_RANDOM),
    Row("random", "z = y * torch.randn(48)", "rand", "one", exact="any", exact_settings=EAGER_RANDOM),
    Row(
        "random", "z = torch.bernoulli(y.clamp(0.0, 1.0))", "bernoulli", "one", exact="any", exact_settings=EAGER_RANDOM
    ),
    Row("order", "z = y * w", "sum", "backward backward_later", inputs="w=48! c=32x48"),
    Row("order", "z = y + w", "sum", "backward", inputs="w=48! c=32x48"),
    Row("order", "z = y * w[:, None]", "sum", "backward backward_later", inputs="w=32! c=32x48"),
    Row("order", "z = y * w", "sum", "backward", x="64x64", inputs="w=1! c=64x64"),
    Row("order", "z = w.expand(32, 48) - y", "sum", "backward", inputs="w=48! c=32x48"),
    Row("split", "z = y * w", "sum", "backward", x="4096x8", inputs="w=8! c=4096x8"),
    Row("cast", "z = y * w * v", "mul", "backward", x="32x48:bf16!", inputs="w=48:bf16 v=48:bf16 c=32x48:bf16"),
    Row("algorithm", "z = w[i]", "index", "backward", inputs="w=8x48! i=32<8 c=32x48"),
    Row("algorithm", "z = F.embedding(i, w)", "embedding", "backward", inputs="w=8x48! i=32<8 c=32x48"),
]

TRITON = [
    Row("order", "z = y.sum(-1)", "sum", "one later followed maximum", x="8x32"),
    Row("order", "z = y.sum(0)", "sum", "one later", x="16x32"),
    Row("order", "z = y.mean(-1)", "mean", "one later", x="8x32"),
    Row("order", "z = (y * w).sum(-1)", "sum", "one followed", x="8x32", inputs="w=32"),
    Row("order", "z = y * w", "sum", "backward backward_later", x="16x32", inputs="w=32! c=16x32"),
    Row("order", "z = y + w", "sum", "backward", x="16x32", inputs="w=32! c=16x32"),
    Row("decomposition", "z = torch.softmax(y, -1)", "softmax", "one later followed", exact="zeros", x="8x32"),
    Row("decomposition", "z = F.layer_norm(y, (32,))", "layer_norm", "one later", exact="zeros", x="8x32"),
    Row("decomposition", "z = torch.var(y, -1)", "var", "one", exact="zeros", x="8x32"),
    Row("decomposition", "z = F.gelu(y)", "gelu", "one", exact="zeros", x="8x32"),
    Row("cast", "z = y.half() * w.half() - v.half()", "sub", "one later", x="8x32", inputs="w=32 v=32"),
    Row("cast", "z = (y.bfloat16() * w.bfloat16() + v.bfloat16()).float()", "add", "one", x="8x32", inputs="w=32 v=32"),
    Row("random", "z = F.dropout(y, 0.5)", "dropout", "one", x="8x32", exact="any", exact_settings=EAGER_RANDOM),
    Row("random", "z = y + torch.rand_like(y)", "rand", "later", x="8x32", exact="any", exact_settings=EAGER_RANDOM),
]

TRITON += [
    row
    for row in CPP
    if not row.settings and (row.kind in ("order", "cast", "decomposition", "random") or "backward" in row.contexts)
    if "4096" not in row.x
]
"""Interpreted kernels are run for all lines but those for which they are too slow, or which are not theirs."""


@dataclass(frozen=True)
class Program:
    """A program, its planted line, counted from 1, and how the first difference should be reported."""

    name: str
    row: Row
    context: str
    triton: bool

    @property
    def part(self) -> str:
        """Return the part of the graph with the first difference."""
        return "backward" if self.context.startswith("backward") else "forward"

    @property
    def text(self) -> str:
        """Return the program."""
        body = CONTEXTS[self.context].format(plant=f"{self.row.plant}  {MARK}").splitlines()
        names = ", ".join(self.specifications)
        head = ["import torch", "import torch.nn.functional as F", "", "", f"def f({names}):"]
        return "\n".join([*head, *(f"    {row}" for row in body), ""])

    @property
    def line(self) -> int:
        """Return the planted line."""
        return next(number for number, row in enumerate(self.text.splitlines(), 1) if row.endswith(MARK))

    @property
    def specifications(self) -> dict[str, str]:
        """Return the inputs: the name and the sizes of each."""
        inputs = {"x": self.row.x, **dict(entry.split("=") for entry in self.row.inputs.split())}
        if "@ p" in CONTEXTS[self.context]:
            inputs["p"] = "permutation"
        return inputs

    def function(self, folder: Path) -> Any:
        """Write the program into a folder, and return its function."""
        path = folder / f"{self.name}.py"
        path.write_text(self.text)
        names: dict[str, Any] = {"__name__": self.name}
        exec(compile(self.text, str(path), "exec"), names)
        return names["f"]

    def inputs(self, *, exact: bool) -> list[Any]:
        """Return the inputs: normal numbers, or those on which every line is exact."""
        import torch

        generator = torch.Generator().manual_seed(sum(map(ord, self.name)))
        values = self.row.exact if exact else "any"
        inputs = []
        for sizes in self.specifications.values():
            if sizes == "permutation":
                width = int(self.row.x.partition(":")[0].split("x")[-1].rstrip("!"))
                inputs.append(torch.eye(width)[torch.randperm(width, generator=generator)])
            else:
                inputs.append(_tensor(sizes, values, generator))
        return inputs

    def settings(self, *, exact: bool) -> dict[str, Any]:
        """Return the settings with which the program is compiled."""
        row = self.row
        return row.exact_settings if exact and row.exact_settings is not None else row.settings


def _tensor(sizes: str, values: str, generator: Any) -> Any:
    import torch

    dtypes = {"": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
    has_gradient, sizes = sizes.endswith("!"), sizes.rstrip("!")
    sizes, _, limit = sizes.partition("<")
    sizes, _, dtype = sizes.partition(":")
    shape = tuple(map(int, sizes.split("x")))
    if limit:
        return torch.randint(int(limit), shape, generator=generator)
    if values == "integers":
        tensor = torch.randint(-3, 4, shape, generator=generator).float()
    elif values in ("zeros", "large"):
        tensor = torch.full(shape, {"zeros": 0.0, "large": 64.0}[values])
    else:
        tensor = torch.randn(shape, generator=generator)
    return tensor.to(dtypes[dtype]).requires_grad_(has_gradient)


EXACT = [
    Row("exact", "z = y.amax(-1)", "", "one later", exact="any"),
    Row("exact", "z = torch.where(y > w, y, w)", "", "one later backward", exact="any", inputs="w=48 c=32x48"),
    Row("exact", "z = y.flip(-1) - y", "", "one maximum", exact="any"),
    Row("exact", "z = torch.nn.functional.pad(y, (1, 2))", "", "one later", exact="any"),
    Row("exact", "z = y.sort(-1)[0]", "", "one later", exact="any"),
    Row("exact", "z = y.argmax(-1)", "", "one later", exact="any"),
    Row("exact", "z = (y * 8.0).floor().to(torch.int64).sum(-1)", "", "one later", exact="any"),
    Row("exact", "z = torch.cat([y, -y], -1).abs()", "", "one maximum", exact="any"),
    Row("exact", "z = y.gather(-1, i)", "", "one later", exact="any", inputs="i=32x48<48"),
    Row("exact", "z = torch.sqrt(y) / w.abs().clamp(min=0.5)", "", "one maximum", exact="any", inputs="w=48"),
    Row("exact", "z = y.half().float() - y", "", "one later", exact="any"),
    Row("exact", "z = y.clamp(-0.5, 0.5) * w", "", "one backward", exact="any", inputs="w=48 c=32x48"),
]
"""Lines whose bits do not depend on the arrangement: each result rounds once."""


def programs() -> Iterator[Program]:
    """Yield the programs with a planted difference: each planted line in each of its contexts."""
    yield from _programs((CPP, False), (TRITON, True))


def equal_programs() -> Iterator[Program]:
    """Yield the programs to run on exact values. What follows some planted lines is exact nowhere: these are left."""
    every = _programs((CPP, False), (TRITON, True), (EXACT, False))
    yield from (program for program in every if program.row.exact and program.context != "followed")


def _programs(*parts: tuple[list[Row], bool]) -> Iterator[Program]:
    for rows, triton in parts:
        counts: dict[str, int] = {}
        for row in rows:
            for context in row.contexts.split():
                counts[row.kind] = number = counts.get(row.kind, 0) + 1
                language = "triton" if triton else "cpp"
                yield Program(f"{language}_{row.kind}_{number}", row, context, triton)
