"""Advice about an argument uses the caller's expression, at the caller's line."""

from __future__ import annotations

import ast

import pytest

from depyf.findings import findings
from depyf.findings.arguments import _given, marked_at_call
from depyf.model.run import Session
from depyf.model.user_line import UserLine
from tests.findings.test_causes import function, run_of

SOURCE = "def step(ids, mask, scale=1):\n    return ids * mask * scale\n"
FORWARD = "def forward(self, ids, mask, scale=1):\n    return ids * mask * scale\n"
SIZE = 'size of L["ids"]: expected (2, 8), got (2, 12)'


def fix_of(call: str, source: str = SOURCE) -> str:
    """Return the fix for a size of `ids`, if this line calls the function."""
    run = run_of(function(0, "step", "net.py", (UserLine("train.py", 9, call, "main"),), 12, SIZE))
    (root,) = run.functions.values()
    root.source = source
    (finding,) = findings(run)
    return finding.fix


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("loss = step(batch['ids'], mask)", "batch['ids']"),
        ("loss = step(mask=mask, ids=self.ids)", "self.ids"),
        ("print(step(tokens, mask).item())", "tokens"),
        ("losses.append(criterion(step(tokens, mask), y, z, w))", "tokens"),
        ("for out in step(tokens, mask):", "tokens"),
    ],
)
def test_the_callers_expression_is_marked_at_its_line(call: str, value: str) -> None:
    for source in (SOURCE, FORWARD):
        assert fix_of(call, source) == f"call `torch._dynamo.mark_dynamic({value}, 1)` before the call at train.py:9"


@pytest.mark.parametrize("given", ["torch.ones(2, n)", "data[:, :n]", "data[i]", "tokens.to('cuda')"])
def test_an_expression_that_makes_a_tensor_is_assigned_first(given: str) -> None:
    text = ast.unparse(ast.parse(given))
    assert fix_of(f"step({given}, mask)") == (
        f"assign `{text}` to a variable `ids` before the call at train.py:9, "
        "call `torch._dynamo.mark_dynamic(ids, 1)`, and pass `ids`"
    )


@pytest.mark.parametrize("call", ["step(*batch)", "run(f(ids, mask), g(ids, mask))", "with step(", "y = x"])
def test_a_call_that_does_not_show_the_argument_leaves_the_advice(call: str) -> None:
    assert fix_of(call) == "call `torch._dynamo.mark_dynamic(ids, 1)` before the first call"


def test_a_local_variable_is_no_argument() -> None:
    line = UserLine("train.py", 9, "step(ids, mask)", "main")
    assert _given(line, "ids", ("ids", "mask"), 2) is not None
    run: Session = run_of(function(0, "step", "net.py", (line,), 12, SIZE.replace("ids", "other")))
    (root,) = run.functions.values()
    root.source = SOURCE
    (finding,) = findings(run)
    assert "before the first call" in finding.fix
    resumed = run_of(function(0, "step", "net.py", (line,), 12, SIZE))
    (rest,) = resumed.functions.values()
    rest.source, rest.resumes_at = SOURCE, 3
    compiled = rest.compiles[-1]
    failure = compiled.trigger.entries[0].failures[0]  # type: ignore[union-attr]
    assert marked_at_call(rest, rest, compiled, failure, 1) == ""
