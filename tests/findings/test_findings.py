"""Findings: each cause once, the worst first, the same in every view."""

from __future__ import annotations

import json
from dataclasses import replace

from depyf.findings import Cost, Finding, findings, merged
from depyf.model.failure import Failure
from depyf.model.index_json import index_json
from depyf.model.index_reader import findings_of, session_of
from depyf.model.run import (
    Compile,
    CompileId,
    FailedEntry,
    Function,
    GraphBreak,
    Recompile,
    Session,
    Transformed,
)
from depyf.model.user_line import UserLine
from depyf.verify.level import Level
from depyf.views.index_markdown import index_markdown
from tests.sentences import failed


def session(*compiles: Compile) -> Session:
    """Return a run in which `f` was compiled so."""
    for number, item in enumerate(compiles):
        item.order = number
    function = Function("0", "f", "f.py", 1, "def f(): ...\n", "0", compiles=list(compiles))
    return Session("2.13.0", "3.11.7", functions={"0": function})


def compiled(number: int, *refusals: FailedEntry, **changes: object) -> Compile:
    """Return a compile of `f`: a recompile, where refusals are given."""
    compile_ = Compile(CompileId(0, number), "f", "f.py", 1, seconds={"total": 0.5})
    if refusals:
        compile_.trigger = Recompile(refusals)
    for name, value in changes.items():
        setattr(compile_, name, value)
    return compile_


def made() -> Transformed:
    return Transformed(1, "", "", Level.EXACT, "", installed=False)


def broken(line: int, reason: str = "print") -> GraphBreak:
    return GraphBreak(reason, "", ("remove it",), "GB0001", UserLine("f.py", line, "x", "f"), (), 0, "")


def refused(entry: str, *explained: str) -> FailedEntry:
    return failed(entry, explained[:1], explained)


def test_a_run_without_a_problem_has_none() -> None:
    assert findings(session(compiled(0))) == ()


def test_a_place_that_breaks_in_several_compiles_is_one() -> None:
    run = session(compiled(0, breaks=[broken(3)]), compiled(1, breaks=[broken(3), broken(4)]))
    (first, other) = findings(run)
    assert (first.where.line, first.compiles, first.cost) == (3, ("0/0", "0/1"), Cost(None, 1.0, 2))
    assert (other.where.line, other.fix) == (4, "remove it")


def test_a_failure_comes_first_with_its_line() -> None:
    failure = Failure("BackendCompilerFailed", "no such kernel\nmore", UserLine("g.py", 7, "y", "g"))
    run = session(compiled(0, breaks=[broken(3)]), compiled(1, failure=failure))
    first = findings(run)[0]
    assert (first.kind, first.severity, str(first.where)) == ("failure", "high", "g.py:7")
    assert "no such kernel" in first.cause and "more" not in first.cause


def test_recompiles_for_one_value_are_one() -> None:
    run = session(
        compiled(0),
        compiled(1, refused("0/0", "L[\"mode\"]: expected 'a', got 'b'  (:3 x)")),
        compiled(
            2, refused("0/1", "L[\"mode\"]: expected 'b', got 'c'"), refused("0/0", "far: expected 1, got 2", "y")
        ),
    )
    (finding,) = findings(run)
    assert finding.compiles == ("0/1", "0/2")
    assert finding.cost.compiles == 2


def test_the_limit_is_told_with_the_cause_of_the_recompiles() -> None:
    limit = Failure("RecompileLimitExceeded", "recompile_limit reached", None)
    texts = [f'L["n"]: expected {number}, got {number + 1}' for number in range(3)]
    recompiles = [compiled(number + 1, refused(f"0/{number}", text)) for number, text in enumerate(texts)]
    run = session(compiled(0), *recompiles, compiled(4, failed("0/3", ("n == 3",)), failure=limit))
    (finding,) = findings(run)
    assert (finding.kind, finding.severity, finding.cost.compiles) == ("recompile-limit", "high", 4)
    assert "it grows by 1" in finding.cause and "add_" in finding.fix


def test_a_break_that_ends_the_compile_is_one_finding() -> None:
    failure = Failure("Unsupported", "Unsupported context manager", None)
    (finding,) = findings(session(compiled(0, breaks=[broken(3)], failure=failure)))
    assert (finding.kind, finding.severity) == ("graph-break", "high")
    assert "all of `f` runs eager" in finding.cause


def test_a_break_that_ends_a_resume_function_ends_the_rest_of_the_function() -> None:
    run = session(compiled(0, breaks=[broken(3)], failure=Failure("Unsupported", "no", None)))
    run.functions["0"] = replace(run.functions["0"], name="torch_dynamo_resume_in_f_at_2", resumes_at=2)
    (finding,) = findings(run)
    assert "and the rest of `f` runs eager" in finding.cause


def test_calls_past_the_limit_are_told_where_they_are_counted() -> None:
    limit = Failure("RecompileLimitExceeded", "recompile_limit reached", None)
    run = session(
        compiled(0, hits=3, transformed=made()),
        compiled(1, refused("0/0", "L[\"s\"]: expected 'a', got 'b'"), hits=5, transformed=made()),
        compiled(2, failed("0/1", ("s == 'b'",)), failure=limit),
    )
    run.functions["0"].eager_calls = 192
    (finding,) = findings(run)
    assert finding.cause.startswith("192 of 200 calls of `f` ran eager")
    assert finding.cost.eager_calls == 192
    assert findings(session_of(json.loads(index_json(run, findings(run))))) == (finding,)


def test_a_frame_that_must_be_whole_fails_and_runs_nothing() -> None:
    failure = Failure("Unsupported", "Data-dependent branching", UserLine("f.py", 3, "if x:", "f"), raised=True)
    failure = replace(failure, demanded_by="`fullgraph=True`")
    (finding,) = findings(session(compiled(0, failure=failure), compiled(1, failure=failure)))
    assert (finding.kind, finding.severity, finding.cost.compiles) == ("break-data-dependent-branch", "high", 2)
    assert finding.cause.endswith("and `f` fails: with `fullgraph=True` its call raises Unsupported")


def test_calls_past_a_limit_that_raises_ran_nothing() -> None:
    limit = Failure("FailOnRecompileLimitHit", "Hard failure due to fullgraph=True", None, raised=True)
    run = session(
        compiled(0, hits=3, transformed=made()),
        compiled(1, refused("0/0", "L[\"s\"]: expected 'a', got 'b'"), hits=5, transformed=made()),
        compiled(2, failure=limit),
        compiled(3, failure=limit),
    )
    (finding,) = findings(run)
    assert finding.cause.startswith("2 calls of `f` raised FailOnRecompileLimitHit: it reached the limit")


def test_what_became_of_a_failure_that_a_trace_tells_is_not_known() -> None:
    failure = Failure("Unsupported", "Data-dependent branching", UserLine("f.py", 3, "if x:", "f"))
    (finding,) = findings(session(compiled(0, failure=failure)))
    assert finding.cause.endswith("and all of `f` is not compiled")


def test_a_value_that_a_break_leaves_behind_is_no_finding_of_its_own() -> None:
    run = session(compiled(0, breaks=[broken(3)]), compiled(1, refused("0/0", 'L["___stack0"]: expected 1, got 2')))
    assert [finding.kind for finding in findings(run)] == ["graph-break"]


def test_what_a_backend_raised_is_told() -> None:
    failure = Failure("BackendCompilerFailed", "backend='b' raised:\nValueError: no such kernel\n\nSet ...", None)
    (finding,) = findings(session(compiled(0, failure=failure)))
    assert finding.cause.endswith("backend='b' raised: ValueError: no such kernel")


def test_what_several_processes_show_is_one() -> None:
    break_findings = findings(session(compiled(0, breaks=[broken(3)])))
    (joined,) = merged([*break_findings, *break_findings])
    assert joined.cost == Cost(None, 1.0, 2)


def test_the_index_tells_them_and_is_read_back() -> None:
    run = session(compiled(0, breaks=[broken(3)], failure=Failure("Unsupported", "no", UserLine("f.py", 2, "x", "f"))))
    index = json.loads(index_json(run, findings(run)))
    assert tuple(findings_of(index)) == findings(run) == findings(session_of(index))
    assert isinstance(findings_of(index)[0], Finding)
    assert findings_of({}) == []
    line = "1. **high**: Graph break: print, and all of `f` runs eager (f.py:3)"
    assert f"## Findings\n\n{line}" in index_markdown(run)
