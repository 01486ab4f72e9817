"""Sources that go there and back: compiled by any Python on the machine, decompiled, and compiled by it again."""

from __future__ import annotations

import ast

from depyf.bytecode.code import Code
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.emit.statements import write
from depyf.decompiler.passes.module import module_body
from depyf.decompiler.pipeline.run import decompile
from depyf.verify.compare import verify
from depyf.verify.level import Level
from tests.bytecode.listings import compiled


def decompiled(code: Code) -> str:
    """Return the source of a module's code."""
    body, names = decompile(code)
    return write(module_body(body, names.objects), Grammar.of(code))


def exact(source: str, version: tuple[int, int], optimize: int = 0) -> str:
    """Return what a source decompiles to; fail unless that compiles to the same again."""
    original = compiled(source, version, optimize)
    text = decompiled(original)
    verdict = verify(original, compiled(text, version, optimize))
    assert verdict.level is Level.EXACT, f"{verdict.reason}\n{text}"
    return text


def comes_back(source: str, version: tuple[int, int]) -> None:
    """Fail unless a source comes back as it was written, and thus to the same code."""
    assert exact(source, version) == source


def tree_comes_back(source: str, version: tuple[int, int]) -> None:
    """Fail unless a source comes back with the tree that was written, however it was laid out."""
    assert ast.unparse(ast.parse(exact(source, version))) == ast.unparse(ast.parse(source))
