"""Choose cases for the data files: for each changed rule that no case catches, the smallest function that does.

    python -m tools.forms.choose structure/exits lift/phis      # or all that have no data file yet
    python -m tools.forms.choose --rules 60 structure/exits

What is chosen shows how the decompiler works today: read it before you commit it.
"""

from __future__ import annotations

import argparse
import random
import sys
import types
import warnings
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from depyf.bytecode.code import Code, Version
from depyf.decompiler.lift.simplify import Known
from depyf.decompiler.pipeline.run import decompile
from depyf.decompiler.pipeline.table import BUILD, SCOPES
from depyf.decompiler.pipeline.work import Work
from depyf.decompiler.steps import recording
from depyf.errors import DecompilationError
from tests.decompiler.test_forms import Case as GraphCase
from tools.forms.around import KNOWN, MADE_ANEW, SOURCE, forms
from tools.forms.cases import DECOMPILER, PACKAGES, Case, cases, file_of, modules, write
from tools.forms.compiling import compiled_piece
from tools.forms.corpus import corpus
from tools.forms.measure import Late, caught, given, limited, own_cases, seconds
from tools.forms.mutants import Mutant, applied, mutants

Way = tuple[str, Version, str]
"""A source, the Python that compiles it, and the pass to look at."""
MOST_WAYS = 60
TRIES = 16
LONGEST = 60
"""Lines of a case."""
MOST_CASES = 12
SETTINGS: tuple[tuple[Known | None, frozenset[str]], ...] = (
    (None, frozenset()),
    (KNOWN, frozenset()),
    (None, frozenset({BUILD})),
    (None, frozenset({BUILD, SCOPES})),
)


@dataclass
class Lines:
    """Which lines of the decompiler run in which pass: a recorder that is a tracer too."""

    files: frozenset[str]
    found: dict[tuple[str, int], str] = field(default_factory=dict)
    now: set[tuple[str, int]] = field(default_factory=set)

    def begin(self, work: Work) -> None:
        """Hear that a code object is begun."""

    def attempt(self, work: Work, why: str) -> None:
        """Hear that a code object is begun again."""

    def step(self, message: str) -> None:
        """Pass over a step."""

    def after(self, name: str, work: Work) -> None:
        """Note the lines that ran since the pass before."""
        for line in self.now:
            self.found.setdefault(line, name)
        self.now.clear()

    def trace(self, frame: types.FrameType, event: str, arg: object) -> Any:  # noqa: ANN401  as typeshed has it
        """Follow the functions of these files."""
        return self.line if frame.f_code.co_filename in self.files else None

    def line(self, frame: types.FrameType, event: str, arg: object) -> Any:  # noqa: ANN401
        """Note a line."""
        self.now.add((frame.f_code.co_filename, frame.f_lineno))
        return self.line


def reached(sources: Iterable[tuple[str, Version]]) -> dict[tuple[str, int], list[Way]]:
    """Return, by line of the decompiler, small sources that run it, and in which pass."""
    files = frozenset(str(path) for package in PACKAGES for path in (DECOMPILER / package).rglob("*.py"))
    found: dict[tuple[str, int], list[Way]] = defaultdict(list)
    for number, (source, version) in enumerate(sources):
        code = compiled(source, version)
        if code is None:
            continue
        for known, without in SETTINGS if number % 6 == 0 else SETTINGS[:1]:
            lines = Lines(files)
            with recording(lines):
                sys.settrace(lines.trace)
                try:
                    decompile(code, known=known, without=without)
                except DecompilationError:
                    continue
                finally:
                    sys.settrace(None)
            for line in lines.now:
                lines.found.setdefault(line, SOURCE)
            for line, name in lines.found.items():
                if len(found[line]) < MOST_WAYS:
                    found[line].append((source, version, name))
    return found


def compiled(source: str, version: Version) -> Code | None:
    """Return the code of a source, or None where that Python does not take it."""
    try:
        return compiled_piece(source, version)
    except (DecompilationError, SyntaxError, RuntimeError, ValueError, pytest.skip.Exception):
        return None


def tried(ways: list[Way]) -> list[Way]:
    """Return the smallest sources and the largest."""
    return ways if len(ways) <= TRIES else [*ways[: TRIES // 2], *ways[-TRIES // 2 :]]


def after(way: Way) -> list[str] | None:
    """Return what a pass gives, or None for an error or no end."""
    source, version, name = way
    try:
        with limited():
            return [each for _, each in forms(compiled_piece(source, version), name, with_before=False)]
    except (Exception, Late):  # noqa: BLE001  a changed rule may raise anything, and that is a difference
        return None


def choose(module: str, ways: dict[tuple[str, int], list[Way]], rules: list[Mutant], limit: float) -> list[Case]:
    """Return the cases of a module with those that catch more of the changed rules."""
    chosen = cases(module)
    graphs = [case for case in own_cases(module) if isinstance(case, GraphCase)]
    begun = seconds()
    file = str(DECOMPILER / f"{module}.py")
    first: dict[Way, list[str] | None] = {}
    for mutant in rules:
        if len(chosen) >= MOST_CASES or seconds() - begun > limit:
            break
        if caught(mutant, [*chosen, *graphs]):
            continue
        for way in tried(ways.get((file, mutant.line), [])):
            if way not in first:
                first[way] = after(way)
            with applied(mutant):
                if first[way] is None or after(way) == first[way]:
                    continue
            case = Case(way[2], way[1], str(mutant).replace("\n", " ")[:90], way[0], "")
            case = replace(case, expected=given(case) or "")
            if case.expected and case.expected.count("\n") <= LONGEST and caught(mutant, [case]):
                chosen.append(case)
                break
    return [*chosen, *both_kinds(module, ways, chosen)]


def good_enough(module: str, rules: list[Mutant]) -> bool:
    """Return whether the cases of a module catch 19 of 20 changed rules."""
    own = own_cases(module)
    return bool(own) and 20 * sum(caught(mutant, own) for mutant in rules) >= 19 * len(rules)


def both_kinds(module: str, ways: dict[tuple[str, int], list[Way]], chosen: list[Case]) -> list[Case]:
    """Return a near miss and a change, each where there is none yet and a small source gives one."""
    file = str(DECOMPILER / f"{module}.py")
    run = {way for (path, _), found in ways.items() if path == file for way in found}
    compared = [way for way in sorted(run, key=lambda way: len(way[0])) if way[2] not in (*MADE_ANEW, SOURCE)]
    found = []
    for is_near_miss in (True, False):
        if any(isinstance(case, GraphCase) or case.is_near_miss == is_near_miss for case in own_cases(module) + chosen):
            continue
        for source, version, name in compared[:40]:
            title = "this stays as it is" if is_near_miss else "this changes"
            case = Case(name, version, title, source, "")
            case = replace(case, expected=given(case) or "")
            if case.expected and case.is_near_miss == is_near_miss and case.expected.count("\n") <= LONGEST:
                found.append(case)
                break
    return found


def main() -> None:
    """Choose cases for modules and write them."""
    parser = argparse.ArgumentParser(description="Choose cases for the data files.")
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--rules", type=int, default=40, help="changed rules of a module, at random")
    parser.add_argument("--every", type=int, default=4, help="use one source of so many")
    parser.add_argument("--limit", type=float, default=8, help="seconds for a module")
    options = parser.parse_args()
    names = options.modules or [module for module in modules() if not file_of(module).exists()]
    ways = reached(corpus()[:: options.every])
    warnings.simplefilter("ignore")
    for module in names:
        rules = mutants(module)
        random.Random(module).shuffle(rules)
        if good_enough(module, rules[: options.rules]):
            continue
        found = choose(module, ways, rules[: options.rules], options.limit)
        if found:
            write(module, found)
        print(f"{module}: {len(found)} cases, {sum(case.is_near_miss for case in found)} near misses", flush=True)


if __name__ == "__main__":
    main()
