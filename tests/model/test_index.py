"""The index: valid JSON whatever the texts hold, and a page whose tables keep their form."""

from __future__ import annotations

import json
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest

from depyf.findings import findings
from depyf.model.counts import breaks_of
from depyf.model.failure import Failure
from depyf.model.index_json import SCHEMA, index_json
from depyf.model.index_reader import read_run, session_of
from depyf.model.run import (
    Artefact,
    Compile,
    CompileId,
    Dialect,
    EntryContrast,
    FailedEntry,
    Function,
    GraphBreak,
    Guard,
    GuardSet,
    Recompile,
    Session,
    Unavailable,
)
from depyf.model.user_line import UserLine
from depyf.views.index_markdown import index_markdown
from depyf.views.summary import summary
from tests.sentences import failed as failed_entry

NASTY = 'a "\0" b | c\n\u2028 "\\u00000\\u0000" \udc80'


def _session() -> Session:
    guard = Guard("EQUALS_MATCH", "L['s']", NASTY, f"L['s'] == {NASTY!r}", UserLine("f.py", 3, NASTY))
    compiled = Compile(
        CompileId(0, 1),
        "f",
        "f.py",
        1,
        trigger=Recompile((failed_entry("0/0", ("x | y",)),)),
        guards=GuardSet((guard, guard)),
        artefacts=[Artefact("kernel", Dialect.KERNEL, "", "forward", file="__compiled_fn_1.kernel_0.py")],
        op_count=3,
        seconds={"total": 0.25},
    )
    failed = Compile(CompileId(0, 2), "f", "f.py", 1, failure=Failure("Unsupported", NASTY, None), order=1)
    function = Function("0", "f", "f.py", 1, "def f(): ...\n", "0", compiles=[failed, compiled])
    session = Session("2.13.0", "3.11.7", functions={"0": function})
    session.unavailable["guards"] = Unavailable("too old").reason
    return session


def _break(line: int) -> GraphBreak:
    return GraphBreak("no", "", (), "", UserLine("f.py", line, "x"), (), 0, "")


def test_the_json_says_what_the_model_says() -> None:
    content = json.loads(index_json(_session(), findings(_session())))
    assert content["schema"] == SCHEMA
    assert content["order"] == ["0/1", "0/2"]
    (function,) = content["functions"]
    failed, succeeded = function["compiles"]
    assert failed["failure"]["reason"] == NASTY
    assert [guard["clause"] for guard in succeeded["guards"]] == [f"L['s'] == {NASTY!r}"] * 2
    assert succeeded["guards"][0]["where"]["text"] == NASTY
    assert content["unavailable"] == {"guards": "too old"}


def test_a_guard_is_a_line() -> None:
    lines = index_json(_session(), findings(_session())).splitlines()
    assert sum('"EQUALS_MATCH"' in line for line in lines) == 2


def test_the_page_keeps_its_tables() -> None:
    page = index_markdown(_session())
    assert "2 compiles of 1 function, 0 graph breaks, 1 recompile, 1 frame given up; 0.2 s" in page
    rows = [line for line in page.splitlines() if line.startswith("| 0/")]
    assert len(rows) == 2
    assert all(row.replace("\\|", "").count("|") == 10 for row in rows)
    assert "x \\| y" in rows[0]
    assert "[kernel 0 (forward)](__compiled_fn_1.kernel_0.py)" in page


def test_an_empty_run_says_what_to_do() -> None:
    page = index_markdown(Session("2.13.0", "3.11.7"))
    assert "torch.compiler.reset()" in page
    assert "0 compiles of 0 functions" in page


def test_a_long_list_of_differences_goes_on_in_the_other_file() -> None:
    session = _session()
    recompiled = session.functions["0"].compiles[1]
    recompiled.trigger = Recompile((failed_entry("0/0", (), tuple(f"clause {number}" for number in range(40))),))
    recompiled.contrast = EntryContrast("0/0", tuple(f"respect {number}" for number in range(12)))
    page = index_markdown(session)
    assert page.count("entry 0/0 refused: clause") == 12
    assert "entry 0/0 refused: 28 more, in `index.json`" in page
    assert page.count("    - respect ") == 12
    index = json.loads(index_json(session, findings(session)))
    assert len(index["functions"][0]["compiles"][1]["contrast"]["respects"]) == 12


def test_the_rest_of_a_function_that_was_left_as_it_is_is_told_wherever_the_function_is() -> None:
    session = _session()
    package = f"{sysconfig.get_path('purelib')}/lib.py"
    session.functions["1"] = Function("1", "g", package, 1, "", "1")
    for name in ("torch_dynamo_resume_in_g_at_7", "torch_dynamo_resume_in_h_at_7", "emit"):
        session.skipped[(name, package, "no tensors")] = 1
    section = index_markdown(session).split("## Frames that Dynamo skipped")[1]
    assert "- the rest of g after the break at :7, lib.py: no tensors\n- 2 frames of installed packages" in section


def test_generated_code_in_no_file_is_counted_unless_something_of_it_was_compiled() -> None:
    session = _session()
    for name, filename in (("<module>", "<eval_with_key>.3"), ("__init__", "<string>"), ("h", "f.py")):
        session.skipped[(name, filename, "no tensors")] = 2
    section = index_markdown(session).split("## Frames that Dynamo skipped")[1]
    assert "- h, f.py: no tensors (2 times)\n- 2 frames of generated code without a file; `" in section
    assert "eval_with_key" in index_json(session, findings(session))
    session.functions["1"] = Function("1", "g", "<string>", 1, "", "1")
    session.skipped[("<module>", "<string>", "no tensors")] = 1
    section = index_markdown(session)
    assert "- __init__, <string>: no tensors (2 times)\n" in section and "- 2 frames of generated code" in section


def test_generated_code_is_placed_where_the_program_led_to_it() -> None:
    session = _session()
    function = Function("1", "compiled_autograd", "<eval_with_key>.7", 4, "", "1")
    of_torch = f"{sysconfig.get_path('purelib')}/torch/_tensor.py"
    called = (UserLine("train.py", 17), UserLine(of_torch, 623), UserLine("<string>", 1))
    function.compiles.append(Compile(CompileId(7, 0), "compiled_autograd", "<eval_with_key>.7", 4, user_stack=called))
    session.functions["1"] = function
    assert "| compiled_autograd, train.py:17, in generated code |" in index_markdown(session)
    function.compiles[0].user_stack = called[1:]
    assert "| compiled_autograd, <eval_with_key>.7:4 |" in index_markdown(session)


def test_the_table_says_why_the_nearest_entry_refused() -> None:
    session = _session()
    recompiled = session.functions["0"].compiles[1]
    far = failed_entry("0/0", ("far", "away"))
    recompiled.trigger = Recompile((far, failed_entry("0/3", ("x",), ("near",)), failed_entry("0/4", ("y",))))
    assert "| recompile, 0/3: near (3 more reasons below) |" in index_markdown(session)
    recompiled.trigger = Recompile((failed_entry("0/3", ("x",), ("near",)),))
    assert "| recompile, 0/3: near |" in index_markdown(session)
    recompiled.trigger = Recompile(())
    assert "| recompile, torch does not say why |" in index_markdown(session)


def test_a_function_of_which_nothing_runs_compiled_is_no_file() -> None:
    session = _session()
    assert "- f: it runs uncompiled\n" in index_markdown(session)
    session.functions["0"].file = "full_code_for_f_0.py"
    assert "- [f](full_code_for_f_0.py): guards, entries and dispatch\n" in index_markdown(session)


def test_places_of_graph_breaks_and_how_often_each_was_come_to() -> None:
    session = _session()
    for compiled in session.functions["0"].compiles:
        compiled.breaks = [_break(3), _break(4)]
    session.functions["0"].compiles[0].breaks.append(_break(5))
    assert "3 graph breaks (5 times)" in index_markdown(session)
    assert "3 graph breaks (5 times)" in summary(session, Path("dump"))[0]
    again = session_of(json.loads(index_json(session, findings(session))))
    assert breaks_of(compiled for _, compiled in again.compiles()).number == "3 (5 times)"
    session.functions["0"].compiles.pop()
    assert "3 graph breaks, " in index_markdown(session)


def test_compiles_of_one_id_are_told_apart_and_read_back() -> None:
    session = _session()
    again = Compile(CompileId(0, 1, count=2), "f", "f.py", 1, Recompile((failed_entry("0/0#2", ("x",)),)), order=2)
    session.functions["0"].compiles.append(again)
    content = json.loads(index_json(session, findings(session)))
    assert content["order"] == ["0/1", "0/2", "0/1#2"]
    page = index_markdown(session)
    assert "\n| 0/1#2 | f, f.py:1 | recompile, 0/0#2: x |" in page
    assert "`#2`: Dynamo was reset, and torch counts its compiles from 0 for the second time." in page
    assert [compiled.id for _, compiled in session_of(content).compiles()] == [
        compiled.id for _, compiled in session.compiles()
    ]


@pytest.mark.parametrize("count", (0, 1, 3))
def test_an_index_is_read_function_by_function_as_it_is_read_whole(tmp_path: Path, count: int) -> None:
    session = _session()
    (function,) = session.functions.values()
    session.functions = {f"{number}": replace(function, key=f"{number}", root=f"{number}") for number in range(count)}
    text = index_json(session, findings(session))
    (tmp_path / "index.json").write_text(text)
    run, index = read_run(tmp_path), json.loads(text)
    read = replace(run.session, entered=0.0)
    assert read == replace(session_of(index), entered=0.0)
    assert len(run.session.functions) == len(index["functions"]) == count
    (tmp_path / "index.json").write_text(json.dumps(index))
    assert replace(read_run(tmp_path).session, entered=0.0) == read


def test_an_index_that_is_damaged_among_its_functions_says_so(tmp_path: Path) -> None:
    text = index_json(_session(), findings(_session()))
    (tmp_path / "index.json").write_text(text.replace('"compiles": [', '"compiles": ]', 1))
    with pytest.raises(ValueError, match="index.json is damaged"):
        read_run(tmp_path)


def _page_of_recompile(*refusals: FailedEntry) -> str:
    session = _session()
    session.functions["0"].compiles[1].trigger = Recompile(refusals)
    return index_markdown(session)


def test_what_entries_further_away_refused_is_counted_where_it_is_much() -> None:
    far = tuple(f'L["a"][{number}]: expected 1, got 2' for number in range(13))
    near = ('L["n"]: expected 1, got 2',)
    page = _page_of_recompile(failed_entry("0/0", far, far), failed_entry("0/1", near, near))
    assert "entry 0/1 refused: the number `n` (an argument) was 2, not 1" in page
    assert "entry 0/0 refused, too, for 13 reasons, in `index.json`" in page and "entry 0/0 refused: " not in page
    page = _page_of_recompile(failed_entry("0/0", far[:12], far[:12]), failed_entry("0/1", near, near))
    assert page.count("entry 0/0 refused: ") == 12


def test_entries_that_refused_the_same_value_are_told_in_one_line() -> None:
    clause_lists = [(f'L["n"]: expected {number}, got 9',) for number in range(4)]
    page = _page_of_recompile(
        *(failed_entry(f"0/{number}", clauses, clauses) for number, clauses in enumerate(clause_lists))
    )
    assert "  - entry 0/3 refused: the number `n` (an argument) was 9, not 3" in page
    assert "  - entries 0/0 to 0/2 refused the same value, and expected 0, 1, 2\n" in page
    assert page.count("refused: ") == 1
    other = ('L["m"]: expected 1, got 2',)
    page = _page_of_recompile(
        *(failed_entry(f"0/{number}", clauses, clauses) for number, clauses in enumerate([other, *clause_lists]))
    )
    assert "  - entry 0/0 refused: the number `m` (an argument) was 2, not 1" in page
    assert "  - entries 0/1 to 0/3 refused the same value, and expected 0, 1, 2\n" in page
    long = [(f'L["n"]: expected {"x" * 100 + str(number)!r}, got 9',) for number in range(4)]
    page = _page_of_recompile(*(failed_entry(f"0/{number}", clauses, clauses) for number, clauses in enumerate(long)))
    assert "  - entries 0/0 to 0/2 refused the same value; `index.json` has the values\n" in page
