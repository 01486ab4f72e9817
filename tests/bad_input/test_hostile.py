"""Files that are built to be expensive: each family gives a text or one error, in time that grows with the size."""

from __future__ import annotations

import random
import time

import pytest

from depyf.api import decompile_module_pyc, load_pyc
from depyf.decompiler.module import module_source
from depyf.errors import DecompilationError
from tests.quality.bad_input.expensive import EXACT, FAULT, File, Spent, drawn, exponent, spend
from tests.quality.bad_input.hostile import FAMILIES
from tests.quality.bad_input.written import VERSIONS, Assembler, Written, facts_for

SMALL, LARGE = 2 << 10, 16 << 10
QUADRATIC = 2 * LARGE / SMALL
"""What the time may grow to: half of what it grows by where each byte is compared with each, and then some."""


@pytest.mark.parametrize("family", FAMILIES)
def test_time_grows_with_the_size(family: str) -> None:
    version = VERSIONS[len(family) % len(VERSIONS)]
    spend(File(family, SMALL, version))  # The version's tables are read once.
    for _ in range(3):  # The collector, which looks at all that other tests have left, may come in between.
        small, large = spend(File(family, SMALL, version)), spend(File(family, LARGE, version))
        assert FAULT not in (small.outcome, large.outcome), large.detail
        if large.seconds < max(QUADRATIC * small.seconds, 3 * EXACT):
            return
    raise AssertionError(f"{small} but {large}")


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_put_together_by_hand_is_what_python_reads(version: tuple[int, int]) -> None:
    lines = Assembler(facts_for(version))
    lines.load()
    lines.branch("behind")
    lines.const(1)
    lines.store(1)
    lines.label("behind")
    data = Written(lines.end(), consts=(None, (2**70, -1.5, "ü", b"x", True)), names=("a", "b")).file(lines.facts)
    assert module_source(load_pyc(data)) == f"if a:\n    b = ({2**70}, -1.5, 'ü', b'x', True)\n"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_file_is_of_the_size_that_was_asked_for(family: str) -> None:
    facts = facts_for((3, 13))
    sizes = [len(FAMILIES[family](size, random.Random(0), facts)) for size in (SMALL, LARGE)]
    assert LARGE / 3 < sizes[1] < 2 * LARGE
    assert sizes[1] > 3 * sizes[0]


def test_a_condition_of_many_levels_is_text_that_compiles() -> None:
    data = FAMILIES["conditions_to_the_end"](1 << 14, random.Random(1), facts_for((3, 13)))
    compile(module_source(load_pyc(data)), "m.py", "exec", dont_inherit=True)


def test_a_set_whose_members_have_one_hash_is_refused() -> None:
    data = FAMILIES["colliding_set"](1 << 12, random.Random(0), facts_for((3, 13)))
    with pytest.raises(DecompilationError, match="members of a set have one hash"):
        decompile_module_pyc(data)


def test_the_exponent_is_that_of_the_time() -> None:
    points = [Spent("text", "", size, size * size / 1e6, 0) for size in (1000, 2000, 4000, 8000)]
    assert exponent(points) == pytest.approx(2)
    assert exponent(points[:2]) is None
    assert exponent([Spent("text", "", 1000 * step, EXACT / 2, 0) for step in range(1, 9)]) is None


def test_files_are_drawn_from_the_smallest_to_the_largest() -> None:
    files = drawn(40, 1 << 20, ["nops", "noise"])
    assert len(files) == 40
    assert (files[0].size, files[-1].size) == (1 << 12, 1 << 20)
    assert {file.version for file in files} == set(VERSIONS)


def test_a_time_is_that_of_the_processor() -> None:
    start = time.process_time()
    spent = spend(File("statements", SMALL, (3, 13)))
    assert 0 < spent.seconds <= time.process_time() - start
