"""Runs the programs of the catalogue and prints what came of the advice.

    python -m benchmarks.advice                           # all kinds, on the running torch
    python -m benchmarks.advice break-print break-item   # some kinds, with all that is found
    python -m benchmarks.advice --keep FILE               # goes on from what an earlier run of the same code has found

Exits with 1 where a program does not show its kind, or the advice does not help.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import linecache
import pkgutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

import depyf
from corpus.advice import programs
from corpus.advice.pair import HERE, PAIRS, Pair, Run
from depyf.findings import Finding, findings
from depyf.findings.catalogue import KINDS

for _module in pkgutil.iter_modules(programs.__path__):
    importlib.import_module(f"corpus.advice.programs.{_module.name}")


@dataclass(frozen=True)
class Outcome:
    """What a program gave: its results, and the findings of its run."""

    results: list[Any]
    found: tuple[Finding, ...]

    def kinds(self) -> list[str]:
        """Return the kinds that were found, the first first."""
        return [finding.kind for finding in self.found]

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


def same(left: list[Any], other: list[Any]) -> bool:
    """Return whether two programs gave equal results."""
    return len(left) == len(other) and all(
        torch.allclose(a, b) if isinstance(a, torch.Tensor) else a == b for a, b in zip(left, other, strict=True)
    )


@dataclass(frozen=True)
class Judged:
    """Whether a pair is what it says: five questions, each of which has to be answered with yes.

    `said` are the findings of the program, and those that its advice leaves.
    """

    kind: str
    present: bool
    gone: bool
    equal: bool
    first: bool
    line: bool
    advised: bool
    said: tuple[str, ...]
    lacking: str

    @property
    def helps(self) -> bool:
        """Return whether the advice helped."""
        return self.present and self.gone and self.equal or (bool(self.lacking) and not self.present)

    @property
    def is_right(self) -> bool:
        """Return whether all is as it should be: the kind comes first, too, at the line that the program marks."""
        return self.helps and bool(self.lacking or (self.first and self.line))


def judged(pair: Pair) -> Judged:
    """Run a pair."""
    shown = outcome(pair.shown)
    fixed = outcome(pair.fixed) if pair.fixed is not None else None
    kinds = shown.kinds()
    gone = fixed is None or all(finding.severity == "low" for finding in fixed.found)
    left = fixed.found if fixed is not None and not gone else ()
    return Judged(
        pair.kind,
        present=pair.kind in kinds,
        gone=gone,
        equal=fixed is None or same(shown.results, fixed.results),
        first=kinds[:1] == [pair.kind],
        line=shown.names_the_line(),
        advised=fixed is not None,
        said=tuple(f"{finding.kind}, {finding.severity}: {finding.line}" for finding in (*shown.found, *left)),
        lacking=pair.lacking,
    )


class Kept:
    """What earlier runs found, in a file of one JSON object a line; of other code or another torch it knows nothing."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._code = f"torch {torch.__version__}, Python {sys.version.split()[0]}, code {_code_digest()}"
        self.found: dict[str, Judged] = {}
        if path is not None and path.exists():
            for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
                if row.pop("code") == self._code:
                    self.found[row["kind"]] = Judged(**{**row, "said": tuple(row["said"])})

    def add(self, judged_pair: Judged) -> Judged:
        """Keep what was found of a pair."""
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**asdict(judged_pair), "code": self._code}) + "\n")
        return judged_pair


def _code_digest() -> str:
    """Return what tells this state of depyf and of the programs from others."""
    digest = hashlib.sha256()
    for folder in (Path(depyf.__file__).parent, Path(__file__).parent):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def all_judged(names: list[str], kept: Kept) -> Iterator[Judged]:
    """Yield what comes of the pairs of some kinds, or of all."""
    for pair in PAIRS.values():
        if not names or pair.kind in names:
            yield kept.found.get(pair.kind) or kept.add(judged(pair))


def main() -> int:
    """Run the pairs of some kinds, or of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--keep", type=Path, metavar="FILE")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    all_of = list(all_judged(options.kinds, Kept(options.keep)))
    for judged_pair in all_of:
        if options.kinds or not judged_pair.is_right:
            words = [name for name in ("present", "gone", "equal", "first", "line") if not getattr(judged_pair, name)]
            print(f"{judged_pair.kind}: {'not ' + ', '.join(words) if words else 'right'}")
            for said in judged_pair.said:
                print(f"    {said}")
    for judged_pair in all_of:
        if judged_pair.lacking:
            print(f"{judged_pair.kind}: not in this release: {judged_pair.lacking}")
    right = all(judged_pair.helps for judged_pair in all_of)
    all_of = [judged_pair for judged_pair in all_of if not judged_pair.lacking]
    advised = [judged_pair for judged_pair in all_of if judged_pair.advised]
    print(f"torch {torch.__version__}, Python {sys.version.split()[0]}")
    print(f"{len(KINDS)} kinds, {len(all_of)} with a program, {len(advised)} with advice")
    for question in ("present", "first", "line"):
        print(f"{question}: {sum(getattr(judged_pair, question) for judged_pair in all_of)} of {len(all_of)}")
    for question in ("gone", "equal"):
        print(f"{question}: {sum(getattr(judged_pair, question) for judged_pair in advised)} of {len(advised)}")
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
