"""Keep the fewest lines of the data files that catch the same changed rules.

    python -m tests.quality.forms.cover [--write] [structure/exits ...]      # or all modules

Each changed rule is tried with each case of its module, those on graphs and trees in the files of
`tests/decompiler/test_forms.py` included. Those that catch most rules a line are kept until all are caught that were. A
module keeps a change and a near miss in each kind of file if it had them. Prints cases and lines before and after, and
writes the files on request. All Pythons of the cases must be at hand.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from benchmarks.interpreters import find
from tests.decompiler.test_forms import FILES, written
from tests.decompiler.test_forms import Case as GraphCase
from tests.decompiler.test_forms import cases as graph_cases
from tests.quality.forms.around import MADE_ANEW, SOURCE, UNCHANGED
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


def length(case: Case | GraphCase) -> int:
    """Return the lines of a case in its file, with the empty one before it."""
    return (str(case) if isinstance(case, Case) else written(case)).count("\n") + 1


def smallest(all_cases: list[Case | GraphCase], caught: list[frozenset[int]]) -> list[Case | GraphCase]:
    """Return the cases of a module to keep; `caught` has the rules that each case catches."""
    lines = {number: length(case) for number, case in enumerate(all_cases)}
    kept = cover(dict(enumerate(caught)), lines, {rule for numbers in caught for rule in numbers})
    kinds: dict[tuple[type, bool | None], list[int]] = {}
    for number, case in enumerate(all_cases):
        kinds.setdefault((type(case), None), []).append(number)
        if isinstance(case, GraphCase):
            kinds.setdefault((GraphCase, case.after == f"{UNCHANGED}\n"), []).append(number)
        elif case.name not in (*MADE_ANEW, SOURCE):
            kinds.setdefault((Case, case.is_near_miss), []).append(number)
    for numbers in sorted(kinds.values(), key=len):
        if kept.isdisjoint(numbers):
            kept.add(min(numbers, key=lambda number: (lines[number], number)))
    return [case for number, case in enumerate(all_cases) if number in kept]


def write_graphs(kept: Mapping[str, set[GraphCase]]) -> None:
    """Write the files of cases on graphs and trees; `kept` has those to keep by the names of their passes."""
    for file in FILES:
        left = [case for case in graph_cases(file) if case in kept.get(case.pass_name, {case})]
        if left:
            file.write_text("\n".join(map(written, left)), encoding="utf-8")
        else:
            file.unlink()


def main() -> None:
    """Print one line for each module, and the lines of all data files."""
    parser = argparse.ArgumentParser(description="Keep the fewest lines of cases that catch the same changed rules.")
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--write", action="store_true", help="write the data files")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    graphs: dict[str, set[GraphCase]] = {}
    for module in options.modules or modules():
        data, of_module = cases(module), own_cases(module)
        absent = sorted({case.version for case in data if find(case.version) is None})
        if not of_module or absent:
            print(f"{module}: {f'no Python of {absent}' if absent else 'no cases'}")
            continue
        caught = kills(module)
        kept = smallest(of_module, caught)
        before, after = (sum(map(length, part)) for part in (of_module, kept))
        rules = len({rule for numbers in caught for rule in numbers})
        sizes = f"{len(of_module)} cases, {before} lines; {len(kept)}, {after}"
        print(f"{module}: {sizes} catch the same {rules}", flush=True)
        name = module.rpartition("/")[2]
        graphs.setdefault(name, set()).update(case for case in kept if isinstance(case, GraphCase))
        if options.write:
            write(module, [case for case in kept if isinstance(case, Case)])
    if options.write:
        write_graphs(graphs)
    whole = sum(path.read_text(encoding="utf-8").count("\n") for path in FOLDER.rglob("*.txt"))
    print(f"all data files: {whole} lines")


if __name__ == "__main__":
    main()
