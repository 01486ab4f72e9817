"""Runs the program of one library, in a context of depyf or without, and writes what it gave.

python -m benchmarks.libraries.run NAME RESULT [DIRECTORY]
"""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from pathlib import Path

import torch

import depyf
from benchmarks.unnoticed_run import normal, told
from corpus.libraries import LIBRARIES


def main(name: str, result: str, directory: str = "") -> None:
    """Run the program and write its value and warnings as JSON."""
    torch.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        with depyf.prepare_debug(directory) if directory else contextlib.nullcontext():
            value = told(LIBRARIES[name].program())
    seen = [
        [warning.category.__name__, normal(str(warning.message)), f"{warning.filename}:{warning.lineno}"]
        for warning in caught
    ]
    Path(result).write_text(json.dumps({"value": value, "warnings": seen}), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
