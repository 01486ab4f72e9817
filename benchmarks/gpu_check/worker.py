"""The process of one part: `python -m benchmarks.gpu_check.worker MODULE DEVICE FOLDER RESULTS SECONDS`."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
import warnings
from pathlib import Path

from benchmarks.gpu_check.checks import Setting, Told


def main(module: str, device: str, folder: str, results: str, seconds: str) -> None:
    """Run the part; an error ends the process with its traceback in the log."""
    warnings.simplefilter("ignore")
    part = importlib.import_module(f"benchmarks.gpu_check.parts.{module}")
    part.run(Setting(device, Path(folder), float(seconds)), Told(Path(results)))


def _end(code: int) -> None:
    """End the process without waiting for Inductor's pool of compile workers, which may take minutes."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except BaseException:  # noqa: BLE001 - the traceback goes to the log, and the exit code tells it
        traceback.print_exc()
        _end(1)
    _end(0)
