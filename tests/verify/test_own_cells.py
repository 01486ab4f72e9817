"""Variables for which an inlined comprehension makes a cell: the same operations on them, in the same order."""

from __future__ import annotations

import pytest

from depyf.verify.assumptions import NO_ASSUMPTIONS
from depyf.verify.bisimulate import bisimulate
from depyf.verify.flow import Flow
from depyf.verify.own_cells import OWN, with_own_cells
from tests.verify.assemble import assemble

BEGIN = "LOAD_FAST_CLEAR x\nMAKE_CELL x\nLOAD_FAST a\nSTORE_DEREF x\n"
END = "SWAP 2\nSTORE_FAST x\nRETURN"
READ = BEGIN + "{}LOAD_CLOSURE x\n" + END


def reason(original: str, candidate: str) -> str | None:
    """Return why two assembled codes are not proven equal."""
    return bisimulate(Flow(assemble(original)), Flow(assemble(candidate)), NO_ASSUMPTIONS).reason


@pytest.mark.parametrize("more", ["", "LOAD_FAST b\nSTORE_DEREF x\n", "LOAD_DEREF x\nPOP\n", "DELETE_DEREF x\n"])
def test_what_differs_elsewhere_is_proven(more: str) -> None:
    """The second code has a constant more, which nothing sees."""
    assert reason(READ.format(more), READ.format(more + "CONST 1\nPOP\n")) is None


@pytest.mark.parametrize(
    ("original", "candidate"),
    [
        (READ.format(""), READ.format("LOAD_FAST b\nSTORE_DEREF x\n")),
        (READ.format("LOAD_FAST b\nSTORE_DEREF x\n"), READ.format("LOAD_FAST a\nSTORE_DEREF x\n")),
        (BEGIN + "LOAD_DEREF x\n" + END, BEGIN + "LOAD_CLOSURE x\n" + END),
        # The variable has its own value again when it is read.
        (BEGIN + "LOAD_DEREF x\n" + END, BEGIN + "STORE_FAST x\nLOAD_DEREF x\nRETURN"),
        (BEGIN + "LOAD_CLOSURE x\n" + END, BEGIN + "STORE_FAST x\nLOAD_CLOSURE x\nRETURN"),
        ("LOAD_CLOSURE x\n" + READ.format("POP\n"), READ.format("LOAD_CLOSURE x\nPOP\n")),
        (READ.format(""), READ.format("").replace(" x", " y")),
        (READ.format(""), READ.format("").replace("MAKE_CELL x\n", "")),
    ],
)
def test_another_order_or_another_variable_is_not_proven(original: str, candidate: str) -> None:
    assert reason(original, original) is None
    assert reason(original, candidate) is not None


def test_other_variables_stay_as_they_are() -> None:
    """Code without a cell of its own costs nothing; in other code only its variables are observed."""
    flows = Flow(assemble("LOAD_FAST a\nRETURN")), Flow(assemble("LOAD_FAST b\nRETURN"))
    assert with_own_cells(*flows) == flows
    flow, _ = with_own_cells(Flow(assemble(READ.format(""))), flows[1])
    assert [item.arg for item in flow.instructions if item.op == OWN] == [
        ("LOAD_FAST_CLEAR", "x"),
        ("MAKE_CELL", "x"),
        ("STORE_DEREF", "x"),
        ("LOAD_CLOSURE", "x"),
        ("STORE_FAST", "x"),
    ]
