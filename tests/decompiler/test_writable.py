"""Which names a source can say."""

from __future__ import annotations

import pytest

from depyf.decompiler.lift.writable import is_writable


@pytest.mark.parametrize("name", ["a", "_", "match", "type", "größe", "𐐀", "print"])
def test_names(name: str) -> None:
    assert is_writable(name)


@pytest.mark.parametrize("name", ["", ".0", "<lambda>", "a b", "1a", "None", "class", "ſ", "ﬁ", "\ud800"])
def test_what_is_no_name(name: str) -> None:
    assert not is_writable(name)
