"""What a call is known to return is unpacked into names."""

from __future__ import annotations

from depyf.api import decompile_code
from depyf.verify.assumptions import Assumptions
from depyf.verify.level import Level

KNOWN = Assumptions(sequence_lengths={"graph": 2})
NAMES = {"graph": ("lt", "x")}


def program(a, b):  # type: ignore[no-untyped-def]
    out = graph(a)  # type: ignore[name-defined]  # noqa: F821
    second = out[1]
    if out[0]:
        return second
    return b, second


def keeps_it(a, keep):  # type: ignore[no-untyped-def]
    out = graph(a)  # type: ignore[name-defined]  # noqa: F821
    keep(out)
    return out[1]


def test_items_taken_by_number_are_unpacked_where_the_length_is_known() -> None:
    found = decompile_code(program.__code__, simplify=True, assumptions=KNOWN, result_names=NAMES)
    assert found.level is Level.EQUIVALENT, found.reason
    assert found.source.splitlines()[1] == "    lt, x = graph(a)"


def test_nothing_is_unpacked_without_that_knowledge() -> None:
    found = decompile_code(program.__code__, simplify=True)
    assert found.level >= Level.EQUIVALENT, found.reason
    assert "[1]" in found.source


def test_a_sequence_that_is_used_as_a_whole_stays_whole() -> None:
    found = decompile_code(keeps_it.__code__, simplify=True, assumptions=KNOWN, result_names=NAMES)
    assert found.level >= Level.EQUIVALENT, found.reason
    assert "out = graph(a)" in found.source
