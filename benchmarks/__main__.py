"""Run every bar, one process each: `python -m benchmarks [NAME...]`."""

from __future__ import annotations

import subprocess
import sys

OF_THE_DECOMPILER = ("speed", "memory", "growth")
OF_TORCH = (
    *("import_time", "toy", "replica", "replica_programs", "models", "same_dump", "left_behind"),
    *("compile_time", "cost", "fresh_clone", "interference"),
)
ALL = OF_THE_DECOMPILER + OF_TORCH


def main(names: tuple[str, ...]) -> int:
    """Run the bars called `names`; return 1 when one is not met."""
    failed = []
    for name in names:
        print(f"== python -m benchmarks.{name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode != 0:
            failed.append(name)
    print("all met" if not failed else f"not met: {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:]) or ALL))
