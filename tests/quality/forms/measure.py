"""Change each rule of the decompiler's modules, one at a time: how many faults do a module's own cases catch?

    python -m tests.quality.forms.measure                         # 30 rules of each module, at random
    python -m tests.quality.forms.measure --rules 0 structure/exits    # all rules, and those that are not caught

A fault is caught where a case gives another form, an error, or no end. A module's own cases are those of its data
file, those on graphs in `tests/decompiler/test_forms.py` that bear its name, and the test files that are named after
it: `test_telling_names.py` is of `passes/telling`.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import multiprocessing
import random
import sys
import types
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from benchmarks.interpreters import find
from tests.decompiler.test_forms import CASES
from tests.decompiler.test_forms import Case as GraphCase
from tests.quality.forms.cases import FOLDER, Case, cases, modules
from tests.quality.forms.compiling import compiled_piece
from tests.quality.forms.equivalent import parted
from tests.quality.forms.limits import Late, limited
from tests.quality.forms.mutants import Mutant, applied

FILE_LIMIT = 10.0
"""Seconds of a module's test files; they take less than two."""
NO_OWN = ("test_module_forms.py", "test_forms.py")
"""Files whose names begin as those of modules do."""


def given(case: Case | GraphCase) -> str | None:
    """Return what a case gives, or None for an error or no end."""
    try:
        with limited():
            return case.given(compiled_piece) if isinstance(case, Case) else case.given()
    except (Exception, Late):  # noqa: BLE001  a changed rule may raise anything, and that is a difference
        return None


@functools.cache
def called(case: Case | GraphCase) -> frozenset[tuple[str, int]]:
    """Return where the functions begin that a case calls."""
    places: set[tuple[str, int]] = set()

    def note(frame: types.FrameType, event: str, arg: object) -> None:
        if event == "call":
            places.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

    sys.setprofile(note)
    try:
        given(case)
    finally:
        sys.setprofile(None)
    return frozenset(places)


def caught(mutant: Mutant, case_list: Iterable[Case | GraphCase]) -> bool:
    """Return whether a case gives something else with a changed rule."""
    code = mutant.function.__code__
    calling = [case for case in case_list if (code.co_filename, code.co_firstlineno) in called(case)]
    with applied(mutant):
        return any(given(case) != (case.expected if isinstance(case, Case) else case.after) for case in calling)


def own_cases(module: str) -> list[Case | GraphCase]:
    """Return the cases of a module whose Pythons are on this machine."""
    name = module.rpartition("/")[2]
    there = [case for case in cases(module) if find(case.version)]
    return [*there, *(case for case in CASES if case.pass_name == name)]


def own_files(module: str) -> tuple[str, ...]:
    """Return the test files that are named after a module."""
    name = module.rpartition("/")[2]
    paths = FOLDER.parent.glob(f"test_{name}*.py")
    return tuple(sorted(str(path) for path in paths if path.name not in NO_OWN))


def passes(files: tuple[str, ...]) -> bool:
    """Return whether test files pass."""
    with contextlib.redirect_stdout(io.StringIO()):
        return pytest.main(["-x", "-q", "-p", "no:cacheprovider", *files]) == pytest.ExitCode.OK


def fails(mutant: Mutant, files: tuple[str, ...]) -> bool:
    """Return whether a test file fails with a changed rule, or does not end."""
    with applied(mutant):
        try:
            with limited(FILE_LIMIT):
                return not passes(files)
        except Late:
            return True


def is_caught(mutant: Mutant, case_list: Iterable[Case | GraphCase], files: tuple[str, ...]) -> bool:
    """Return whether the cases or the test files of a module catch a changed rule."""
    return caught(mutant, case_list) or (bool(files) and fails(mutant, files))


@dataclass(frozen=True)
class Wanted:
    """A module, how many of its rules (0: all) and the seed that draws them."""

    module: str
    rules: int
    seed: int


@dataclass(frozen=True)
class Measured:
    """How many rules of a module were changed, how many of them were missed, and how many give the same."""

    rules: int
    missed: int
    same: int


def measured(wanted: Wanted) -> Measured:
    """Change rules of a module and print how many its own cases catch."""
    warnings.simplefilter("ignore")
    rules, same = parted(wanted.module)
    if wanted.rules:
        random.Random(f"{wanted.seed} {wanted.module}").shuffle(rules)
        del rules[wanted.rules :]
    case_list, files = own_cases(wanted.module), own_files(wanted.module)
    missed = [mutant for mutant in rules if not is_caught(mutant, case_list, files)]
    wrong = [mutant for mutant in same if not wanted.rules and is_caught(mutant, case_list, files)]
    assert not files or passes(files), files  # At the end: what is cached by then would hide changed rules.
    text = f"{wanted.module:36} {len(case_list):3} cases  {len(rules) - len(missed):4} of {len(rules):4}\n"
    if not wanted.rules:
        text += "".join(f"    {mutant.line}: {mutant}\n" for mutant in missed)
    text += "".join(f"    {mutant.line}: {mutant}: said to give the same, and caught\n" for mutant in wrong)
    print(text, end="", flush=True)
    return Measured(len(rules), len(missed), len(same))


def main() -> None:
    """Print one line for each module, and the whole."""
    parser = argparse.ArgumentParser(description="Count the faults that each module's own cases catch.")
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--rules", type=int, default=30, help="changed rules of a module, at random; 0: all, shown")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    wanted = [Wanted(module, options.rules, options.seed) for module in options.modules or modules()]
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        results = [result for result in pool.map(measured, wanted, chunksize=1) if result.rules]
    total, held = sum(result.rules for result in results), sum(result.rules - result.missed for result in results)
    enough = sum(10 * (result.rules - result.missed) >= 9 * result.rules for result in results)
    share = 100 * held / max(total, 1)
    print(f"caught {held} of {total} ({share:.1f} %); at least 90 % in {enough} of {len(results)} modules")
    print(f"not counted, as they give the same (see equivalent.txt): {sum(result.same for result in results)}")


if __name__ == "__main__":
    main()
