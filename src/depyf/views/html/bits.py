"""The page of `depyf bits --html`: the chain of kernels, equal or not, with the differences of their values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from depyf.version import __version__
from depyf.views.html.templates import asset, environment

Json = dict[str, Any]

_SIGNS = {"equal": "=", "different": "≠", "not compared": "?"}
_HIGHEST = 36
"""The height of the highest bar, in pixels."""


def bits_page(content: Json, lines: Sequence[str]) -> str:
    """Return the page for what `depyf bits --json` prints.

    Args:
        content: a comparison of a program with eager, or of two runs: the form of `docs/bits.schema.json`.
        lines: the lines that the command prints.
    """
    return (
        environment()
        .get_template("bits.html")
        .render(
            version=__version__,
            sides=content["sides"],
            lines=lines,
            groups=list(_groups(content)),
            styles=asset("base.css"),
        )
    )


def _groups(content: Json) -> Iterator[Json]:
    """Yield the kernels of each module of Inductor's in order."""
    for title, kernels in itertools.groupby(content["kernels"], _title):
        yield {"title": title, "rows": [_row(kernel, content) for kernel in kernels]}


def _title(kernel: Json) -> str:
    if "graph" in kernel:
        return f"graph {kernel['graph']}, {kernel['part']}"
    return f"compile {kernel['compile']} of {kernel['function'] or 'unknown'}, {kernel['part']}"


def _row(kernel: Json, content: Json) -> Json:
    is_first = _is_first(kernel, content["first"])
    histogram = _histogram(kernel, content if is_first else {})
    return {
        "kernel": kernel["kernel"],
        "status": kernel["status"].replace(" ", "-"),
        "sign": _SIGNS[kernel["status"]],
        "where": kernel["where"],
        "detail": _detail(kernel),
        "is_first": is_first,
        "bars": list(_bars(histogram)),
    }


def _is_first(kernel: Json, first: Json | None) -> bool:
    """Return whether a kernel is the one of the first difference."""
    if first is None:
        return False
    if "graph" in kernel:
        place = kernel["graph"], kernel["part"], kernel["kernel"]
        return kernel["status"] == "different" and place == (first["graph"], first["part"], first["kernel"])
    place = kernel["compile"], kernel["part"], kernel["position"]
    return place == (first["compile"], first["part"], first["position"])


def _histogram(kernel: Json, content: Json) -> dict[str, int]:
    """Return the number of values by their distance: of the kernel itself, or of the values that two runs kept."""
    gaps = [wrong["gap"] for wrong in kernel.get("wrong", ())]
    values = content.get("values")
    gaps += [values["gap"]] if values else []
    return {str(step): count for step, count in gaps[0]["histogram"].items()} if gaps else {}


def _detail(kernel: Json) -> str:
    if "calls" in kernel:
        calls = kernel["calls"]
        parts = [f"{calls[status]} {status}" for status in _SIGNS if calls[status]]
        since = kernel["first_different_call"]
        return f"calls: {', '.join(parts)}" + (f"; the first is call {since + 1}" if since is not None else "")
    wrong = [f"{part['gap']['count']} of {part['gap']['total']} values" for part in kernel["wrong"]]
    return ", ".join(wrong) or f"{kernel['compared']} of its results compared"


def _bars(histogram: dict[str, int]) -> Iterator[Json]:
    most = max(histogram.values(), default=1)
    for step, count in histogram.items():
        label = f"≤ {step}" if step != "0" else "more"
        yield {"count": count, "label": label, "height": max(1, round(_HIGHEST * count / most))}
