"""What the evaluation of containers announces before it changes a block."""

from __future__ import annotations

import pytest

from depyf.decompiler.lift.simplify.containers import evaluate_containers
from depyf.decompiler.steps import recording
from tests.decompiler.folding import graph_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return a")
ONE = "v9 = LOAD_FAST 'a'; v0 = BUILD_LIST 1 v9; "
ANNOUNCED = {
    "v9 = LOAD_FAST 'a'; return v9": [],
    f"{ONE}return v0": [],
    f"{ONE}v1 = CONST 0; v2 = LOAD_SUBSCR v0 v1; return v2": [
        "block 0: v0 is only unpacked, so it is not built",
        "block 0: v2 is v9, which it was taken from",
        "block 0: 4 operations become 2",
    ],
    f"{ONE}v1 = CALL_EX False v9 v0; return v1": [
        "block 0: v0 is only unpacked, so it is not built",
        "block 0: 3 operations become 2",
    ],
    f"{ONE}v1 = LIST_TO_TUPLE v0; return v1": [
        "block 0: v0 is only unpacked, so it is not built",
        "block 0: 3 operations become 2",
    ],
}


class Steps:
    """Hears the steps of a pass."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def begin(self, work: object) -> None: ...

    def attempt(self, work: object, why: str) -> None: ...

    def after(self, name: str, work: object) -> None: ...

    def step(self, message: str) -> None:
        self.messages.append(message)


@pytest.mark.parametrize("rows", ANNOUNCED)
def test_what_becomes_of_a_block_is_announced(rows: str) -> None:
    steps = Steps()
    with recording(steps):
        evaluate_containers(graph_of(f"block 0; {rows}", CODE))
    assert steps.messages == ANNOUNCED[rows]
