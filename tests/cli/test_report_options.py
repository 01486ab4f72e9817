"""Where `depyf report` writes: into the dump, or where `-o` says, and never over other files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

pytest.importorskip("click", reason="the command line needs click")
pytest.importorskip("jinja2", reason="the report needs jinja2")

from click.testing import CliRunner, Result

from depyf.cli.commands import depyf
from depyf.cli.exit_codes import EXIT_DONE, EXIT_USAGE

TRACE = Path(__file__).resolve().parents[1] / "trace" / "data" / "small_2.13.log.gz"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(depyf, ["report", *map(str, arguments)])


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    assert run(TRACE, "-o", tmp_path / "dump").exit_code == EXIT_DONE
    return tmp_path / "dump"


def test_the_report_of_a_dump_is_written_where_it_is_asked_for(dump: Path, tmp_path: Path) -> None:
    into = tmp_path / "other"
    for _ in range(2):
        result = run(dump, "-o", into)
        assert (result.exit_code, result.output.strip()) == (EXIT_DONE, str(into / "report" / "index.html"))
    assert (into / "report" / "index.html").read_bytes() == (dump / "report" / "index.html").read_bytes()
    names_in_dump, other = ({path.name for path in (place / "report" / "data").iterdir()} for place in (dump, into))
    assert names_in_dump == other


def test_the_report_of_a_dump_stays_in_it_unless_told(dump: Path) -> None:
    for options in ((), ("-o", dump)):
        assert run(dump, *options).output.strip() == str(dump / "report" / "index.html")
    assert (dump / "index.json").is_file()


@pytest.mark.parametrize("is_made_by_depyf", [True, False])
def test_other_files_are_never_overwritten(dump: Path, tmp_path: Path, is_made_by_depyf: bool) -> None:
    into = tmp_path / "mine"
    into.mkdir()
    if is_made_by_depyf:
        assert run(TRACE, "-o", into).exit_code == EXIT_DONE
    (into / "thesis.tex").write_text("mine")
    before = sorted(path.name for path in into.iterdir())
    for source in (dump, TRACE):
        refused = run(source, "-o", into)
        assert refused.exit_code == EXIT_USAGE and "contains other files" in refused.stderr
    assert sorted(path.name for path in into.iterdir()) == before


def test_what_is_to_be_read_is_not_removed_with_an_earlier_report(tmp_path: Path) -> None:
    into = tmp_path / "out"
    traces = into / "rank_0" / "traces"
    assert run(TRACE, "-o", into).exit_code == EXIT_DONE
    traces.mkdir(parents=True)
    (traces / "rank_0.log").write_bytes(gzip.decompress(TRACE.read_bytes()))
    refused = run(traces, "-o", into)
    assert refused.exit_code == EXIT_USAGE and "is inside" in refused.stderr
    assert (traces / "rank_0.log").is_file()


def test_dumps_and_traces_are_reported_together(dump: Path, tmp_path: Path) -> None:
    result = run(dump, TRACE, "-o", tmp_path / "out")
    assert result.exit_code == EXIT_DONE, result.output
    out = tmp_path / "out"
    assert result.output.split() == [str(out / "report" / "index.html"), str(out / "dump_1" / "report" / "index.html")]


def test_a_path_that_is_not_there_is_said_and_nothing_is_made(tmp_path: Path) -> None:
    refused = run(tmp_path / "nothing", "-o", tmp_path / "out")
    assert refused.exit_code == EXIT_USAGE and "neither a dump nor a trace" in refused.stderr
    assert not (tmp_path / "out").exists()
