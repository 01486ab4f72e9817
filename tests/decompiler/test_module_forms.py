"""Each module of `structure/`, `lift/` and `passes/` has tests of its own: the cases in `tests/decompiler/forms`.

    python -m tests.quality.forms.choose structure/exits      chooses cases for a module
    python -m tests.quality.forms.search structure/exits      varies sources and forms where none tells a rule
    python -m tests.quality.forms.measure structure/exits     says how many changed rules they catch
    python -m tests.decompiler.test_module_forms      writes what the passes give into the files; read the difference
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests import interpreters
from tests.decompiler.test_forms import CASES, PASSES, TREES
from tests.quality.forms.around import MADE_ANEW, SOURCE
from tests.quality.forms.cases import FOLDER, Case, cases, files_of, modules, write
from tests.quality.forms.changes import NoForm
from tests.quality.forms.compiling import compiled_piece
from tests.quality.forms.equivalent import reasons
from tests.quality.forms.mutants import applied, mutants

TESTS = Path(__file__).resolve().parent.parent
WITH_CASES = [module for module in modules() if cases(module)]
FILES = [
    pytest.param(module, version, id=f"{module}-{interpreters.label(version)}")
    for module in WITH_CASES
    for version in sorted({case.version for case in cases(module)})
]


@pytest.mark.parametrize(("module", "version"), FILES)
def test_a_pass_gives_what_stands_in_the_file(module: str, version: tuple[int, int]) -> None:
    interpreters.need(version)
    of_version = [case for case in cases(module) if case.version == version]
    assert [given(case) for case in of_version] == [f"{case.title}\n{case.expected}" for case in of_version]


WITHOUT_NEAR_MISS = frozenset(
    (
        "lift/simplify/reload",
        "passes/class_body",
        "passes/flow/loop_tails",
        "passes/private_names",
        "structure/chains",
        "structure/one_return",
        "structure/patterns/junk",
        "structure/regions/async_for",
        "structure/regions/same",
        "structure/regions/split",
        "structure/same_tails",
        "structure/trampoline",
    )
)
"""Modules whose cases all change a form. Most are run by passes that change all that they run on."""
COMPARED = [
    module for module in WITH_CASES if any(case.name not in (*MADE_ANEW, SOURCE) for case in cases(module))
]


def has_near_miss(module: str) -> bool:
    """Return whether a pass leaves a form of a module's cases as it is."""
    return module.rpartition("/")[2] in (*PASSES, *TREES) or any(case.is_near_miss for case in cases(module))


def test_each_module_that_changes_a_form_has_a_near_miss() -> None:
    assert {module for module in COMPARED if not has_near_miss(module)} == WITHOUT_NEAR_MISS


def given(case: Case) -> str:
    return f"{case.title}\n{case.given(compiled_piece)}"


def imported() -> set[str]:
    """Return the modules that a test file imports from."""
    names: set[str] = set()
    for path in TESTS.rglob("*.py"):
        for name in re.findall(r"^from depyf\.decompiler\.([\w.]+) import", path.read_text(encoding="utf-8"), re.M):
            names.add(name.replace(".", "/"))
    return names


def untested() -> list[str]:
    """Return the modules with rules that no test file imports and no data file is named after."""
    direct = imported() | set(WITH_CASES)
    return [module for module in modules() if module not in direct and mutants(module)]


def test_each_module_is_tested_directly() -> None:
    assert untested() == []


def test_each_change_that_gives_the_same_is_one() -> None:
    modules_named = {module for module, _ in reasons()}
    every = {(module, str(mutant)) for module in modules_named for mutant in mutants(module)}
    assert reasons().keys() - every == set()


def test_each_data_file_is_of_a_module() -> None:
    assert set(FOLDER.glob("*/**/*.txt")) == {path for module in modules() for path in files_of(module)}


def test_a_changed_rule_is_caught() -> None:
    (mutant,) = [mutant for mutant in mutants("structure/exits") if str(mutant) == "join_exits, return"]
    of_pass = [case for case in CASES if case.pass_name == "exits"]
    assert all(case.given() == case.after for case in of_pass)
    with applied(mutant):
        assert any(case.given() != case.after for case in of_pass)
    assert all(case.given() == case.after for case in of_pass)


def test_names_of_passes_are_told_apart() -> None:
    assert not set(PASSES) & set(TREES)


def rewrite() -> None:
    """Write what the passes give into the files; leave out what changes a form that is no longer there, and say so."""
    for module in WITH_CASES:
        cases_given = []
        for case in cases(module):
            try:
                cases_given.append(replace(case, expected=case.given(compiled_piece)))
            except NoForm:
                print(f"{module}: no form any more: {case.title}")
        write(module, cases_given)


if __name__ == "__main__":
    rewrite()
