"""Choose cases for the data files: for each changed rule that no case catches, the smallest function that does.

    python -m tools.forms.choose structure/exits lift/phis      # or all modules
    python -m tools.forms.choose --rules 60 --every 10 structure/exits

What is chosen is made smaller, as long as it still catches its rule. It shows how the decompiler works today: read it
before you commit it.
"""

from __future__ import annotations

import argparse
import pickle
import random
import sys
import types
import warnings
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from depyf.bytecode.code import Code, Version
from depyf.decompiler.lift.simplify import Known
from depyf.decompiler.pipeline.run import decompile
from depyf.decompiler.pipeline.table import BUILD, SCOPES
from depyf.decompiler.pipeline.work import Work
from depyf.decompiler.steps import recording
from depyf.errors import DecompilationError
from depyf.verify.candidate.oracle import NotCompiled
from tests.decompiler.test_forms import Case as GraphCase
from tools.forms.around import KNOWN, MADE_ANEW, SOURCE, forms
from tools.forms.cases import DECOMPILER, PACKAGES, Case, cases, modules, write
from tools.forms.compiling import compiled_piece
from tools.forms.corpus import corpus
from tools.forms.measure import Late, caught, given, limited, own_cases, seconds
from tools.forms.mutants import Mutant, applied, mutants
from tools.forms.smaller import smaller

Way = tuple[str, Version, str]
"""A source, the Python that compiles it, and the pass to look at."""
Ways = dict[tuple[str, int], list[Way]]
MOST_WAYS = 200
TRIES = 44
LONGEST = 60
"""Lines of a case."""
MOST_LINES = 490
"""Lines of a data file."""
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


def reached(sources: Iterable[tuple[str, Version]]) -> Ways:
    """Return, by line of the decompiler, small sources that run it, and in which pass."""
    files = frozenset(str(path) for package in PACKAGES for path in (DECOMPILER / package).rglob("*.py"))
    found: Ways = defaultdict(list)
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
            for (file, at), name in lines.found.items():
                ways = found[str(Path(file).relative_to(DECOMPILER)), at]
                if len(ways) < MOST_WAYS or number % 20 == 0:
                    ways.append((source, version, name))
    return found


def compiled(source: str, version: Version) -> Code | None:
    """Return the code of a source, or None where that Python does not take it."""
    try:
        return compiled_piece(source, version)
    except (DecompilationError, NotCompiled, SyntaxError, RuntimeError, ValueError, pytest.skip.Exception):
        return None


def tried(ways: list[Way]) -> list[Way]:
    """Return the smallest sources and some of the others, evenly."""
    rest = ways[TRIES // 2 :]
    return [*ways[: TRIES // 2], *rest[:: 1 + 2 * len(rest) // TRIES]]


def after(way: Way) -> list[str] | None:
    """Return what a pass gives, or None for an error or no end."""
    source, version, name = way
    try:
        with limited():
            return [each for _, each in forms(compiled_piece(source, version), name, with_before=False)]
    except (Exception, Late):  # noqa: BLE001  a changed rule may raise anything, and that is a difference
        return None


@dataclass
class Chooser:
    """Chooses the cases of one module; `first` holds what unchanged rules give."""

    module: str
    ways: Ways
    chosen: list[Case]
    first: dict[Way, list[str] | None] = field(default_factory=dict)

    def choose(self, rules: list[Mutant], limit: float) -> None:
        """Add cases that catch more of the changed rules."""
        graphs = [case for case in own_cases(self.module) if isinstance(case, GraphCase)]
        begun = seconds()
        for mutant in rules:
            if seconds() - begun > limit or self.is_full:
                break
            if caught(mutant, [*self.chosen, *graphs]):
                continue
            self.chosen.extend(self.catching(mutant))

    @property
    def is_full(self) -> bool:
        """Whether the data file is as long as a file may be."""
        return sum(str(case).count("\n") + 1 for case in self.chosen) > MOST_LINES

    def catching(self, mutant: Mutant) -> list[Case]:
        """Return a small case that catches a changed rule, or none."""
        ways = tried(self.ways.get((f"{self.module}.py", mutant.line), []))
        # A rule may show behind its own pass alone.
        texts = [(source, version, SOURCE) for source, version, name in ways[::3] if name != SOURCE]
        for way in [*ways, *texts]:
            if not self.differs(way, mutant):
                continue
            case = self.case(mutant, way)
            if case is None or not caught(mutant, [case]):
                continue
            case = self.smallest(mutant, case)
            if str(case).count("\n") <= LONGEST:
                return [case]
        return []

    def smallest(self, mutant: Mutant, case: Case) -> Case:
        """Return a case of a smaller source that catches a changed rule as well, or the case itself."""

        def still(source: str) -> bool:
            return self.differs((source, case.version, case.name), mutant)

        for source in smaller(case.source, still):
            other = self.case(mutant, (source, case.version, case.name))
            if other is not None and caught(mutant, [other]):
                case = other
        return case

    def differs(self, way: Way, mutant: Mutant) -> bool:
        """Return whether a changed rule gives another form."""
        if way not in self.first:
            self.first[way] = after(way) if compiled(*way[:2]) is not None else None
        if self.first[way] is None:
            return False
        with applied(mutant):
            return after(way) != self.first[way]

    def case(self, mutant: Mutant, way: Way) -> Case | None:
        """Return the case that a source makes, if it gives a form."""
        source, version, name = way
        case = Case(name, version, str(mutant).replace("\n", " ")[:90], source, "")
        expected = given(case)
        return replace(case, expected=expected) if expected else None


def good_enough(module: str, rules: list[Mutant]) -> bool:
    """Return whether the cases of a module catch 19 of 20 changed rules."""
    own = own_cases(module)
    return bool(own) and 20 * sum(caught(mutant, own) for mutant in rules) >= 19 * len(rules)


def both_kinds(module: str, ways: Ways, chosen: list[Case]) -> list[Case]:
    """Return a near miss and a change, each where there is none yet and a small source gives one."""
    run = {way for (path, _), found in ways.items() if path == f"{module}.py" for way in found}
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


def known_ways(file: Path | None, every: int) -> Ways:
    """Return the ways that a file holds; write it where there is none."""
    if file is not None and file.exists():
        return pickle.loads(file.read_bytes())
    ways = reached(corpus()[::every])
    if file is not None:
        file.write_bytes(pickle.dumps(dict(ways)))
    return ways


def main() -> None:
    """Choose cases for modules and write them."""
    parser = argparse.ArgumentParser(description="Choose cases for the data files.")
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--rules", type=int, default=400, help="changed rules of a module, at random")
    parser.add_argument("--every", type=int, default=4, help="use one source of so many")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a module")
    parser.add_argument("--ways", type=Path, help="file that keeps which source runs which line")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    ways = known_ways(options.ways, options.every)
    for module in options.modules or modules():
        rules = mutants(module)
        random.Random(module).shuffle(rules)
        if good_enough(module, rules[: options.rules]):
            continue
        chooser = Chooser(module, ways, cases(module))
        chooser.choose(rules[: options.rules], options.limit)
        found = [*chooser.chosen, *both_kinds(module, ways, chooser.chosen)]
        if found:
            write(module, found)
        print(f"{module}: {len(found)} cases, {sum(case.is_near_miss for case in found)} near misses", flush=True)


if __name__ == "__main__":
    main()
