"""Answers with a budget of tokens: findings first, never above the budget, ids that lead to everything else."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from depyf.cli.commands import depyf
from depyf.cli.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_USAGE
from depyf.findings import findings
from depyf.model.index_json import index_json
from depyf.model.index_reader import read_run
from depyf.views.brief.answer import Question, UnknownIdError, _without_repeats, answer, files_of
from depyf.views.brief.fitted import LEAST, shortened
from depyf.views.brief.ids import Section, finding_id, section_of
from depyf.views.brief.tokens import count

torch = pytest.importorskip("torch", reason="the runs are made by torch")

BUDGETS = (LEAST, 700, 850, 1000, 2000, 5000, 100_000)


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import depyf as package

    directory = tmp_path_factory.mktemp("run") / "dump"

    def scaled(x: torch.Tensor, by: int) -> torch.Tensor:
        if x.sum() > 0:
            print("positive")
        return x * by

    def listed(x: torch.Tensor) -> torch.Tensor:
        values = [x.tolist()]
        torch._dynamo.graph_break()
        return x + len(values)

    torch._dynamo.reset()
    with package.prepare_debug(directory):
        compiled = torch.compile(scaled, backend="eager", dynamic=False)
        for by in range(2, 5):
            compiled(torch.ones(3), by)
        torch.compile(listed, backend="eager")(torch.ones(2))
    return directory


def _question(dump: Path, budget: int, tried: tuple[dict[str, Any], ...] = ()) -> Question:
    return Question({"program": read_run(dump)}, budget, tried, "depyf show dump --json --budget 2000 --id ID")


def _answered(dump: Path, budget: int, wanted: str = "") -> dict[str, Any]:
    text = answer(_question(dump, budget), wanted)
    assert count(text) <= budget, (wanted, count(text), text)
    brief: dict[str, Any] = json.loads(text)
    return brief


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_worst_finding_comes_first_and_the_budget_is_kept(dump: Path, budget: int) -> None:
    brief = _answered(dump, budget)
    first = findings(read_run(dump).session)[0]
    shown = brief["findings"][0]
    assert shown["id"] == finding_id(first)
    assert shown["file"] is None or (shown["file"], shown["line"]) == (first.where.file, first.where.line)
    assert set(shown) == {"id", "severity", "kind", "file", "line", "cause", "fix", "tried", "cost", "more"}


def test_with_enough_tokens_everything_is_there_once(dump: Path) -> None:
    brief = _answered(dump, 100_000)
    run = read_run(dump)
    assert "rest" not in brief
    assert [finding["id"] for finding in brief["findings"]] == [
        finding_id(finding) for finding in findings(run.session)
    ]
    assert [compiled["id"] for compiled in brief["compiles"]] == [
        str(compiled.id) for _, compiled in run.session.compiles()
    ]
    text = json.dumps(brief)
    for finding in brief["findings"]:
        assert text.count(json.dumps(finding["cause"])) == 1


@pytest.mark.parametrize("budget", (LEAST, 900, 2000))
def test_all_can_be_reached_by_ids_from_the_first_answer(dump: Path, budget: int) -> None:
    """Follow every id of every answer, as an agent may, until nothing is new."""
    waiting, seen, briefs = [""], set(), {}
    while waiting:
        wanted = waiting.pop()
        if wanted not in seen:
            seen.add(wanted)
            briefs[wanted] = _answered(dump, budget, wanted)
            waiting += [item for item in _ids(briefs[wanted]) if item not in seen]
    run = read_run(dump)
    assert {finding_id(finding) for finding in findings(run.session)} <= seen
    assert {str(compiled.id) for _, compiled in run.session.compiles()} <= seen
    reached = {name.partition(":")[0] for name in seen}
    whole = {brief["code"] for brief in briefs.values() if "code" in brief}
    codes = {name for name in files_of(run) if name.startswith("__transformed")}
    assert codes - reached <= {name for name in codes if run.text(name).rstrip("\n") in whole}


def _ids(brief: dict[str, Any]) -> Iterator[str]:
    yield from brief.get("rest", ())
    yield from brief.get("files", ())
    yield from brief.get("compiles", ()) if brief["view"] == "finding" else ()
    yield from [brief["guards"]] if "guards" in brief else []
    for item in (*brief.get("findings", ()), *brief.get("items", ())):
        yield from (item["id"], *item.get("more", ()))
    if brief["view"] in ("brief", "compiles"):
        yield from (compiled["id"] for compiled in brief.get("compiles", ()))


def test_the_pages_of_a_file_are_its_text(dump: Path) -> None:
    run = read_run(dump)
    name = next(name for name in sorted(files_of(run)) if name.startswith("full_code"))
    pages, wanted = [], name
    while wanted:
        brief = _answered(dump, 700, wanted)
        pages.append(brief["text"])
        wanted = brief.get("rest", [""])[0]
    assert len(pages) > 1
    assert "\n".join(pages) == run.text(name).rstrip("\n")
    assert _answered(dump, 700, f"{name}:3-4")["text"].count("\n") == 1


def test_a_finding_has_its_source_and_the_failed_guards(dump: Path) -> None:
    run = read_run(dump)
    recompile_finding = next(
        finding for finding in findings(run.session) if "recompile" in finding.kind or "argument" in finding.cause
    )
    brief = _answered(dump, 3000, finding_id(recompile_finding))
    marked = [line for line in brief["source"] if line.split(" ")[0].endswith(">")]
    assert len(marked) == 1
    assert brief["failed_guards"][0]["guards"]


def test_what_was_tried_belongs_to_its_finding(dump: Path) -> None:
    worst_finding = findings(read_run(dump).session)[0]
    place = {"kind": worst_finding.kind, "where": str(worst_finding.where or "")}
    tried = ({"finding": place, "edit": "use torch.where", "state": "helps", "told": "1 break less", "kept": True},)
    brief = json.loads(answer(_question(dump, 2000, tried)))
    assert brief["findings"][0]["tried"] == [
        {"edit": "use torch.where", "state": "helps", "told": "1 break less", "kept": True}
    ]
    assert all(not finding["tried"] for finding in brief["findings"][1:])


def test_ids_are_the_same_in_the_next_run_and_after_lines_have_moved(dump: Path, tmp_path: Path) -> None:
    index = json.loads((dump / "index.json").read_text(encoding="utf-8"))
    session = read_run(dump).session
    again = json.loads(index_json(session, findings(session)))
    assert [finding["cause"] for finding in again["findings"]] == [finding["cause"] for finding in index["findings"]]
    first = findings(session)[0]
    assert first.where is not None
    from dataclasses import replace

    assert finding_id(first) == finding_id(replace(first, where=replace(first.where, line=first.where.line + 7)))


@pytest.mark.parametrize(
    "wanted", ["0/99", "f-00000000", "../index.json", "/etc/passwd", "source/../index.json", "x:1-"]
)
def test_an_unknown_id_is_an_error(dump: Path, wanted: str) -> None:
    with pytest.raises(UnknownIdError):
        answer(_question(dump, 2000), wanted)


def test_too_small_a_budget_is_an_error(dump: Path) -> None:
    with pytest.raises(ValueError, match=str(LEAST)):
        answer(_question(dump, LEAST - 1))


def test_the_command(dump: Path, tmp_path: Path) -> None:
    def shown(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(depyf, ["show", str(dump), *arguments])
        return done.exit_code, done.output

    code, text = shown("--json", "--budget", "2000")
    assert code == EXIT_DONE and count(text) <= 2000
    first = json.loads(text)["findings"][0]["id"]
    assert json.loads(shown("--json", "--budget", "2000", "--id", first)[1])["view"] == "finding"
    assert shown("--json", "--budget", "2000", "--id", "0/99")[0] == EXIT_USAGE
    assert shown("--json", "--budget", "3")[0] == EXIT_USAGE
    assert shown("--budget", "2000")[0] == EXIT_USAGE
    assert shown("--json", "--id", first)[0] == EXIT_USAGE
    (dump / "fix.json").write_text("[]", encoding="utf-8")
    assert shown("--json", "--budget", "2000")[0] == EXIT_FAILED
    (dump / "fix.json").unlink()


def test_a_run_without_compiles_says_so(tmp_path: Path) -> None:
    import depyf as package

    with package.prepare_debug(tmp_path):
        pass
    brief = _answered(tmp_path, LEAST)
    assert brief["findings"] == [] and brief["run"]["compiles"] == 0


def test_counting_is_on_the_safe_side() -> None:
    """A byte-pair encoding makes one token of about four letters, and of a byte at most one."""
    generator = random.Random(0)
    for _ in range(300):
        text = "".join(generator.choice("aZ9 _.\n\t{}é漢🙂") for _ in range(generator.randrange(60)))
        assert len(text.encode()) / 4 <= count(text) <= len(text.encode())
    prose = "Dynamo cannot pick a branch until the graph has run, because the value is unknown."
    assert len(prose) / 4 <= count(prose)


def test_long_texts_are_shortened_and_others_kept() -> None:
    value = {"a": ["x" * 50, 1, None], "b": {"c": "short"}}
    assert shortened(value, 10) == {"a": ["x" * 9 + "…", 1, None], "b": {"c": "short"}}


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("a.py", Section("a.py")),
        ("a.py:3", Section("a.py", 3, 3)),
        ("a.py:3-", Section("a.py", 3, None)),
        ("0/1:guards:4-9", Section("0/1:guards", 4, 9)),
        ("0/1", Section("0/1")),
    ],
)
def test_sections(text: str, section: Section) -> None:
    assert section_of(text) == section


def test_a_row_of_a_compile_repeats_nothing_of_the_one_before() -> None:
    first = {"id": "0/0", "function": "f", "where": "f.py:1", "guards": 20, "seconds": 1.0}
    third = {"id": "0/2", "function": "f", "where": "f.py:1", "guards": 21}
    rows = [first, {**first, "id": "0/1", "seconds": 2.0}, third]
    assert list(_without_repeats(rows)) == [
        first,
        {"id": "0/1", "seconds": 2.0},
        {"id": "0/2", "guards": 21, "seconds": None},
    ]
