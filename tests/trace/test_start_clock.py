"""Imports are measured, exclusive by package; a failing import looks as it does without the clock."""

from __future__ import annotations

import sys
import textwrap
import traceback
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from depyf.trace.start_clock import PYTHON, StartClock


@pytest.fixture
def clock() -> Iterator[StartClock]:
    start_clock = StartClock()
    start_clock.begin()
    yield start_clock
    start_clock.end()


def _write(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")


def test_a_package_has_its_own_time_without_what_it_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks: list[int] = []
    monkeypatch.setitem(sys.modules, "ticks_of_clock", types.SimpleNamespace(wait=ticks.append))
    _write(tmp_path, "inner_of_clock", "import ticks_of_clock\nticks_of_clock.wait(80)\n")
    _write(tmp_path, "outer_of_clock", "import ticks_of_clock, inner_of_clock\nticks_of_clock.wait(20)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    start_clock = StartClock(now=lambda: sum(ticks))
    start_clock.begin()
    try:
        __import__("outer_of_clock")
    finally:
        start_clock.end()
    assert (start_clock.packages["inner_of_clock"], start_clock.packages["outer_of_clock"]) == (80, 20)


def test_a_module_of_python_counts_for_its_library(clock: StartClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "this", raising=False)
    monkeypatch.setattr("builtins.print", lambda *_: None)
    __import__("this")
    assert clock.packages[PYTHON] > 0


def test_imports_inside_a_compile_are_left_out(
    clock: StartClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, "inside_a_compile", "")
    monkeypatch.syspath_prepend(str(tmp_path))
    clock.is_elsewhere = lambda: True
    __import__("inside_a_compile")
    assert "inside_a_compile" not in clock.packages


@pytest.mark.parametrize("text", ["raise ValueError('in the module')\n", "import no_such_module_anywhere\n"])
def test_the_traceback_of_a_failing_import_has_no_frame_of_the_clock(
    clock: StartClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    _write(tmp_path, "fails_on_import", text)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises((ValueError, ImportError)) as caught:
        import fails_on_import  # type: ignore[import-not-found]  # noqa: F401
    names = [Path(frame.filename).name for frame in traceback.extract_tb(caught.tb)]
    assert names == [Path(__file__).name, "fails_on_import.py"]


def test_the_import_system_is_as_before_at_the_end() -> None:
    system = sys.modules["_frozen_importlib"]
    before = system._find_and_load  # type: ignore[attr-defined]
    clock = StartClock()
    clock.begin()
    assert system._find_and_load is not before  # type: ignore[attr-defined]
    clock.end()
    assert system._find_and_load is before  # type: ignore[attr-defined]
