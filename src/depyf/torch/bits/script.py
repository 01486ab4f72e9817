"""Run a script, keep the first call of each graph that it compiles, and compare these bit by bit."""

from __future__ import annotations

import functools
import json
import os
import runpy
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import field
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree

from depyf.bytecode.records import dataclass
from depyf.model.counts import counted
from depyf.torch.adapters.inductor_modules import is_inductor
from depyf.torch.adapters.recorded_backends import recorded_backends
from depyf.torch.bits.batches import compare_batches, dynamic_shapes, sides_of
from depyf.torch.bits.edges import cloned
from depyf.torch.bits.first import Options, compare_calls, undisturbed
from depyf.torch.bits.report import BitsReport
from depyf.torch.bits.trials import all_of
from depyf.torch.numerics.recording import GraphCall, copied

NO_SETTING = 2
"""The exit code if there is no such setting."""


@dataclass(slots=True)
class Kept:
    """The first calls of graphs with their backends, and the number of calls that are not kept."""

    calls: list[tuple[GraphCall, Any]] = field(default_factory=list)
    graphs: int = 0
    later: int = 0
    others: int = 0


def script_bits(
    path: str,
    arguments: tuple[str, ...],
    settings: dict[str, Any],
    *,
    restore: bool,
    batch: tuple[int, int] | None = None,
) -> BitsReport:
    """Run a script as `python` does, with its graphs in eager, and compare the first call of each graph.

    An error of the script is part of the report: its graphs up to there are compared.

    Args:
        path: the path of the script.
        arguments: its arguments.
        settings: options of Inductor's, `threads`, and environment variables, by name.
        restore: whether to try settings that restore equal bits.
        batch: the number of rows of a part, and of the whole batch, to compare these instead.
    """
    kept = Kept()
    report = BitsReport(os.path.basename(path), ("compiled", "eager"))
    before = sys.argv, list(sys.path)
    sys.argv, sys.path[0] = [path, *arguments], os.path.dirname(os.path.abspath(path))
    try:
        with recorded_backends(functools.partial(around, kept)), dynamic_shapes() if batch else nullcontext():
            runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            report.not_compared.append(f"the code after the script's exit with code {end.code}")
    except Exception as error:  # noqa: BLE001 - the script may raise anything; what it compiled before is compared
        report.not_compared.append(f"the code after the script's {type(error).__name__}: {error}")
    finally:
        sys.argv, sys.path[:] = before[0], before[1]
    if kept.others:
        report.not_compared.append(f"{counted(kept.others, 'graph')} of other backends than Inductor")
    if kept.later:
        report.not_compared.append(f"{counted(kept.later, 'later call')} of the same graphs")
    if kept.calls:
        report.not_compared.append("code between graphs, such as the optimizer's, if it is not compiled")
    with undisturbed():
        if batch is None:
            compare_calls(report, kept.calls, Options(True, settings, restore))
        else:
            report.sides = sides_of(batch)
            compare_batches(report, kept.calls, batch, all_of(settings))
    return report


def around(kept: Kept, backend: Any) -> Callable[..., Any]:  # noqa: ANN401 - torch takes any backend
    """Return a backend that runs graphs eagerly and keeps their first calls, with the program's own backend."""

    def compiled(module: Any, _: list[Any]) -> Callable[..., Any]:
        number = kept.graphs
        kept.graphs += 1
        if not is_inductor(backend):
            kept.others += 1
            plain: Callable[..., Any] = module.forward
            return plain
        return functools.partial(_run, kept, backend, number, module)

    return compiled


def _run(kept: Kept, backend: Any, number: int, module: Any, *inputs: Any) -> Any:
    """Run a graph eagerly; keep its first call."""
    if any(call.graph == number for call, _ in kept.calls):
        kept.later += 1
        return module.forward(*inputs)
    call = GraphCall(number, 0, module, [copied(value) for value in inputs], torch.is_grad_enabled())
    kept.calls.append((call, backend))
    outputs = module.forward(*inputs)
    for index, output in enumerate(_pytree.tree_leaves(outputs)):
        if isinstance(output, Tensor) and output.requires_grad:
            output.register_hook(functools.partial(_keep_gradient, call, index))
    return outputs


def _keep_gradient(call: GraphCall, index: int, gradient: Tensor) -> None:
    """Keep the first gradient that reaches an output."""
    call.cotangents.setdefault(index, cloned(gradient))


def main() -> None:
    """Compare a script's graphs, as `depyf bits` asks: the arguments are a JSON object and those of the script."""
    asked, path, *arguments = sys.argv[1:]
    wanted = json.loads(asked)
    try:
        all_of(wanted["settings"])
    except ValueError as error:
        print(f"depyf bits: {error}", file=sys.stderr)
        sys.exit(NO_SETTING)
    report = script_bits(path, tuple(arguments), wanted["settings"], restore=wanted["restore"], batch=wanted["batch"])
    with open(wanted["output"], "w", encoding="utf-8") as file:
        json.dump({"text": str(report), "data": report.data()}, file, default=str)


if __name__ == "__main__":
    main()
