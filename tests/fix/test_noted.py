"""What was tried stands in the dump of the run, and a run says what could be tried."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("libcst", reason="depyf[fix] installs it")

from depyf.cli.launch import offered as offers
from depyf.cli.launch.settings import Settings
from depyf.findings import findings
from depyf.fix.counts import Counts
from depyf.fix.edit import Edit
from depyf.fix.noted import note
from depyf.fix.offer import offer
from depyf.fix.results import Verdict
from depyf.fix.search import DIFFERS, HELPS, NO_EFFECT, Result, Tried
from depyf.fix.tries import Outcome, Sameness
from depyf.model.index_json import index_json
from depyf.model.index_reader import read_run
from depyf.model.run import Compile, CompileId, Function, GraphBreak, Session, Transformed
from depyf.model.user_line import UserLine
from depyf.verify.level import Level
from depyf.views.index_markdown import index_markdown
from depyf.views.lines import message_lines
from depyf.views.terminal.data import all_findings

SOURCE = "import torch\n\n\ndef f(x):\n    torch._dynamo.graph_break()\n    return x\n"
CODE = Transformed(1, "", "", Level.EXACT, "", installed=False)
PLAIN = Outcome(0, b"", Counts(), None)
EQUAL = Sameness(Verdict(True, True, "", 4), Verdict(True, True, "", 4))


def dump(folder: Path) -> Session:
    where = UserLine("p.py", 5, "torch._dynamo.graph_break()", "f")
    broken = GraphBreak("Call to `torch._dynamo.graph_break()`", "", (), "", where, (where,), 0, "")
    compiled = Compile(CompileId(0, 0), "f", "p.py", 4, transformed=CODE, breaks=[broken])
    session = Session("2.13.0", "3.11.7", functions={"0": Function("0", "f", "p.py", 4, "", "0", compiles=[compiled])})
    session.ended = True
    (folder / "index.json").write_text(index_json(session, findings(session)), encoding="utf-8")
    return session


def tried(session: Session, state: str, words: str, *, is_kept: bool) -> Result:
    finding = findings(session)[0]
    name = finding.kind, str(finding.where)
    edit = Edit("p.py", 5, "`graph_break()` goes", name, lambda module, _: module)
    same = EQUAL if state != DIFFERS else Sameness(EQUAL.with_plain, EQUAL.with_eager, "results differ: call 1")
    return Result(PLAIN, PLAIN, [Tried(edit, state, words, PLAIN, same, is_kept, name)])


@pytest.mark.parametrize(
    ("state", "words", "is_kept", "said"),
    [
        (HELPS, "2 -> 1 compiles", True, "`graph_break()` goes: 2 -> 1 compiles, results equal in 4 calls"),
        (NO_EFFECT, "", False, "`graph_break()` goes: no effect alone"),
        (NO_EFFECT, "", True, "`graph_break()` goes: no effect alone, needed by the others, results equal in 4 calls"),
        (DIFFERS, "", False, "`graph_break()` goes: results differ: call 1, so it was dropped"),
    ],
)
def test_every_view_has_what_was_tried(tmp_path: Path, state: str, words: str, is_kept: bool, said: str) -> None:
    session = dump(tmp_path)
    before = json.loads((tmp_path / "index.json").read_text(encoding="utf-8"))
    assert note(tmp_path, tried(session, state, words, is_kept=is_kept))
    after = json.loads((tmp_path / "index.json").read_text(encoding="utf-8"))
    assert after.pop("tried") == [{"kind": "break-explicit", "where": "p.py:5", "words": said}]
    assert after["findings"][0].pop("tried") == said
    assert before.pop("tried") == []
    assert after == before
    run = read_run(tmp_path)
    assert f"Tried: {said}" in index_markdown(run.session)
    assert f"Tried: {said}" in next(message_lines(findings(run.session)))
    assert all_findings(run)[0]["tried"] == said


def test_a_dump_with_other_findings_stays(tmp_path: Path) -> None:
    result = tried(dump(tmp_path), HELPS, "2 -> 1 compiles", is_kept=True)
    result.tried = [Tried(result.tried[0].edit, HELPS, "", PLAIN, EQUAL, True, ("break-print", "q.py:1"))]
    before = (tmp_path / "index.json").read_bytes()
    assert not note(tmp_path, result)
    assert (tmp_path / "index.json").read_bytes() == before


def test_an_offer_counts_edits_that_apply(tmp_path: Path) -> None:
    dump(tmp_path)
    (tmp_path / "p.py").write_text(SOURCE, encoding="utf-8")
    offered = offer([tmp_path], [tmp_path])
    assert (offered.edits, offered.findings) == (1, 1)
    (tmp_path / "p.py").write_text(SOURCE.replace("torch._dynamo.graph_break()", "pass"), encoding="utf-8")
    assert offer([tmp_path], [tmp_path]).edits == 0
    assert offer([tmp_path], [tmp_path / "nowhere"]).edits == 0


def test_a_run_offers_the_command_with_its_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "out"
    folder.mkdir()
    dump(folder)
    (tmp_path / "p.py").write_text(SOURCE, encoding="utf-8")
    settings, command = Settings(str(folder), 0, ""), ["p.py", "--name", "a b"]
    said = list(offers.offered(folder, Path("out"), 0, settings, command))
    assert said == ["depyf: `depyf fix -o out p.py --name 'a b'` would try 1 edit for 1 finding"]
    said = list(offers.offered(folder, Path(offers.DEFAULT), 0, settings, command))
    assert said == ["depyf: `depyf fix p.py --name 'a b'` would try 1 edit for 1 finding"]
    said = list(offers.offered(folder, Path(offers.DEFAULT), 0, Settings(str(folder), 0, "inductor"), ["p.py"]))
    assert said == ["depyf: `depyf fix --backend inductor p.py` would try 1 edit for 1 finding"]
    (tmp_path / "p.py").unlink()
    assert not list(offers.offered(folder, Path("out"), 0, settings, command))
