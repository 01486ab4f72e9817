"""The index: valid JSON whatever the texts hold, and a page whose tables keep their form."""

from __future__ import annotations

import json

from depyf.report.index_json import SCHEMA, index_json
from depyf.report.index_markdown import index_markdown
from depyf.report.model import (
    Artefact,
    Compile,
    CompileId,
    Dialect,
    Failure,
    Function,
    Guard,
    GuardSet,
    Recompile,
    Refusal,
    Session,
    Unavailable,
    UserLine,
)

NASTY = 'a "\0" b | c\n\u2028 "\\u00000\\u0000" \udc80'


def _session() -> Session:
    guard = Guard("EQUALS_MATCH", "L['s']", NASTY, f"L['s'] == {NASTY!r}", UserLine("f.py", 3, NASTY))
    made = Compile(
        CompileId(0, 1),
        "f",
        "f.py",
        1,
        trigger=Recompile((Refusal("0/0", ("x | y",)),)),
        guards=GuardSet((guard, guard)),
        artefacts=[Artefact("kernel", Dialect.KERNEL, "", "forward", file="__compiled_fn_1.kernel_0.py")],
        op_count=3,
        seconds={"total": 0.25},
    )
    failed = Compile(CompileId(0, 2), "f", "f.py", 1, failure=Failure("Unsupported", NASTY, None), order=1)
    function = Function("0", "f", "f.py", 1, "def f(): ...\n", "0", compiles=[failed, made])
    session = Session("2.13.0", "3.11.7", functions={"0": function})
    session.unavailable["guards"] = Unavailable("too old").reason
    return session


def test_the_json_says_what_the_model_says() -> None:
    found = json.loads(index_json(_session()))
    assert found["schema"] == SCHEMA
    assert found["order"] == ["0/1", "0/2"]
    (function,) = found["functions"]
    failed, made = function["compiles"]
    assert failed["failure"]["reason"] == NASTY
    assert [guard["clause"] for guard in made["guards"]] == [f"L['s'] == {NASTY!r}"] * 2
    assert made["guards"][0]["where"]["text"] == NASTY
    assert found["unavailable"] == {"guards": "too old"}


def test_a_guard_is_a_line() -> None:
    lines = index_json(_session()).splitlines()
    assert sum('"EQUALS_MATCH"' in line for line in lines) == 2


def test_the_page_keeps_its_tables() -> None:
    page = index_markdown(_session())
    assert "2 compiles of 1 function, 0 graph breaks, 1 recompile, 1 frame given up; 0.2 s" in page
    rows = [line for line in page.splitlines() if line.startswith("| 0/")]
    assert len(rows) == 2
    assert all(row.replace("\\|", "").count("|") == 9 for row in rows)
    assert "x \\| y" in rows[0]
    assert "[kernel 0 (forward)](__compiled_fn_1.kernel_0.py)" in page


def test_an_empty_run_says_what_to_do() -> None:
    page = index_markdown(Session("2.13.0", "3.11.7"))
    assert "torch.compiler.reset()" in page
    assert "0 compiles of 0 functions" in page
