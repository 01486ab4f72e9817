"""Runs the programs of the catalogue and prints what came of the advice.

    python -m tools.advice            # all kinds, on the running torch
    python -m tools.advice print item # some kinds, with all that is found

Exits with 1 where a program does not show its kind, or the advice does not help.
"""

from __future__ import annotations

import importlib
import linecache
import pkgutil
import sys
import tempfile
import warnings
from dataclasses import dataclass
from typing import Any

import torch

import depyf
from depyf.report.catalogue import KINDS
from depyf.report.findings import Finding, findings
from tools.advice import programs
from tools.advice.pair import HERE, PAIRS, Pair, Run

for _module in pkgutil.iter_modules(programs.__path__):
    importlib.import_module(f"tools.advice.programs.{_module.name}")


@dataclass(frozen=True)
class Outcome:
    """What a program gave: its results, and the findings of its run."""

    results: list[Any]
    found: tuple[Finding, ...]

    def kinds(self) -> list[str]:
        """Return the kinds that were found, the first first."""
        return [each.kind for each in self.found]

    def names_the_line(self) -> bool:
        """Return whether the first finding is at the line that the program marks."""
        where = self.found[0].where if self.found else None
        return where is not None and HERE in linecache.getline(where.file, where.line)


def outcome(program: Run) -> Outcome:
    """Return what a program gives on a fresh Dynamo."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as scratch, depyf.prepare_debug(scratch) as session:
        results = program()
    return Outcome(results, findings(session))


def same(one: list[Any], other: list[Any]) -> bool:
    """Return whether two programs gave equal results."""
    return len(one) == len(other) and all(
        torch.allclose(a, b) if isinstance(a, torch.Tensor) else a == b for a, b in zip(one, other, strict=True)
    )


@dataclass(frozen=True)
class Judged:
    """Whether a pair is what it says: five questions, each of which has to be answered with yes."""

    kind: str
    present: bool
    gone: bool
    equal: bool
    first: bool
    line: bool
    shown: Outcome
    fixed: Outcome | None
    lacking: str

    @property
    def is_right(self) -> bool:
        """Return whether the advice helped."""
        return self.present and self.gone and self.equal or (bool(self.lacking) and not self.present)


def judged(pair: Pair) -> Judged:
    """Run a pair."""
    shown = outcome(pair.shown)
    fixed = outcome(pair.fixed) if pair.fixed is not None else None
    kinds = shown.kinds()
    return Judged(
        pair.kind,
        present=pair.kind in kinds,
        gone=fixed is None or all(each.severity == "low" for each in fixed.found),
        equal=fixed is None or same(shown.results, fixed.results),
        first=kinds[:1] == [pair.kind],
        line=shown.names_the_line(),
        shown=shown,
        fixed=fixed,
        lacking=pair.lacking,
    )


def main(names: list[str]) -> int:
    """Run the pairs of some kinds, or of all."""
    warnings.simplefilter("ignore")
    chosen = [each for each in PAIRS.values() if not names or each.kind in names]
    all_of = [judged(each) for each in chosen]
    for each in all_of:
        if names or not (each.is_right and (each.lacking or (each.first and each.line))):
            words = [name for name in ("present", "gone", "equal", "first", "line") if not getattr(each, name)]
            print(f"{each.kind}: {'not ' + ', '.join(words) if words else 'right'}")
            for finding in (*each.shown.found, *(each.fixed.found if each.fixed and not each.gone else ())):
                print(f"    {finding.kind}, {finding.severity}: {finding.line}")
    for each in all_of:
        if each.lacking:
            print(f"{each.kind}: not in this release: {each.lacking}")
    right = all(each.is_right for each in all_of)
    all_of = [each for each in all_of if not each.lacking]
    advised = [each for each in all_of if each.fixed is not None]
    print(f"torch {torch.__version__}, Python {sys.version.split()[0]}")
    print(f"{len(KINDS)} kinds, {len(all_of)} with a program, {len(advised)} with advice")
    for question in ("present", "first", "line"):
        print(f"{question}: {sum(getattr(each, question) for each in all_of)} of {len(all_of)}")
    for question in ("gone", "equal"):
        print(f"{question}: {sum(getattr(each, question) for each in advised)} of {len(advised)}")
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
