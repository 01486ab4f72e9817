"""Every way to a compile has a whole story: name, place, code, guards, calls, graphs, kernels, times.

    python -m benchmarks.ways [--python PYTHON] [WAY ...]

Each way of `benchmarks/features/ways.py` runs in a process of its own, inside of `prepare_debug`. Printed is a row for
each compile, read from its `index.json`. Where there is no code, no guard or no count of calls, a reason has to stand.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.bar import Bar, none_of, report
from benchmarks.features import load

EMPTY = ("Dynamo made no code", "no entry was seen")
"""What the index says where nothing was seen, which is no reason."""
_GRAPHS = ("graph", "joint")


def run_way(name: str, directory: str) -> None:
    """Run a way inside of a context."""
    from benchmarks.features import ways

    import depyf

    feature = load()[name]
    try:
        with depyf.prepare_debug(directory):
            feature()
    except ways.NotHere as error:
        print(f"not in this torch: {error}")


def missing(compiled: dict[str, Any]) -> Iterator[str]:
    """Yield what a story lacks."""
    if not compiled["name"] or compiled["name"] == "?":
        yield "name"
    if "/torch/" in compiled["file"] or not compiled["file"].endswith(".py"):
        yield "place"
    for part in ("code", "guards"):
        if not compiled[part] or compiled[part] in EMPTY:
            yield part
    if compiled["hits"] is None and not compiled["alone"]:
        yield "calls"
    if not compiled["graphs"]:
        yield "graphs"
    if not compiled["kernels"] and not compiled["eager"]:
        yield "kernels"
    if not compiled["seconds"]:
        yield "times"
