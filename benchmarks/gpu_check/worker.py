"""The process of one part: `python -m benchmarks.gpu_check.worker MODULE DEVICE FOLDER RESULTS SECONDS`."""

from __future__ import annotations

import importlib
import sys
import warnings
from pathlib import Path

from benchmarks.gpu_check.checks import Setting, Told


def main(module: str, device: str, folder: str, results: str, seconds: str) -> None:
    """Run the part; an error ends the process with its traceback in the log."""
    warnings.simplefilter("ignore")
    part = importlib.import_module(f"benchmarks.gpu_check.parts.{module}")
    part.run(Setting(device, Path(folder), float(seconds)), Told(Path(results)))


if __name__ == "__main__":
    main(*sys.argv[1:])
