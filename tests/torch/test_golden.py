"""What the dump shows of some programs, held as files: `python -m scripts.golden` writes them again."""

from __future__ import annotations

import pytest

from scripts.golden import NAMES, folder, rendered


@pytest.mark.parametrize("name", NAMES)
def test_the_dump_shows_what_it_showed(name: str) -> None:
    path = folder() / f"{name}.txt"
    if not path.exists():
        pytest.skip(f"no golden files of {folder().name}")
    assert rendered(name) == path.read_text(encoding="utf-8")
