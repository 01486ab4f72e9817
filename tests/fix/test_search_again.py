"""The search over edits, with runs whose numbers depend on the edited text alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("libcst", reason="depyf[fix] installs it")

import libcst as cst

from depyf.fix import search as searching
from depyf.fix.counts import Counts
from depyf.fix.edit import Edit
from depyf.fix.results import Record
from depyf.fix.search import HELPS, Search
from depyf.fix.told import lines
from depyf.fix.tries import Outcome, Program


class _Runs:
    """Runs of a program with a break at `first` and one at `second`. The switch alone shows two more breaks."""

    began = 0.0

    def __init__(self, file: Path) -> None:
        self.program = Program(str(file), (), False, file.parent, 50, False, 60.0)
        self.text = file.read_text()
        self.count = 0
        self.only_forks = True
        self.times: list[float] = []

    def run(self, texts: Mapping[str, str], **_: Any) -> Outcome:  # noqa: ANN401 - as the real one
        """Return the numbers of a text."""
        self.count += 1
        text = next(iter(texts.values()), self.text)
        first, second, switched = "first" in text, "second" in text, "switch" in text
        breaks = first + second * (not switched) + 2 * (switched and first)
        where = SimpleNamespace(file="user.py", line=1)
        left = [
            SimpleNamespace(kind=kind, where=where, severity="medium", line=f"{Path.cwd()}/user.py: {kind}")
            for kind, is_there in (("second", second and not switched), ("first", first))
            if is_there
        ]
        seconds = [self.times[min(self.count, len(self.times)) - 1]] * 8 if self.times else [1.0]
        record = Record(calls=[[1.0]], results=[1], seconds=seconds)
        return Outcome(0, b"", Counts(1, breaks), record, tuple(left), run=SimpleNamespace())  # type: ignore[arg-type]


def _edits(_: object, finding: Any) -> Iterator[Edit]:  # noqa: ANN401 - a finding
    texts = {"first": ("first\n", "gone\n"), "second": ("import torch\n", "import torch\nswitch\n")}

    def apply(module: cst.Module, line: int) -> cst.Module:
        return cst.parse_module(module.code.replace(*texts[finding.kind]))

    yield Edit("user.py", line=1, what=finding.kind, subject=(finding.kind, ""), apply=apply, is_of_file=True)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Runs:
    file = tmp_path / "user.py"
    file.write_text("import torch\nfirst\nsecond\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(searching, "PROPOSERS", [_edits])
    return _Runs(file)


def test_an_edit_that_does_harm_alone_is_tried_again_beside_the_kept_one(runs: _Runs) -> None:
    result = Search(runs, 40, 1e9, "", lambda _: None).search()  # type: ignore[arg-type]
    assert [(tried.edit.what, tried.state, tried.is_kept) for tried in result.tried] == [
        ("second", HELPS, True),
        ("first", HELPS, True),
    ]
    assert result.patched is not None and result.patched.counts.breaks == 0
    assert "still open" not in "\n".join(lines(result, ""))


def test_a_finding_that_stays_has_a_short_path_and_the_lines_of_the_edited_file(
    runs: _Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching.Search, "_try_again", lambda *_: False)
    result = Search(runs, 40, 1e9, "", lambda _: None).search()  # type: ignore[arg-type]
    text = "\n".join(lines(result, ""))
    assert text.endswith("still open: 1 finding, with the lines of the edited files\n  user.py: second")


def test_a_program_without_a_finding_is_not_called_one_without_an_edit(runs: _Runs) -> None:
    runs.text = "import torch\n"
    result = Search(runs, 40, 1e9, "", lambda _: None).search()  # type: ignore[arg-type]
    assert list(lines(result, ""))[1:] == ["nothing to repair: no finding needs a change"]


@pytest.mark.parametrize(
    ("times", "ratio"),
    [
        ([1.0, 1.0, 1.0, 1.0, 5.0, 1.0, 0.5], 2.0),
        ([1.0, 1.0, 1.0, 1.0, 5.0, 1.0, 4.0], 0.25),
    ],
)
def test_a_slower_call_is_measured_twice(runs: _Runs, times: list[float], ratio: float) -> None:
    runs.text = "import torch\nfirst\n"
    Path("user.py").write_text(runs.text)
    runs.only_forks = False
    runs.times = times
    result = Search(runs, 40, 1e9, "", lambda _: None).search()  # type: ignore[arg-type]
    assert result.ratio == ratio, runs.count
