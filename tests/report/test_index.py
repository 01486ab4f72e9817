"""The index: valid JSON whatever the texts hold, and a page whose tables keep their form."""

from __future__ import annotations

import json
import sysconfig

from depyf.report.index_json import SCHEMA, index_json
from depyf.report.index_markdown import index_markdown
from depyf.report.model import (
    Artefact,
    Compile,
    CompileId,
    Dialect,
    EntryContrast,
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


def test_a_long_list_of_differences_goes_on_in_the_other_file() -> None:
    session = _session()
    made = session.functions["0"].compiles[1]
    made.trigger = Recompile((Refusal("0/0", (), tuple(f"clause {number}" for number in range(40))),))
    made.contrast = EntryContrast("0/0", tuple(f"respect {number}" for number in range(12)))
    page = index_markdown(session)
    assert page.count("entry 0/0 refused: clause") == 12
    assert "entry 0/0 refused: 28 more, in `index.json`" in page
    assert page.count("    - respect ") == 12
    assert len(json.loads(index_json(session))["functions"][0]["compiles"][1]["contrast"]["respects"]) == 12


def test_the_rest_of_a_function_that_was_left_as_it_is_is_told_wherever_the_function_is() -> None:
    session = _session()
    package = f"{sysconfig.get_path('purelib')}/lib.py"
    session.functions["1"] = Function("1", "g", package, 1, "", "1")
    for name in ("torch_dynamo_resume_in_g_at_7", "torch_dynamo_resume_in_h_at_7", "emit"):
        session.skipped[(name, package, "no tensors")] = 1
    told = index_markdown(session).split("## Frames that Dynamo skipped")[1]
    assert "- the rest of g behind the break at :7, lib.py: no tensors\n- 2 frames of installed packages" in told
