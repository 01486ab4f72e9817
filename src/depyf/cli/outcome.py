"""The decompiled source of one target."""

from __future__ import annotations

import ast
import time

from depyf.bytecode.records import dataclass
from depyf.cli.target import Class, Found, Function, Module
from depyf.decompiler.api import decompile_code, decompile_module, source_of
from depyf.decompiler.definition import Definition, definition_source, definitions
from depyf.decompiler.module import module_source
from depyf.decompiler.pipeline.table import NOTHING
from depyf.errors import DecompilationError
from depyf.verify.candidate.oracle import Oracle
from depyf.verify.level import Level, Verdict

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A source, its verdict (None if it was not proven), and the seconds it took."""

    source: str
    verdict: Verdict | None
    seconds: float


def decompile_found(
    resolved: Found,
    *,
    prove: bool,
    without: frozenset[str] = NOTHING,
    oracle: Oracle | None = None,
    as_written: bool = False,
) -> Outcome:
    """Decompile the code of a target.


    Raises DecompilationError for code that cannot be decompiled.

    Args:
        resolved: the code, with its module if that is known.
        prove: whether to prove the source.
        without: the passes to skip.
        oracle: the interpreters that compile for other versions.
        as_written: put the source on the lines of the original; it is then always proven.
    """
    start = time.perf_counter()
    verdict = None
    laid = on_its_lines(resolved, without, oracle) if as_written else None
    if laid is not None:
        return Outcome(*laid, time.perf_counter() - start)
    match resolved:
        case Module(code) if prove:
            module = decompile_module(code, oracle=oracle, without=without)
            source, verdict = module.source, module.verdict
        case Module(code):
            source = module_source(code, without=without)
        case Class(module_code, qualname):
            kinds = (ast.ClassDef,)
            defined = definition_source(module_code, qualname, kinds, prove=prove, oracle=oracle, without=without)
            if defined is None:
                raise DecompilationError(f"the source of the module has no class {qualname!r}", code=str(module_code))
            source, verdict = defined
        case Function():
            source, verdict = _in_module(resolved, prove, without) or _alone(resolved, prove, without)
    return Outcome(source, verdict, time.perf_counter() - start)


def on_its_lines(resolved: Found, without: frozenset[str], oracle: Oracle | None) -> tuple[str, Verdict] | None:
    """Return a target as it is in its module, on the lines of the original, with its verdict.

    Return None if the module is unknown or if the running Python cannot find the definition in the text.

    Args:
        resolved: the code, with its module if that is known.
        without: the passes to skip.
        oracle: the interpreters that compile for other versions.
    """
    module = resolved.code if isinstance(resolved, Module) else resolved.module
    if module is None:
        return None
    decompiled_module = decompile_module(module, oracle=oracle, without=without, as_written=True)
    if isinstance(resolved, Module):
        return decompiled_module.source, decompiled_module.verdict
    try:
        stmts = ast.parse(decompiled_module.source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    kinds = FUNCTIONS if isinstance(resolved, Function) else (ast.ClassDef,)
    parts = [definition for definition in definitions(stmts, resolved.qualname) if isinstance(definition, kinds)]
    lines = decompiled_module.source.splitlines(keepends=True)
    text = ["".join(lines[_first(part) - 1 : part.end_lineno]) for part in parts]
    return ("\n".join(text), decompiled_module.verdict) if text else None


def _first(definition: Definition) -> int:
    """Return the first line of a definition, including its decorators."""
    return min([definition.lineno, *(decorator.lineno for decorator in definition.decorator_list)])


def _in_module(resolved: Function, prove: bool, without: frozenset[str]) -> tuple[str, Verdict | None] | None:
    """Return a function as it is in its module, or None if the module is unknown or not proven."""
    if resolved.module is None:
        return None
    try:
        defined = definition_source(resolved.module, resolved.qualname, FUNCTIONS, prove=prove, without=without)
    except DecompilationError:
        return None  # The function itself may still be decompiled.
    proven = defined is not None and (defined[1] is None or defined[1].level > Level.UNPROVEN)
    return defined if proven else None


def _alone(resolved: Function, prove: bool, without: frozenset[str]) -> tuple[str, Verdict | None]:
    """Return a function from its own code alone, without defaults, annotations and decorators."""
    if not prove:
        return source_of(resolved.code, without=without), None
    function = decompile_code(resolved.code, without=without)
    return function.source, function.verdict
