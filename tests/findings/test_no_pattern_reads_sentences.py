"""No regular expression of the package reads a sentence of a finding: a spy hears every text that one gets."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from depyf.bytecode.patterns import _Pattern
from depyf.cli import show
from depyf.findings import Finding, findings
from depyf.findings.contract.contract import CompileContractError, Contract, check
from depyf.findings.contract.facts import facts
from depyf.findings.contract.snapshot import compare, snapshot_text
from depyf.model.bypass import FAIL_ON_RECOMPILE, Bypass, Way
from depyf.model.failure import Failure
from depyf.model.guard_failure import Check, GuardFailure
from depyf.model.index_json import index_json
from depyf.model.index_reader import Run, read_run
from depyf.model.run import Compile, CompileId, FailedEntry, Function, GraphBreak, Recompile, Session
from depyf.model.user_line import UserLine
from depyf.model.writer import INDEX
from depyf.views.brief.answer import Question, answer
from depyf.views.comparison import changes
from depyf.views.comparison_markdown import comment
from depyf.views.index_markdown import index_markdown
from depyf.views.sarif import sarif
from depyf.views.summary import summary
from depyf.views.terminal.data import VIEWS

MEASURES = "depyf.views.brief.tokens"
"""It counts the tokens of whole answers, and takes nothing out of them."""
METHODS = ("match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer")


class Spy:
    """A regular expression that notes the texts that it gets."""

    def __init__(self, own: Any, heard: list[str]) -> None:
        """Stand in for a regular expression of the package."""
        self._own = own
        self._heard = heard

    def __getattr__(self, name: str) -> Any:
        """Return a method that notes its texts, or another attribute."""
        value = getattr(self._own, name)
        return noting(value, self._heard) if name in METHODS else value


def noting(function: Callable[..., Any], heard: list[str]) -> Callable[..., Any]:
    """Return a function that notes the texts among its arguments."""

    def noted(*arguments: Any, **named: Any) -> Any:
        heard.extend(argument for argument in (*arguments, *named.values()) if isinstance(argument, str))
        return function(*arguments, **named)

    return noted


def _modules() -> Iterator[ModuleType]:
    for name, module in list(sys.modules.items()):
        if name.startswith("depyf.") and name != MEASURES and isinstance(module, ModuleType):
            yield module


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of all texts that regular expressions of the package get from now on."""
    texts: list[str] = []
    for module in _modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, (re.Pattern, _Pattern)):
                monkeypatch.setattr(module, name, Spy(value, texts))
            elif isinstance(value, tuple) and any(isinstance(member, (re.Pattern, _Pattern)) for member in value):
                monkeypatch.setattr(module, name, tuple(Spy(member, texts) for member in value))
    for name in METHODS:
        monkeypatch.setattr(re, name, noting(getattr(re, name), texts))
    return texts


def run_of_every_kind() -> Session:
    """Return a run with a recompile, a graph break, failures, a skipped frame and a bypassed call."""
    line = UserLine("f.py", 3, "y = g(x)", "f")
    changed = GuardFailure(
        "L['mode']", Check.VALUE, "'fast'", "'slow at 0x7f0012345678'", line=line, guard="EQUALS_MATCH"
    )
    broken = GraphBreak("Failed to trace builtin operator", "", (), "GB0059", line, (line,), 0, "")
    first = Compile(CompileId(0, 0), "f", "f.py", 1, breaks=[broken], seconds={"total": 0.25})
    trigger = Recompile((FailedEntry("0/0", ("mode",), (changed,)),))
    again = Compile(CompileId(0, 1), "f", "f.py", 1, trigger=trigger, order=1)
    failure = Failure("ValueError", "no such thing at 0x7f0012345678", line)
    failed = Compile(CompileId(0, 2), "f", "f.py", 1, failure=failure, order=2)
    function = Function("0", "f", "f.py", 1, "def f(x, mode):\n    z = x\n    y = g(x)\n    return y\n", "0")
    function.compiles = [first, again, failed]
    session = Session("2.13.0", "3.11.7", functions={"0": function}, ended=True)
    session.skipped["h", "f.py", "it has no tensors at 0x7f0012345678"] = 2
    session.bypassed[Bypass(Way.STANCE, "f(x)", FAIL_ON_RECOMPILE, line, "f", "", "no entry")] = 1
    return session


def _show_everything(session: Session, run: Run, directory: Path) -> None:
    """Let every view without a browser say what it has to say about a run."""
    index_markdown(session)
    index_markdown(run.session)
    summary(run.session, directory)
    sarif([("", findings(run.session))])
    show.message_lines(findings(run.session))
    for view in VIEWS.values():
        view(run)
    answer(Question({"": run}, 4000))
    comment((("", change) for change in changes(run, run)), [], findings(run.session))
    text = snapshot_text("f", "2.13.0", facts(run.session)[:-1])
    compare(text, "2.13.0", facts(run.session))
    with pytest.raises(CompileContractError) as raised:
        check(run.session, Contract(recompiles=0))
    str(raised.value)


def test_no_regular_expression_gets_a_sentence(tmp_path: Path, heard: list[str]) -> None:
    session = run_of_every_kind()
    all_findings = findings(session)
    assert {"high", "low"} <= {finding.severity for finding in all_findings} and len(all_findings) >= 5
    (tmp_path / INDEX).write_text(index_json(session, all_findings), encoding="utf-8")
    _show_everything(session, read_run(tmp_path), tmp_path)
    assert len(heard) > 20
    parts_of_sentences = [part for finding in all_findings for part in _sentences(finding)]
    read = [(text, part) for text in heard for part in parts_of_sentences if part in text]
    assert read == []


def _sentences(finding: Finding) -> Iterator[str]:
    yield finding.cause
    if finding.fix:
        yield finding.fix
    yield from (cause.cause for cause in finding.also)
