"""Small sources of this repository: of its tests, of the programs that show opcodes, and of depyf itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from depyf.bytecode.code import Version
from tools.forms.cases import ROOT
from tools.opcode_tests.programs import programs

VERSIONS: tuple[Version, ...] = ((3, 8), (3, 11), (3, 14))
OWN: Version = (3, 11)
LONGEST = 16
"""Lines of a source."""


def corpus() -> list[tuple[str, Version]]:
    """Return sources and the Pythons that compile them, short ones first."""
    found = dict.fromkeys([*_of_tests(), *_of_programs(), *((text, OWN) for text in _of_depyf())])
    return sorted(found, key=lambda each: (len(each[0]), each))


def _pieces(text: str) -> Iterator[str]:
    for piece in re.split(r"\n\n+(?=\S)", text):
        if piece.count("\n") <= LONGEST:
            yield piece.strip("\n") + "\n"


def _of_tests() -> Iterator[tuple[str, Version]]:
    for path in sorted((ROOT / "tests/decompiler/sources").glob("since_*.txt")):
        _, major, minor, *_ = path.stem.split("_")
        for version in VERSIONS:
            if version >= (int(major), int(minor)):
                yield from ((piece, version) for piece in _pieces(path.read_text(encoding="utf-8")))


def _of_programs() -> Iterator[tuple[str, Version]]:
    for program in programs():
        for version in VERSIONS:
            if program.runs_on(version):
                yield from ((piece, version) for piece in _pieces(program.source))
                if program.source.count("\n") <= LONGEST:
                    yield program.source, version


def _of_depyf() -> Iterator[str]:
    for path in [*sorted((ROOT / "src/depyf").rglob("*.py")), *sorted((ROOT / "tests").rglob("*.py"))]:
        for node in ast.walk(ast.parse(_text(path))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                text = bare(node)
                if text.count("\n") <= LONGEST:
                    yield text


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def bare(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the text of a function without what belongs to the code around it, and without its docstring."""
    node.decorator_list, node.returns = [], None
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    for parameter in every:
        if parameter is not None:
            parameter.annotation = None
    if ast.get_docstring(node) is not None:
        node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(node) + "\n"
