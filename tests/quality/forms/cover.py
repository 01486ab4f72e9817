"""Keep the fewest lines of the data files that catch the same changed rules.

    python -m tests.quality.forms.cover [--write] [structure/exits ...]      # or all modules

Each changed rule is tried with each case of its module. Cases on graphs stay; of the others, those that catch most
rules a line are kept until all are caught that were. A module keeps a change and a near miss if it had them. Prints
cases and lines before and after, and writes the files on request. All Pythons of the cases must be at hand.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from benchmarks.interpreters import find
from tests.quality.forms.around import MADE_ANEW, SOURCE
from tests.quality.forms.cases import FOLDER, Case, cases, modules, write
from tests.quality.forms.equivalent import parted
from tests.quality.forms.measure import called, given, own_cases
from tests.quality.forms.mutants import applied


def kills(module: str) -> list[frozenset[int]]:
    """Return for each of a module's own cases the numbers of the changed rules that it catches."""
    cases_of_module = own_cases(module)
    wanted = [case.expected if isinstance(case, Case) else case.after for case in cases_of_module]
    caught: list[set[int]] = [set() for _ in cases_of_module]
    for number, mutant in enumerate(parted(module)[0]):
        code = mutant.function.__code__
        place = (code.co_filename, code.co_firstlineno)
        calling = [index for index, case in enumerate(cases_of_module) if place in called(case)]
        with applied(mutant):
            for index in calling:
                if given(cases_of_module[index]) != wanted[index]:
                    caught[index].add(number)
    return [frozenset(numbers) for numbers in caught]


def cover(caught: Mapping[int, AbstractSet[int]], lines: Mapping[int, int], needed: AbstractSet[int]) -> set[int]:
    """Return few cases that catch all needed rules.

    Args:
        caught: The rules that each case catches.
        lines: The length of each case.
        needed: The rules to catch; each is caught by a case.

    >>> sorted(cover({0: {1}, 1: {1, 2}, 2: {3}}, {0: 1, 1: 2, 2: 1}, {1, 2, 3}))
    [1, 2]
    """
    kept: list[int] = []
    missing = set(needed)
    while missing:
        best = max(caught, key=lambda case: (len(caught[case] & missing) / lines[case], -case))
        kept.append(best)
        missing -= caught[best]
    for case in sorted(kept, key=lambda case: -lines[case]):
        others = {rule for other in kept if other != case for rule in caught[other]}
        if needed <= others:
            kept.remove(case)
    return set(kept)


def smallest(module: str, data: list[Case], caught: list[frozenset[int]]) -> list[Case]:
    """Return the cases of a module's data files to keep; `caught` goes on with its cases on graphs."""
    free = {rule for numbers in caught[len(data) :] for rule in numbers}
    lines = {number: str(case).count("\n") + 1 for number, case in enumerate(data)}
    needed = {rule for numbers in caught for rule in numbers} - free
    kept = cover(dict(enumerate(caught[: len(data)])), lines, needed)
    compared = [number for number, case in enumerate(data) if case.name not in (*MADE_ANEW, SOURCE)]
    changing = [number for number in compared if not data[number].is_near_miss]
    near = [number for number in compared if data[number].is_near_miss]
    for kind in (changing, near, list(lines)):
        if kind and kept.isdisjoint(kind):
            kept.add(min(kind, key=lambda number: (lines[number], number)))
    return [case for number, case in enumerate(data) if number in kept]


def main() -> None:
    """Print one line for each module, and the lines of all data files."""
    parser = argparse.ArgumentParser(description="Keep the fewest lines of cases that catch the same changed rules.")
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--write", action="store_true", help="write the data files")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for module in options.modules or modules():
        data = cases(module)
        absent = sorted({case.version for case in data if find(case.version) is None})
        if not data or absent:
            print(f"{module}: {f'no Python of {absent}' if absent else 'no cases'}")
            continue
        caught = kills(module)
        kept = smallest(module, data, caught)
        before, after = (sum(str(case).count("\n") + 1 for case in part) for part in (data, kept))
        rules = len({rule for numbers in caught for rule in numbers})
        print(f"{module}: {len(data)} cases, {before} lines; {len(kept)}, {after} catch the same {rules}", flush=True)
        if options.write:
            write(module, kept)
    whole = sum(path.read_text(encoding="utf-8").count("\n") for path in FOLDER.rglob("*.txt"))
    print(f"all data files: {whole} lines")


if __name__ == "__main__":
    main()
