"""Torch's words for what an entry refused: the clause, and the user's line that needs it."""

from __future__ import annotations

import json

import pytest

from depyf.trace.refusals import recompile


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("0/0: n == 0  # if n < 3:  # train.py:38 in step", "n == 0  (:38 if n < 3:)"),
        (
            "0/1: n <= 2  # if n < 3:  # train.py:38 in step (_dynamo/variables/tensor.py:2606 in evaluate_expr)",
            "n <= 2  (:38 if n < 3:)",
        ),
        ("0/1: GLOBAL_STATE changed: grad_mode", "GLOBAL_STATE changed: grad_mode"),
    ],
)
def test_the_line_of_a_clause_is_the_users(text: str, clause: str) -> None:
    (refusal,) = recompile(json.dumps([text])).entries
    assert refusal.clauses == (clause,)
