"""A large dump keeps the files that are seldom opened in an archive, and depyf reads them from there."""

from __future__ import annotations

import json
import re
import tarfile
from collections import Counter
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="dumps are made by torch")

import depyf  # noqa: E402
from depyf.model.archive import ARCHIVE, archived  # noqa: E402
from depyf.torch.dump import packing  # noqa: E402
from depyf.views.html.build import build_report  # noqa: E402


def _dump(directory: Path, **options: bool) -> depyf.Session:
    def several(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x = torch.relu(x @ y)
        torch._dynamo.graph_break()
        return (x * 2).sum()

    torch._dynamo.reset()
    with depyf.prepare_debug(directory, log_bytecode=True, **options) as session:
        x = torch.ones(4, 4, requires_grad=True)
        torch.compile(several, backend="aot_eager")(x, torch.ones(4, 4)).backward()
    return session


def _names(directory: Path) -> set[str]:
    return {path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file()}


def _without_numbers(names: set[str]) -> Counter[str]:
    """Count names without the numbers of graphs, which torch goes on counting in a second dump of a process."""
    return Counter(re.sub(r"__compiled_fn_\d+", "__compiled_fn_K", name) for name in names)


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MOST_FILES", 5)


def test_a_small_dump_stays_as_it_is(tmp_path: Path) -> None:
    session = _dump(tmp_path)
    assert not session.packed
    assert not (tmp_path / ARCHIVE).exists()
    assert any(".Joint_graph." in name for name in _names(tmp_path))


@pytest.mark.usefixtures("small_limit")
def test_a_large_dump_is_packed_and_loses_nothing(tmp_path: Path) -> None:
    _dump(tmp_path / "all", all_files=True)
    session = _dump(tmp_path / "packed")
    whole, files = _names(tmp_path / "all"), _names(tmp_path / "packed")
    assert session.packed and ARCHIVE in files
    assert _without_numbers(files | session.packed) == _without_numbers(whole | {ARCHIVE})
    assert not files & session.packed
    with tarfile.open(tmp_path / "packed" / ARCHIVE) as archive:
        assert set(archive.getnames()) == session.packed
    opened = (".Captured_Graph.", ".Forward_graph.", ".Backward_graph.", "__transformed_code_", "full_code_for_")
    assert not {name for name in session.packed if any(part in name for part in opened) and name.endswith(".py")}
    assert any(".Joint_graph." in name for name in session.packed)
    assert not any("bytecode" in name for name in session.packed), "listings were asked for"
    stages = ("Joint_graph", "AOT_")
    for name in sorted(name for name in session.packed if any(stage in name for stage in stages)):
        text = archived(tmp_path / "packed")[name]
        assert text.startswith("#") and text.count("\n") > 3


@pytest.mark.usefixtures("small_limit")
def test_the_index_names_every_packed_file_and_readers_find_them(tmp_path: Path) -> None:
    session = _dump(tmp_path)
    index = json.loads((tmp_path / "index.json").read_text(encoding="utf-8"))
    assert set(index["packed"]) == session.packed
    markdown = (tmp_path / "index.md").read_text(encoding="utf-8")
    artefacts = {artefact.file for _, compiled in session.compiles() for artefact in compiled.artefacts}
    assert all(f"`{name}`" in markdown for name in session.packed & artefacts)
    assert all((tmp_path / name).is_file() or name in session.packed for name in artefacts)
    linked = {part.partition(")")[0] for part in markdown.split("](")[1:]}
    assert all((tmp_path / target).is_file() for target in linked)
    run = depyf.read_run(tmp_path)
    assert all(run.text(name) for name in artefacts)


@pytest.mark.usefixtures("small_limit")
def test_the_report_of_a_packed_dump_has_the_packed_graphs(tmp_path: Path) -> None:
    _dump(tmp_path)
    report = build_report(tmp_path, single_file=True)
    assert "Joint_graph" in report.page.read_text(encoding="utf-8")


@pytest.mark.usefixtures("small_limit")
def test_a_second_context_adds_to_the_archive(tmp_path: Path) -> None:
    first = set(_dump(tmp_path).packed)
    second = _dump(tmp_path)
    assert first < second.packed
    assert set(archived(tmp_path)) == second.packed
    run = depyf.read_run(tmp_path)
    assert all(run.text(name) for name in second.packed)


def test_a_context_with_few_files_leaves_the_archive_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MOST_FILES", 5)
    first = set(_dump(tmp_path).packed)
    changed = (tmp_path / ARCHIVE).stat().st_mtime_ns
    monkeypatch.setattr(packing, "MOST_FILES", 400)
    session = _dump(tmp_path)
    assert session.packed == first and (tmp_path / ARCHIVE).stat().st_mtime_ns == changed
    run = depyf.read_run(tmp_path)
    artefacts = {artefact.file for _, compiled in session.compiles() for artefact in compiled.artefacts}
    assert all(run.text(name) for name in artefacts | first)


def test_an_archive_of_an_earlier_program_is_removed(tmp_path: Path) -> None:
    (tmp_path / ARCHIVE).write_bytes(b"old")
    _dump(tmp_path)
    assert not (tmp_path / ARCHIVE).exists()


@pytest.mark.usefixtures("small_limit")
def test_without_space_for_the_archive_all_files_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(packing, "write_whole_bytes", full)
    session = _dump(tmp_path)
    assert not session.packed
    assert any(".Joint_graph." in name for name in _names(tmp_path))
    assert any("No space left" in problem.message for problem in session.problems)
    assert "No space left" in (tmp_path / "depyf_problems.txt").read_text(encoding="utf-8")


def test_a_damaged_archive_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / ARCHIVE).write_bytes(b"not an archive")
    with pytest.raises(OSError, match=ARCHIVE):
        archived(tmp_path)
