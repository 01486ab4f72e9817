"""Modules of a list that are equal are shown once; all of their submodules must be equal."""

from __future__ import annotations

import pytest

from depyf.model.modules import Module, folded


def _blocks(last: str) -> list[Module]:
    """Return two blocks of three submodules each; the last one of the second block has this class."""
    parts = [("", "Block"), (".norm", "Norm"), (".up", "Linear"), (".down", "Linear")]
    first = [Module(f"blocks.0{path}", kind) for path, kind in parts]
    return [*first, *(Module(f"blocks.1{path}", kind) for path, kind in (*parts[:-1], (".down", last)))]


def test_equal_blocks_are_shown_once() -> None:
    first = _blocks("Linear")[0]
    assert folded(_blocks("Linear")) == [Module(first.path, first.type, times=2), *_blocks("Linear")[1:4]]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_blocks_that_differ_in_a_later_submodule_are_not_equal(count: int) -> None:
    blocks = _blocks("Bilinear")
    second = [blocks[4], *blocks[8 - count :]]
    assert folded([blocks[0], *blocks[4 - count : 4], *second])[-1].type == "Bilinear"
    assert len(folded([blocks[0], *blocks[4 - count : 4], *second])) == 2 + 2 * count
