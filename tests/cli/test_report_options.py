"""`depyf report` refuses what it would otherwise pass over in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("click", reason="the command line needs click")

from click.testing import CliRunner

from depyf.cli.commands import depyf
from depyf.cli.exit_codes import EXIT_DONE, EXIT_USAGE

TRACE = Path(__file__).resolve().parents[1] / "trace" / "data" / "small_2.13.log.gz"


def test_a_dump_has_its_report_inside(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="the report needs jinja2")
    dump, other = tmp_path / "dump", tmp_path / "other"
    assert CliRunner().invoke(depyf, ["report", str(TRACE), "-o", str(dump)]).exit_code == EXIT_DONE
    refused = CliRunner().invoke(depyf, ["report", str(dump), "-o", str(other)])
    assert refused.exit_code == EXIT_USAGE
    assert "is a dump, its report is written into it" in refused.stderr
    assert not other.exists()
    assert CliRunner().invoke(depyf, ["report", str(dump)]).exit_code == EXIT_DONE
