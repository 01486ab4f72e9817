"""A torch that is newer than all that are known."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.torch.adapters import versions  # noqa: E402
from tests.torch import programs  # noqa: E402


@pytest.mark.parametrize(("version", "known"), [("2.2.2+cu121", True), ("2.15.0", True), ("2.16.0a0+git", False)])
def test_which_versions_are_known(version: str, known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", version)
    versions.unknown_version.cache_clear()
    assert (versions.unknown_version() == "") == known
    versions.unknown_version.cache_clear()


def test_a_newer_torch_works_and_is_told_of_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "99.1.0")
    versions.unknown_version.cache_clear()
    torch._dynamo.reset()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for name in ("first", "second"):
                with depyf.prepare_debug(tmp_path / name):
                    torch.compile(programs.straight, backend="eager")(torch.ones(3))
    finally:
        versions.unknown_version.cache_clear()
    assert sum("99.1.0" in str(warning.message) for warning in caught) == 1
    assert list((tmp_path / "first").glob("__transformed_code_*.py"))
