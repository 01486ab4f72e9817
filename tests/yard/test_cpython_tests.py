"""CPython's tests over decompiled modules: the tool sees what is lost, and nothing is where nothing should be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.cpython_tests import overlay
from benchmarks.cpython_tests.__main__ import main
from benchmarks.cpython_tests.runs import pair

pytest.importorskip("test.test_bisect", reason="this Python comes without CPython's tests")


def test_a_decompiled_module_passes_the_tests_of_the_original(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([sys.executable, "bisect"]) == 0
    assert "1 files replaced, 0 not decompiled; tests lost: 0" in capsys.readouterr().out


def test_a_wrong_module_loses_tests(tmp_path: Path) -> None:
    originals, ours = tmp_path / "originals", tmp_path / "ours"
    files = overlay.sources(overlay.stdlib(sys.executable), "bisect")
    for folder in (originals, ours):
        overlay.copy_originals(overlay.stdlib(sys.executable), files, folder)
    module = ours / "bisect.py"
    module.write_text(module.read_text().replace("if x < a[mid]:", "if x <= a[mid]:"))
    outcome = pair(sys.executable, originals, ours, "test_bisect", 60)
    assert outcome.ours.replaced > 0
    assert any("PurePython" in test or "Python" in test for test in outcome.lost)
    assert outcome.control.passed > outcome.ours.passed
