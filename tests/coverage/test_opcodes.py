"""Every opcode of every Python that is read is handled, and shown by a test: `depyf coverage`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from corpus.opcodes.assembled import ASSEMBLED, assemble
from corpus.opcodes.programs import Program, opcodes_of, programs
from depyf.bytecode.versions.known import FACTS
from depyf.cli import opcodes as table
from depyf.cli.commands import depyf
from depyf.cli.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_USAGE
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.emit.statements import write
from depyf.decompiler.module import decompile_module
from depyf.decompiler.passes.definitions import define
from depyf.decompiler.pipeline.run import decompile
from depyf.verify.level import Level
from tests import interpreters
from tests.oracles import compiled, oracle

DOCS = Path(__file__).resolve().parents[2] / "docs" / "coverage.md"
SHOWN_BY = {
    (version, program): {
        name: becomes for name, (shown_by, becomes) in table._data(version)["tests"].items() if shown_by == program.name
    }
    for version in FACTS
    for program in programs()
}
CASES = [
    pytest.param(program, version, id=f"{program.name.replace(' ', '_')}-{interpreters.label(version)}")
    for (version, program), shown in SHOWN_BY.items()
    if shown
]
BY_HAND = [
    pytest.param(name, version, id=f"{name}-{interpreters.label(version)}")
    for version, facts in FACTS.items()
    for name in ASSEMBLED
    if name in facts.table.opcodes.values()
]


@pytest.mark.parametrize(("program", "version"), CASES)
def test_program(program: Program, version: tuple[int, int]) -> None:
    code = compiled(program.source, version)
    operations_of = opcodes_of(code)
    assert {name: operations_of.get(name) for name in SHOWN_BY[version, program]} == SHOWN_BY[version, program]
    verdict = decompile_module(code, oracle=oracle(version)).verdict
    assert verdict.level > Level.UNPROVEN, verdict.reason


@pytest.mark.parametrize(("name", "version"), BY_HAND)
def test_assembled(name: str, version: tuple[int, int]) -> None:
    code = assemble(version, ASSEMBLED[name])
    body, names = decompile(code)
    definition, _ = define(body, names)
    assert write([definition], Grammar.of(code)) == ASSEMBLED[name].source
    assert name in opcodes_of(code)


@pytest.mark.parametrize("version", FACTS, ids=interpreters.label)
def test_no_opcode_is_without_a_test(version: tuple[int, int]) -> None:
    rows = table.opcodes(version)
    assert {opcode.name for opcode in rows} == set(FACTS[version].table.opcodes.values())
    assert [opcode.name for opcode in rows if not opcode.handled] == []
    assert [opcode.name for opcode in rows if not opcode.test] == []


def test_the_tests_that_are_named_exist() -> None:
    ids = {f"program[{case.id}]" for case in CASES} | {f"assembled[{case.id}]" for case in BY_HAND}
    named = {opcode.test.partition("::test_")[2] for version in FACTS for opcode in table.opcodes(version)}
    assert named <= ids


def test_the_page_in_the_docs_is_what_the_command_prints() -> None:
    done = CliRunner().invoke(depyf, ["coverage", "--markdown"])
    assert done.exit_code == EXIT_DONE
    assert DOCS.read_text(encoding="utf-8") == done.stdout


def test_one_version() -> None:
    done = CliRunner().invoke(depyf, ["coverage", "--python", "3.12"])
    assert done.exit_code == EXIT_DONE
    assert done.stdout.startswith("Python 3.12: 109 opcodes, 109 with a handler and a test\n")
    assert "specialised (" in done.stdout
    assert "Python 3.11" not in done.stdout


def test_wrong_usage() -> None:
    assert CliRunner().invoke(depyf, ["coverage", "--python", "2.7"]).exit_code == EXIT_USAGE


def test_an_opcode_without_a_test_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_data", lambda version: {"tests": {}, "hidden": {}})
    done = CliRunner().invoke(depyf, ["coverage", "--python", "3.8"])
    assert done.exit_code == EXIT_FAILED
    assert "3.8 LOAD_FAST" in done.stderr
