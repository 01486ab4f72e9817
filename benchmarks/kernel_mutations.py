"""Kernels with one operation changed: whether `trace_numerics` finds the kernel, the line, and the node it stood for.

    python -m benchmarks.kernel_mutations            # Triton's (needs triton) and C++ ones
    python -m benchmarks.kernel_mutations cpp --count 10 --seed 41 97

Each mutation is another operator or function in one line of a kernel of the models of `benchmarks.kernels`, drawn
from a seed among all lines that compute a node. Inductor then compiles the changed kernel, as if it had written that.
A mutation that leaves all results as they are within the tolerance is drawn again, and counted.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
import torch._inductor.config
from torch._inductor import compile_fx

import depyf
from benchmarks.bar import Bar, report
from benchmarks.kernels import MODELS
from depyf.links.inductor.graph import read_graph
from depyf.links.inductor.lines import launched
from depyf.links.inductor.module import read_module
from depyf.torch.adapters import seams
from depyf.torch.adapters.inductor_modules import Written, rewritten
from depyf.torch.numerics.against_eager import Comparison

SEED, COUNT, ENOUGH = 20, 60, 57

CHANGES = [
    (r"(?<=[\w)]) \+ (?=tmp)", " - "),
    (r"(?<=[\w)]) - (?=tmp)", " + "),
    (r"(?<=[\w)]) \* (?=tmp)", " + "),
    (r"(?<=[\w)]) / (?=tmp)", " * "),
    (r"\.exp\(", ".exp2("),
    (r"\.(erf|rsqrt|log|tanh)\(", ".sin("),
    (r"\bmax2\(", "min2("),
    (r"\btl\.sum\(", "triton_helpers.max2("),
    (r"::maximum\(", "::minimum("),
    (r"triton_helpers\.maximum\(", "triton_helpers.minimum("),
    (r" > (?=tmp)", " < "),
    (r" == (?=tmp)", " != "),
]


@dataclass(frozen=True)
class Site:
    """A change: the model, the kernel by the text of its body, the line of that text, and what it computes."""

    model: str
    kernel: str
    body: str
    line: int
    row: str
    changed: str
    nodes: tuple[str, ...]


def sites(model: str, written: Written) -> Iterator[Site]:
    """Yield each change of the kernels of a module."""
    graph = read_graph(seams.graph_text(written.graph))
    for launch in launched(read_module(written.text), graph, written.computed):
        rows = launch.kernel.text.splitlines()
        for line in launch.lines:
            row = rows[line.statement.line - 1]
            for old, new in CHANGES if line.computes and line.statement.place is None else ():
                changed = re.sub(old, new, row, count=1)
                if changed != row and "_tmp" not in row and "tmp_acc" not in row:
                    kernel = launch.kernel
                    yield Site(model, kernel.name, kernel.text, line.statement.line, row, changed, line.computes)


@contextmanager
def language(name: str) -> Iterator[None]:
    """Have Inductor write kernels of one language in the context."""
    with ExitStack() as stack:
        stack.enter_context(torch._inductor.config.patch(force_disable_caches=True))
        # Inductor makes a folder for each compile then; in one folder the same C++ is compiled once.
        stack.enter_context(mock.patch.object(compile_fx, "with_fresh_cache_if_config", nullcontext))
        if name == "triton":
            from depyf.torch.kernels.interpreter import interpreting

            stack.enter_context(torch._inductor.config.patch(cpu_backend="triton"))
            stack.enter_context(interpreting())
        yield


def all_sites() -> list[Site]:
    """Return the changes of all models, in the language that is set."""
    places: list[Site] = []
    for model, function in MODELS.items():

        def keep(written: Written, model: str = model) -> str:
            places.extend(sites(model, written))
            return written.text

        torch._dynamo.reset()
        with rewritten(keep):
            torch.compile(function)(given()).square().sum().backward()
        print(f"  {model}: {len(places)} places so far", file=sys.stderr, flush=True)
    return places


def given() -> torch.Tensor:
    """Return the input of every model."""
    torch.manual_seed(0)
    return torch.randn(16, 32).requires_grad_()


@contextmanager
def mutated(site: Site) -> Iterator[None]:
    """Have Inductor's code generator make a mistake."""
    from torch._inductor.graph import GraphLowering

    before: Callable[..., Any] = GraphLowering.codegen
    rows = site.body.splitlines()
    rows[site.line - 1] = site.changed

    def codegen(self: GraphLowering) -> tuple[object, ...]:
        generated, *rest = before(self)
        generated.value = generated.value.replace(site.body.strip("\n"), "\n".join(rows).strip("\n"))
        return (generated, *rest)

    with mock.patch.object(GraphLowering, "codegen", codegen):
        yield


def located(site: Site) -> tuple[bool, bool, str] | None:
    """Return whether the line is found, whether its node is, and what was found; None if nothing differs."""
    torch._dynamo.reset()
    # The search for the node by halves compiles several times more, and is not what is measured.
    with mutated(site), mock.patch.object(Comparison, "first_wrong_node", lambda self: None):
        numerics = depyf.trace_numerics(torch.compile(MODELS[site.model]), loss=lambda outputs: outputs.square().sum())(
            given()
        )
    if numerics.first is None:
        return None
    kernel_line = numerics.first.kernel
    place = f"{site.model}: {site.kernel} line {site.line}: {site.changed.strip()}, was {site.nodes}"
    if kernel_line is None:
        return False, False, f"{place}: no line is found {numerics.notes}"
    is_line = kernel_line.kernel == site.kernel and kernel_line.line == site.line
    what = f"{kernel_line.kernel} line {kernel_line.line}: {kernel_line.text}"
    values = f"for {kernel_line.node!r} ({kernel_line.values})"
    return is_line, kernel_line.node in site.nodes, f"{place}: found {what} {values}"


def measured(name: str, count: int, seeds: list[int]) -> Iterator[Bar]:
    """Draw mutations of a language with each seed until enough of them change results."""
    results: dict[Site, tuple[bool, bool, str] | None] = {}
    with language(name):
        places = all_sites()
        for seed in seeds:
            lines = nodes = same = drawn = 0
            wrong = []
            for site in random.Random(seed).sample(places, len(places)):
                if drawn == count:
                    break
                result = results[site] if site in results else located(site)
                results[site] = result
                if result is None:
                    same += 1
                    continue
                drawn += 1
                lines, nodes = lines + result[0], nodes + result[1]
                wrong += [] if result[0] and result[1] else [result[2]]
                print(f"  {name} {drawn}: {result}", file=sys.stderr, flush=True)
            note = f"from {len(places)} places; {same} more change no result"
            for what, right in (("line", lines), ("node", nodes)):
                claim = f"{name}, seed {seed}: changed kernels whose {what} is found"
                print(f"{claim}: {right} of {drawn} ({note})", *wrong, sep="\n  ", file=sys.stderr, flush=True)
                yield Bar(claim, f"{right} of {drawn}", right >= ENOUGH and drawn >= COUNT, wrong, note)


def main() -> None:
    """Print the bars."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", default=["triton", "cpp"])
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, nargs="+", default=[SEED])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    bars = (measured(name, arguments.count, arguments.seed) for name in arguments.languages)
    report([bar for some in bars for bar in some])


if __name__ == "__main__":
    main()
