"""Findings about graphs that torch did not record as CUDA graphs, or recorded repeatedly."""

from __future__ import annotations

from collections.abc import Iterator

from depyf.model.cuda_graphs import AGAIN, SIZES, SKIPPED
from depyf.model.finding import Cost, Finding, Where
from depyf.model.naming import title
from depyf.model.reproducible import without_addresses
from depyf.model.run import Session
from depyf.model.user_source import short_path

STAY = "pass inputs that stay where they are: allocate them once, and copy new values into them"
FIXES = {
    "mutated inputs": "return the new value and leave the input as it is, or keep it in a parameter or a buffer",
    "input storage mutation": "do not call `set_` on an input inside of the compiled function",
    "cpu device": "keep all computations of the graph on the GPU: move the value there before the call",
    "multiple devices": "keep each compiled function on one GPU",
    "symbolic shapes": "pad the inputs to a few sizes, or unset `config.triton.cudagraph_skip_dynamic_graphs`",
    "re-recording": STAY,
    "data pointer changed": STAY,
}
"""Fixes by words in torch's reason. They were not run on a GPU: each undoes the action in the reason."""


def of_cuda_graphs(session: Session) -> Iterator[Finding]:
    """Yield a finding for each reason why torch skipped a CUDA graph or recorded it again, and for many sizes."""
    for function, compiled in session.compiles():
        name, ids, cost = f"`{title(function)}`", (str(compiled.id),), Cost(None, 0.0, 1)
        for cuda_graph in compiled.cuda_graphs:
            if cuda_graph.event not in (SKIPPED, AGAIN):
                continue
            file, line, inside = cuda_graph.place or (function.filename, function.first_line, function.name)
            part = f"the {cuda_graph.part} of " if cuda_graph.part in ("forward", "backward") else ""
            reason = without_addresses(cuda_graph.reason) or "torch does not say why"
            said = "runs without a CUDA graph" if cuda_graph.event == SKIPPED else "has its CUDA graph recorded again"
            cause = f"{part}{name} {said}: {reason}"
            kind = "cuda-graph-skipped" if cuda_graph.event == SKIPPED else "cuda-graph-recorded-again"
            where = Where(short_path(file), line, inside)
            yield Finding(kind, "medium", where, cause[0].upper() + cause[1:], cost, _fix(reason), ids)
        sizes = [cuda_graph.reason for cuda_graph in compiled.cuda_graphs if cuda_graph.event == SIZES]
        if len(sizes) > 1:
            where = Where(short_path(function.filename), function.first_line, function.name)
            first = ", ".join(sizes[:MOST_SIZES])
            cause = f"{name} has a CUDA graph of its own for each of {len(sizes)} sizes: {first}"
            yield Finding("cuda-graph-sizes", "medium", where, cause, cost, "pad the inputs to a few sizes", ids)


MOST_SIZES = 8
"""The most sizes that are listed. From this number on, torch itself warns."""


def _fix(reason: str) -> str:
    return next((fix for words, fix in FIXES.items() if words in reason), "")
