"""Choose cases for the data files: for each changed rule that no case catches, a small function that does.

    python -m tests.quality.forms.choose structure/exits lift/phis      # or all modules
    python -m tests.quality.forms.choose --every 10 structure/exits

What is chosen is made smaller, as long as it still catches its rule. It shows how the decompiler works today: read it
before you commit it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import pickle
import warnings
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from depyf.bytecode.code import Version
from depyf.decompiler.pipeline.run import decompile
from depyf.decompiler.show.check.passes import Checks
from depyf.decompiler.steps import recording
from tests.decompiler.test_forms import Case as GraphCase
from tests.quality.forms.around import MADE_ANEW, SOURCE, forms
from tests.quality.forms.cases import Case, cases, modules, write
from tests.quality.forms.changes import MARK as CHANGES
from tests.quality.forms.compiling import compiled_or_none, compiled_piece
from tests.quality.forms.corpus import corpus
from tests.quality.forms.equivalent import parted
from tests.quality.forms.limits import Late, limited, seconds
from tests.quality.forms.measure import caught, given, own_cases
from tests.quality.forms.mutants import Mutant, applied
from tests.quality.forms.operations import MARK, listings_for
from tests.quality.forms.reach import Way, Ways, changed_keys, noting, reached, setting_of, ways_of
from tests.quality.forms.smaller import smaller

LONGEST = 45
"""Lines of a case."""
PROCESSES = 2


LATE = ["no end"]


def after(way: Way) -> list[str] | None:
    """Return what a pass gives, None for an error, or LATE for no end."""
    source, version, name = way
    try:
        with limited():
            return [form for _, form in forms(compiled_piece(source, version), name, with_before=False)]
    except Late:
        return LATE
    except Exception:  # noqa: BLE001  a changed rule may raise anything, and that is a difference
        return None


def is_sound(source: str, version: Version) -> bool:
    """Return whether operations are decompiled as checked mode wants it."""
    code = compiled_piece(source, version)
    try:
        with limited(), recording(Checks()), warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            decompile(code, listings=listings_for(code))
    except (Exception, Late):  # noqa: BLE001  they may be anything
        return False
    return True


def tells(case: Case, mutant: Mutant) -> bool:
    """Return whether a case gives something else with a changed rule."""
    with applied(mutant):
        return given(case) != case.expected


@dataclass
class Chooser:
    """Chooses the cases of one module; `first` holds what unchanged rules give."""

    module: str
    ways: Ways
    tries: int = 36
    chosen: list[Case] = field(default_factory=list)
    first: dict[Way, list[str] | None] = field(default_factory=dict)

    def choose(self, limit: float) -> tuple[int, int]:
        """Choose cases that catch more of the changed rules; return how many were not caught, and are not."""
        cases_of_module = own_cases(self.module)
        missed = [mutant for mutant in parted(self.module)[0] if not caught(mutant, cases_of_module)]
        begun, left = seconds(), 0
        # What shows a rule that few sources show often shows others.
        waiting = sorted(missed, key=lambda mutant: -len(self.ways.get(mutant.key, ())))
        while waiting:
            mutant = waiting.pop()
            caught_by = self.catching(mutant) if seconds() - begun < limit else []
            left += not caught_by
            for case in caught_by:
                self.chosen.append(case)
                waiting = self.not_caught(waiting, case)
        return len(missed), left

    def not_caught(self, rules: list[Mutant], case: Case) -> list[Mutant]:
        """Return those changed rules that a case does not catch."""
        with noting([self.module]) as noted:
            if CHANGES in case.source:
                shown = set(changed_keys(noted, case.source, case.version, case.name))
            else:
                shown = {key for key, _ in ways_of(noted, case.source, case.version, [setting_of(case.name)])}
        return [mutant for mutant in rules if mutant.key not in shown or not tells(case, mutant)]

    def catching(self, mutant: Mutant) -> list[Case]:
        """Return a small case that catches a changed rule, or none."""
        ways = self.ways.get(mutant.key, [])
        rest = ways[self.tries // 2 :]
        sampled = [*ways[: self.tries // 2], *rest[:: 1 + 2 * len(rest) // self.tries]]
        taken = (self.taken(mutant, way, with_text=number % 4 == 0) for number, way in enumerate(sampled))
        return next(filter(None, taken), [])

    def taken(self, mutant: Mutant, way: Way, *, with_text: bool = True) -> list[Case]:
        """Return the small case that a source gives, or none.

        with_text: look at the text too where the form is the same: a rule may show behind its own pass alone.
        """
        text = (*way[:2], SOURCE)
        differs = self.differs(way, mutant)
        ways = [way] * differs + [text] * (text != way and (differs or with_text) and self.differs(text, mutant))
        cases_of_ways = [self.case(mutant, way) for way in ways]
        for case in sorted((case for case in cases_of_ways if case is not None), key=lambda case: len(str(case))):
            small = self.smallest(mutant, case) if tells(case, mutant) else None
            if small is not None and str(small).count("\n") <= LONGEST:
                return [small]
        return []

    def smallest(self, mutant: Mutant, case: Case) -> Case:
        """Return a case of a smaller source that catches a changed rule as well, or the case itself."""

        def still(source: str) -> bool:
            return self.differs((source, case.version, case.name), mutant)

        with applied(mutant):
            if after((case.source, case.version, case.name)) is LATE:
                return case  # Each try would take as long.
        for source in smaller(case.source, still):
            other = self.case(mutant, (source, case.version, case.name))
            if other is not None and tells(other, mutant):
                case = other
        return case

    def differs(self, way: Way, mutant: Mutant) -> bool:
        """Return whether a changed rule gives another form."""
        if way not in self.first:
            self.first[way] = after(way) if compiled_or_none(*way[:2]) is not None else None
        if self.first[way] in (None, LATE):
            return False
        with applied(mutant):
            return after(way) != self.first[way]

    def case(self, mutant: Mutant, way: Way) -> Case | None:
        """Return the case that a source makes, if it gives a form."""
        source, version, name = way
        if MARK in source and not is_sound(source, version):
            return None
        case = Case(name, version, str(mutant).replace("\n", " ")[:90], source, "")
        expected = given(case)
        return replace(case, expected=expected) if expected else None


def both_kinds(module: str, ways: Ways, chosen: list[Case]) -> list[Case]:
    """Return a near miss and a change, each where there is none yet and a small source gives one."""
    run = {way for key, of_rule in ways.items() if key[0] == module for way in of_rule}
    compared = [way for way in sorted(run, key=lambda way: (len(way[0]), way)) if way[2] not in (*MADE_ANEW, SOURCE)]
    cases_found = []
    for is_near_miss in (True, False):
        if any(isinstance(case, GraphCase) or case.is_near_miss == is_near_miss for case in own_cases(module) + chosen):
            continue
        for source, version, name in compared[:40]:
            title = "this stays as it is" if is_near_miss else "this changes"
            case = Case(name, version, title, source, "")
            case = replace(case, expected=given(case) or "")
            if case.expected and case.is_near_miss == is_near_miss and case.expected.count("\n") <= LONGEST:
                cases_found.append(case)
                break
    return cases_found


def _reached(sources: list[tuple[str, Version]]) -> Ways:
    warnings.simplefilter("ignore")
    return dict(reached(sources))


def known_ways(file: Path | None, every: int) -> Ways:
    """Return the ways that a file holds; write it where there is none."""
    if file is not None and file.exists():
        return pickle.loads(file.read_bytes())
    sources = corpus()[::every]
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        parts = pool.map(_reached, [sources[number::PROCESSES] for number in range(PROCESSES)], chunksize=1)
    ways = merged(parts)
    if file is not None:
        file.write_bytes(pickle.dumps(ways))
    return ways


def merged(parts: Iterable[Ways]) -> Ways:
    """Return the ways of all parts, short sources first."""
    by_rule: Ways = defaultdict(list)
    for part in parts:
        for key, ways in part.items():
            by_rule[key] += ways
    return {key: sorted(ways, key=lambda way: (len(way[0]), way)) for key, ways in by_rule.items()}


def main() -> None:
    """Choose cases for modules and write them."""
    parser = argparse.ArgumentParser(description="Choose cases for the data files.")
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--every", type=int, default=1, help="use one source of so many")
    parser.add_argument("--tries", type=int, default=36, help="sources to try for a rule")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a module")
    parser.add_argument("--ways", type=Path, help="file that keeps which sources show which rule")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    ways = known_ways(options.ways, options.every)
    for module in options.modules or modules():
        chooser = Chooser(module, ways, options.tries)
        missed, left = chooser.choose(options.limit)
        new_cases = [*chooser.chosen, *both_kinds(module, ways, chooser.chosen)]
        if new_cases:
            write(module, [*cases(module), *new_cases])
        print(f"{module}: {missed} not caught, now {left}; {len(new_cases)} cases more", flush=True)


if __name__ == "__main__":
    main()
