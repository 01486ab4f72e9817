"""Does the profile find the line that was made slower? Five programs, four ways, three lines of each.

    python -m benchmarks.profile_injection [--backend inductor] [--programs 60]

prints those in which the line is neither first in the ranking nor in the first set, and the number of the others.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import torch

import depyf

BASES = {
    "chain": ("h = x @ w", "h = torch.relu(h) + x", "h = h.sin() * 2", "h = h @ w", "return h.sum()"),
    "block": (
        *("h = torch.nn.functional.layer_norm(x, (SIZE,))", "h = torch.nn.functional.gelu(h @ w)", "h = x + h @ w"),
        *("h = h / (1 + h.abs())", "return h.mean()"),
    ),
    "attention": (
        *("q = x @ w", "k = x @ w.t()", "h = torch.softmax(q @ k.t(), -1)", "h = h @ x", "return h.pow(2).sum()"),
    ),
    "reductions": (
        *("h = x - x.mean(-1, keepdim=True)", "h = h / h.std(-1, keepdim=True)", "h = h.cumsum(0)", "h = h @ w"),
        "return h.amax()",
    ),
    "gates": (
        *("h = torch.sigmoid(x @ w)", "g = torch.tanh(x @ w.t())", "h = h * g + x"),
        "h = torch.cat([h, g]).narrow(0, 0, SIZE)",
        "return h.sum()",
    ),
}
"""The bodies of small functions of a matrix `x` and another one `w`."""

WAYS = ("work", "break", "fallback", "guards")
LARGE, SMALL = 192, 8
"""Sizes of the matrices: where a break or guards are to cost most, the kernels must cost little."""


@dataclass(frozen=True)
class Program:
    """A program with one line that was made slower."""

    name: str
    text: str
    line: int
    size: int
    extra: tuple[int, ...] = ()


def programs(large: int = LARGE) -> Iterator[Program]:
    """Yield all programs, ways and bases mixed. `large` is the size of the matrices where kernels are to cost most."""
    for at, way, (base, body) in itertools.product(range(3), WAYS, BASES.items()):
        size = large if way == "work" else LARGE if way == "fallback" else SMALL
        yield _injected(f"{base}_{way}_{at}", list(body), way, at + 1, size)


def _injected(name: str, body: list[str], way: str, at: int, size: int) -> Program:
    last = body[at - 1].partition(" = ")[0]
    head = "def f(x, w, extra):"
    slow = {
        "work": f"{last} = {last} + x @ w @ w @ w @ w @ w @ w @ w @ w @ w @ w @ w @ w",
        "break": "torch._dynamo.graph_break()",
        "fallback": f"{last} = {last} + torch.linalg.eigvalsh(x @ x.t())",
        "guards": f"{last} = {last} + len(extra) * extra[0]",
    }[way]
    body.insert(at, slow)
    if way == "guards":
        body.insert(at + 1, f"{last} = {last} + sum(extra)")
    rows = ["import torch", "", "", head, *(f"    {row.replace('SIZE', str(size))}" for row in body)]
    line = 4 if way == "guards" else 5 + at
    return Program(name, "\n".join(rows) + "\n", line, size, tuple(range(1500)) if way == "guards" else (1,))


def _loaded(program: Program, folder: Path) -> ModuleType:
    path = folder / f"{program.name}.py"
    path.write_text(program.text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(program.name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[program.name] = module
    spec.loader.exec_module(module)
    return module


def first_lines(program: Program, backend: str, folder: Path) -> list[int]:
    """Return the lines of the first row of the program's profile."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    function: Callable[..., object] = torch.compile(_loaded(program, folder).f, backend=backend)
    x, w = torch.randn(program.size, program.size), torch.randn(program.size, program.size) / program.size
    with depyf.profile(folder / "dump" / program.name) as profile:
        for _ in range(70):
            function(x, w, list(program.extra))
            profile.step()
    rows = profile.result["lines"]
    return [place["line"] for place in rows[0]["set"] or [rows[0]]] if rows else []


def main() -> None:
    """Print the result for as many programs as were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--programs", type=int, default=60)
    options = parser.parse_args()
    right = 0
    chosen = list(programs())[: options.programs]
    with tempfile.TemporaryDirectory() as folder:
        for program in chosen:
            lines = first_lines(program, options.backend, Path(folder))
            right += program.line in lines
            if program.line not in lines:
                print(f"{program.name}: line {program.line} is not first, but {lines}", flush=True)
    print(f"first in the ranking or in its first set: {right} of {len(chosen)}")


if __name__ == "__main__":
    main()
