"""Run the checks of four projects with regressions slipped in, and without.

    python -m benchmarks.contracts                 # 40 regressions: each has to fail its check
    python -m benchmarks.contracts --repeat 60     # false alarms: nothing is slipped in, each check so many times
    python -m benchmarks.contracts --repeat 60 -n 4 -p random_order   # what is behind it goes to pytest

Kernels are written and looked up, but not compiled by a C++ compiler.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import torch

CHECKS = "benchmarks/contracts/checks.py"
_BROKEN = re.compile(r"^FAILED .*, the contract says \d", re.MULTILINE)
"""A check that failed since its contract is broken, and for no other reason."""
_COUNT = re.compile(r"(\d+) (passed|failed|errors?)")


def counts(environment: dict[str, str], *options: str) -> tuple[dict[str, int], str]:
    """Return how many checks passed and failed, and what pytest printed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "depyf.pytest_plugin", "-p", "no:depyf"]
    plain = [
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        ".",
        "--import-mode=importlib",
        "--tb=line",
        "-rf",
    ]
    run = [*command, *plain, *options, CHECKS]
    environment = {**os.environ, "COLUMNS": "300", **environment}
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    return {word: int(number) for number, word in _COUNT.findall(done.stdout)}, done.stdout + done.stderr


def main() -> None:
    """Measure, and print what came of it."""
    options = sys.argv[1:]
    if "--repeat" in options:
        at = options.index("--repeat")
        times, rest = options[at + 1], [*options[:at], *options[at + 2 :]]
        outcomes, text = counts({"CONTRACT_REPEAT": times}, *rest)
        alarms = sum(count for word, count in outcomes.items() if word != "passed")
        print(f"torch {torch.__version__}: {alarms} false alarms in {sum(outcomes.values())} runs {' '.join(rest)}")
    else:
        outcomes, text = counts({"CONTRACT_SEEDS": "1"}, *options)
        caught = len(_BROKEN.findall(text))
        print(f"torch {torch.__version__}: {caught} of {sum(outcomes.values())} regressions fail their check")
    print("\n".join(line for line in text.splitlines() if line.startswith(("PASSED", "FAILED", "ERROR", "E "))))


if __name__ == "__main__":
    main()
