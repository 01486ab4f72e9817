"""The findings of a run are looked for once, at its end; the index has them, and all views take them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from depyf import findings as room
from depyf.findings import findings
from depyf.model.index_json import index_json
from depyf.model.index_reader import read_run, read_session
from depyf.model.run import Compile, CompileId, Function, GraphBreak, Session
from depyf.model.user_line import UserLine
from depyf.model.writer import INDEX
from depyf.views.index_markdown import index_markdown
from depyf.views.sarif import sarif
from depyf.views.summary import summary
from depyf.views.terminal.data import all_findings


def _write(directory: Path, *, ended: bool) -> Session:
    """Write the index of a run with one graph break, and return the session that was written."""
    line = UserLine("f.py", 3, "print(x)", "f")
    reason = GraphBreak("Failed to trace builtin operator", "", (), "GB0059", line, (line,), 0, "")
    compiled = Compile(CompileId(0, 0), "f", "f.py", 1, breaks=[reason], seconds={"total": 0.25})
    function = Function("0", "f", "f.py", 1, "def f(x): ...\n", "0", compiles=[compiled])
    session = Session("2.13.0", "3.11.7", functions={"0": function}, ended=ended)
    (directory / INDEX).write_text(index_json(session, findings(session)), encoding="utf-8")
    return session


def _nothing_may_look(monkeypatch: pytest.MonkeyPatch) -> None:
    def look(session: Session) -> None:
        raise AssertionError("the findings are looked for again")

    monkeypatch.setattr(room, "SOURCES", (look,))


def test_the_views_of_a_run_take_the_findings_of_its_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = findings(_write(tmp_path, ended=True))
    _nothing_may_look(monkeypatch)
    run = read_run(tmp_path)
    assert findings(run.session) == expected != ()
    assert expected[0].cause in index_markdown(run.session)
    assert any(expected[0].cause in line for line in summary(run.session, tmp_path))
    assert [row["cause"] for row in all_findings(run)] == [expected[0].cause]
    assert expected[0].kind in sarif([("", findings(run.session))])


@pytest.mark.parametrize("older", [False, True], ids=["unfinished", "schema 1"])
def test_the_findings_of_unfinished_and_older_indexes_are_looked_for(tmp_path: Path, older: bool) -> None:
    expected = findings(_write(tmp_path, ended=older))
    path = tmp_path / INDEX
    index = json.loads(path.read_text(encoding="utf-8"))
    index["findings"][0]["cause"] = "written by another release"
    path.write_text(json.dumps(index | ({"schema": 1} if older else {})), encoding="utf-8")
    assert findings(read_session(tmp_path)) == expected


def test_a_session_that_has_not_ended_keeps_nothing(tmp_path: Path) -> None:
    session = _write(tmp_path, ended=False)
    before = findings(session)
    compiled = session.functions["0"].compiles[0]
    compiled.breaks = [
        replace(graph_break, where=UserLine("f.py", 9, "print(y)", "f")) for graph_break in compiled.breaks
    ]
    assert findings(session) != before
