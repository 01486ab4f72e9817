"""The suites of packages: which tests pass with an overlay, and that ours is what they run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.packages.suites import Suite, is_replaced, laid, passed

SUITE = Suite("shop==1.0", ("shop",))
PYTHON = Path(sys.executable)
TESTS = """
import shop

def test_total():
    assert shop.total([1, 2]) == 3

def test_fails():
    assert shop.total([]) == 1
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    source = tmp_path / "source"
    (source / "src/shop").mkdir(parents=True)
    (source / "src/shop/__init__.py").write_text("def total(prices):\n    return sum(prices)  # of all\n")
    (source / "tests").mkdir()
    (source / "tests/test_shop.py").write_text(TESTS)
    folder = tmp_path / "work"
    folder.mkdir()
    assert laid(SUITE, source, PYTHON, folder) == (1, {})
    return folder


def test_both_overlays_run_the_same_tests(work: Path) -> None:
    assert passed(PYTHON, work, "originals") == passed(PYTHON, work, "ours") == {"tests.test_shop::test_total"}
    assert (work / "ours/shop/__init__.py").read_text() == "def total(prices):\n    return sum(prices)\n"
    assert is_replaced(SUITE, PYTHON, work)


def test_a_test_that_ours_breaks_is_not_among_those_that_pass(work: Path) -> None:
    (work / "ours/shop/__init__.py").write_text("def total(prices):\n    return 0\n")
    assert passed(PYTHON, work, "ours") == set()


def test_a_package_that_is_not_imported_from_ours_is_told(work: Path) -> None:
    (work / "ours/shop/__init__.py").unlink()
    (work / "ours/shop").rmdir()
    assert not is_replaced(SUITE, PYTHON, work)
