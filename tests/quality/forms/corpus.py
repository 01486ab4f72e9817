"""Small sources: of the tests, of the programs that show opcodes, of depyf itself, of the library, and random ones."""

from __future__ import annotations

import ast
import random
import re
import sysconfig
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from corpus.opcodes.programs import programs
from corpus.random_matches import Matches
from depyf.bytecode.code import Version
from tests.quality.forms.cases import ROOT

VERSIONS: tuple[Version, ...] = ((3, 11), (3, 8), (3, 13), (3, 12), (3, 10), (3, 7), (3, 9), (3, 14))
"""Pythons that compile small sources, the one of most functions first."""
OF_FUNCTIONS = 6
"""So many of them, from the first, compile functions of the library too."""
LONGEST = 24
"""Lines of a source."""
OF_THE_LIBRARY = 7000
"""Functions of the library, at random."""
TESTS_OF_PYTHON = (
    "annotations", "asyncgen", "class", "compile", "contextlib", "coroutines", "decorators", "dis", "except_star",
    "exceptions", "fstring", "generators", "genexps", "grammar", "keywordonlyarg", "listcomps", "named_expressions",
    "opcodes", "patma", "peepholer", "pep646_syntax", "positional_only_arg", "scope", "setcomps", "super", "syntax",
    "sys_settrace", "types", "unpack", "unpack_ex", "with",
)
"""Test files of the library that show the grammar."""
RANDOM_MATCHES = 1200


def corpus() -> list[tuple[str, Version]]:
    """Return sources and the Pythons that compile them, short ones first."""
    ours = [*functions(ROOT / "src/depyf"), *functions(ROOT / "tests"), *functions(ROOT / "tools")]
    library = functions(Path(sysconfig.get_path("stdlib")))
    random.Random(1).shuffle(library)
    matches = [Matches(seed).function() for seed in range(RANDOM_MATCHES)]
    texts = [*ours, *_in_tests_of_python(), *matches, *library[:OF_THE_LIBRARY]]
    # Most functions are compiled by one Python: the versions differ in few rules.
    turns = [VERSIONS[0 if number % 3 else number // 3 % OF_FUNCTIONS] for number in range(len(texts))]
    spread = zip(texts, turns, strict=True)
    sources = dict.fromkeys([*_of_tests(), *_of_programs(), *_in_tests(), *spread])
    return sorted(sources, key=lambda source: (len(source[0]), source))


def _pieces(text: str) -> Iterator[str]:
    for piece in re.split(r"\n\n+(?=\S)", text):
        if piece.count("\n") <= LONGEST:
            yield piece.strip("\n") + "\n"


def _of_tests() -> Iterator[tuple[str, Version]]:
    folder = ROOT / "tests/decompiler"
    for path in sorted([*folder.glob("sources/since_*.txt"), *folder.glob("old_sources/until_*.txt")]):
        word, major, minor, *_ = path.stem.split("_")
        for version in VERSIONS:
            if version >= (int(major), int(minor)) if word == "since" else version <= (int(major), int(minor)):
                yield from ((piece, version) for piece in _pieces(path.read_text(encoding="utf-8")))


def _of_programs() -> Iterator[tuple[str, Version]]:
    for program in programs():
        for version in VERSIONS:
            if program.runs_on(version):
                yield from ((piece, version) for piece in _pieces(program.source))
                if program.source.count("\n") <= LONGEST:
                    yield program.source, version


def _in_tests() -> Iterator[tuple[str, Version]]:
    """Yield the programs that stand as strings in the decompiler's tests."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_program(node.value):
                for piece in _pieces(node.value.strip("\n").expandtabs() + "\n"):
                    yield from ((piece, version) for version in VERSIONS)


def _is_program(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return any(not isinstance(stmt, ast.Expr) or not isinstance(stmt.value, ast.Name) for stmt in tree.body)


def functions(folder: Path) -> list[str]:
    """Return the text of each small function in the files of a folder, without those of installed packages."""
    others = {"site-packages", "lib2to3", "test"}
    return functions_of(path for path in sorted(folder.rglob("*.py")) if others.isdisjoint(path.parts))


def _in_tests_of_python() -> list[str]:
    folder = Path(sysconfig.get_path("stdlib")) / "test"
    paths = [folder / f"test_{name}.py" for name in TESTS_OF_PYTHON]
    return functions_of(path for path in paths if path.exists())


def functions_of(paths: Iterable[Path]) -> list[str]:
    """Return the text of each small function in files."""
    texts = []
    for path in paths:
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                text = bare(node)
                if text.count("\n") <= LONGEST:
                    texts.append(text)
    return texts


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
