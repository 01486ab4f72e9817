"""The exercise of adding a record, a command and a finding: in a copy of the project, few files are written."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

from tests.pipeline.test_adding_a_pass import ROOT, copy, digests, run

__all__ = ["copy"]

PARSER = '''"""The record of what a toy costs."""

from __future__ import annotations

from depyf.trace.kinds import Taken, parses


@parses("toy_cost")
def note_cost(taken: Taken) -> None:
    """Note the cost of a compile."""
    taken.compile.toy_cost = int(taken.payload or 0)
'''
COMMAND = '''"""`depyf weigh`: print the size of a file."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Print the size of a file.")
@click.argument("target", type=click.Path(path_type=Path))
def weigh(target: Path) -> None:
    """Print how many bytes TARGET has."""
    click.echo(target.stat().st_size)
'''
SIGN = '''SIGNS = (
    _sign("teapot", "a teapot is no tensor", "pour the tea before the call", "short and stout"),
'''
PAIR = '''

@shows("break-teapot")
def teapot() -> list[Any]:
    def pour(x: Any) -> Any:
        return x

    return _results(pour)


@follows("break-teapot")
def poured() -> list[Any]:
    return _results(lambda x: x)
'''
USES_KIND = """
from corpus.advice import programs
from corpus.advice.pair import PAIRS
from corpus.advice.programs import breaks
from depyf.findings import findings
from depyf.findings.catalogue import KINDS
from depyf.model.run import Compile, CompileId, Function, GraphBreak, Session
from depyf.model.user_line import UserLine

line = UserLine("f.py", 2, "pour(x)", "f")
found = GraphBreak("short and stout", "", (), "", line, (line,), 0, "")
made = Compile(CompileId(0, 0), "f", "f.py", 1, breaks=[found])
run = Session("2.13.0", "3.11", functions={"0": Function("0", "f", "f.py", 1, "", "0", compiles=[made])})
print(findings(run)[0].kind, findings(run)[0].fix, PAIRS["break-teapot"].shown.__name__, "break-teapot" in KINDS)
"""


def _replace(path: Path, old: str, new: str) -> None:
    source = path.read_text(encoding="utf-8")
    assert source.count(old) == 1, (path.name, source.count(old))
    path.write_text(source.replace(old, new), encoding="utf-8")


def _touched(before: dict[str, str], after: dict[str, str], what: str) -> int:
    changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    print(f"files touched to add a {what}: {len(changed)}")
    return len(changed)


def _write_log(path: Path) -> None:
    """Write a trace of torch's with one more record, of a kind that depyf does not know."""
    text = gzip.decompress((ROOT / "tests/trace/data/small_2.13.log.gz").read_bytes()).decode()
    head = text.partition("{")[0]
    fields = f'"frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "{hashlib.md5(b"42").hexdigest()}"'
    path.write_text(f'{text.rstrip()}\n{head}{{"toy_cost": {{}}, {fields}}}\n\t42\n', encoding="utf-8")


def test_a_record_is_a_parser_a_row_and_a_view(copy: Path) -> None:
    log = copy.parent / "toy.log"
    _write_log(log)
    before = digests(copy)
    (copy / "src/depyf/trace/kinds/toy_cost.py").write_text(PARSER, encoding="utf-8")
    model = copy / "src/depyf/model/run.py"
    _replace(model, '    backend: str = ""\n', '    backend: str = ""\n    toy_cost: int = 0\n')
    _replace(model, '    Row("backend", TEXT,', '    Row("toy_cost", INTEGER),\n    Row("backend", TEXT,')
    page = copy / "src/depyf/views/index_markdown.py"
    words = "backend_words(compiled)"
    _replace(page, f"            {words},", f'            f"{{{words}}} costs {{compiled.toy_cost}}",')
    assert _touched(before, digests(copy), "record") <= 3
    out = copy.parent / "out"
    run(copy, "-m", "depyf", "report", str(log), "-o", str(out))
    pages, indexes = list(out.rglob("index.md")), list(out.rglob("index.json"))
    assert any("costs 42" in path.read_text(encoding="utf-8") for path in pages)
    assert any('"toy_cost": 42' in path.read_text(encoding="utf-8") for path in indexes)


def test_a_command_is_its_file(copy: Path) -> None:
    before = digests(copy)
    (copy / "src/depyf/cli/weigh.py").write_text(COMMAND, encoding="utf-8")
    assert _touched(before, digests(copy), "command") <= 1
    assert "Print the size of a file." in run(copy, "-m", "depyf", "--help")
    assert run(copy, "-m", "depyf", "weigh", "pyproject.toml").strip() == str((copy / "pyproject.toml").stat().st_size)


def test_a_finding_is_a_row_and_its_programs(copy: Path) -> None:
    before = digests(copy)
    _replace(copy / "src/depyf/findings/catalogue/breaks.py", "SIGNS = (\n", SIGN)
    programs = copy / "corpus/advice/programs/breaks.py"
    programs.write_text(programs.read_text(encoding="utf-8") + PAIR, encoding="utf-8")
    assert _touched(before, digests(copy), "finding") <= 2
    expected = "break-teapot pour the tea before the call teapot True"
    assert run(copy, "-c", USES_KIND).strip() == expected
