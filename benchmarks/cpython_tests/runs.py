"""One test module run twice: over the originals, and over what stands in their place."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

RUNNER = Path(__file__).with_name("runner.py")


@dataclass(frozen=True)
class Run:
    """What became of the tests of a module.

    outcomes: passed, failed or skipped, by the test's id; empty if the run did not come to its end.
    details: tracebacks of those that failed; under "" why the run did not end.
    replaced: how many imported modules came from the overlay.
    """

    outcomes: dict[str, str]
    details: dict[str, str]
    replaced: int

    @property
    def passed(self) -> set[str]:
        """Return the tests that passed."""
        return {test for test, outcome in self.outcomes.items() if outcome == "passed"}


def run(python: str, overlay: Path, module: str, limit_s: float) -> Run:
    """Run `test.<module>` with `overlay` first on the path."""
    environment = os.environ | {"PYTHONPATH": str(overlay), "PYTHONHASHSEED": "0"}
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "outcomes.json"
        command = [python, str(RUNNER), module, str(out)]
        try:
            done = subprocess.run(
                command,
                cwd=scratch,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=limit_s,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return Run({}, {"": f"not at its end after {limit_s:g} s"}, 0)
        if not out.exists():
            return Run({}, {"": f"ended with {done.returncode}: {done.stderr[-4000:]}"}, 0)
        outcomes = json.loads(out.read_text(encoding="utf-8"))
    inside = [path for path in outcomes["files"].values() if path and path.startswith(f"{overlay}{os.sep}")]
    return Run(outcomes["outcomes"], outcomes["details"], len(inside))


@dataclass(frozen=True)
class Pair:
    """A test module over the originals and over ours.

    lost: tests that passed with the originals and not with ours, with what went wrong.
    """

    module: str
    control: Run
    ours: Run

    @property
    def lost(self) -> dict[str, str]:
        """Return the tests that fail with ours alone, and why."""
        why = self.ours.details.get("", "not run")
        return {
            test: self.ours.details.get(test, self.ours.outcomes.get(test, why))
            for test in sorted(self.control.passed - self.ours.passed)
        }


def pair(python: str, originals: Path, ours: Path, module: str, limit_s: float) -> Pair:
    """Run a test module both ways; what is lost has a second chance: it may depend on time."""
    first = Pair(module, run(python, originals, module, limit_s), run(python, ours, module, limit_s))
    if not first.lost:
        return first
    second = Pair(module, run(python, originals, module, limit_s), run(python, ours, module, limit_s))
    unstable = first.lost.keys() - second.lost.keys()
    outcomes = first.ours.outcomes | dict.fromkeys(unstable, "passed")
    return Pair(module, first.control, Run(outcomes, first.ours.details, first.ours.replaced))
