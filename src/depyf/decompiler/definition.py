"""Extract one definition from a decompiled module: a function or a class.

A function's own code has neither its defaults nor its annotations and decorators, and a class has only the code of its
body. All of these are in the code around it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from depyf.bytecode.code import Code
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.emit.statements import DEFINITIONS, write
from depyf.decompiler.lift.definitions import ANNOTATE
from depyf.decompiler.module import judge
from depyf.decompiler.passes.deferred import FORMATS
from depyf.decompiler.passes.module import module_body
from depyf.decompiler.passes.type_params import GENERIC
from depyf.decompiler.passes.walk import inner
from depyf.decompiler.pipeline.run import NO_CODES, decompile
from depyf.decompiler.pipeline.table import NOTHING
from depyf.errors import DecompilationError, faults_named
from depyf.verify.candidate.oracle import Oracle
from depyf.verify.level import Level, Verdict

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
LOCALS = "<locals>"
EVALUATED = ((FORMATS[1],), FORMATS[:1])
"""Parameters of code that lazily evaluates a part of a definition."""


def definition_source(
    code: Code,
    qualname: str,
    kinds: tuple[type[Definition], ...],
    *,
    prove: bool,
    oracle: Oracle | None = None,
    without: frozenset[str] = NOTHING,
) -> tuple[str, Verdict | None] | None:
    """Return the source of the definitions of a qualified name in the code of a module, and its proof.

    The proof covers the module with its other definitions unchanged; if that fails, the whole module.

    Args:
        code: the code object of the module.
        qualname: the qualified name: `f`, `C.method` or `f.<locals>.g`.
        kinds: the kind of definition that the name must lead to, a function or a class.
        prove: whether to prove the source.
        oracle: the interpreter of the code's version that compiles the source; by default one that this process keeps.
        without: names of optional passes to leave out.

    Returns:
        the source and its proof (None without `prove`), or None if the module has no definition of that name.

    Raises:
        DecompilationError: the code cannot be decompiled.
    """
    apart = others(code, qualname)
    if apart:
        try:
            source_and_proof = _source(code, qualname, kinds, apart, prove=prove, oracle=oracle, without=without)
        except DecompilationError:
            source_and_proof = None
        if source_and_proof is not None and (source_and_proof[1] is None or source_and_proof[1].level > Level.UNPROVEN):
            return source_and_proof
    return _source(code, qualname, kinds, NO_CODES, prove=prove, oracle=oracle, without=without)


def _source(
    code: Code,
    qualname: str,
    kinds: tuple[type[Definition], ...],
    apart: AbstractSet[int],
    *,
    prove: bool,
    oracle: Oracle | None,
    without: frozenset[str],
) -> tuple[str, Verdict | None] | None:
    with faults_named("decompiling", code):
        body, names = decompile(code, without=without, apart=apart)
        stmts, grammar = module_body(body, names.objects), Grammar.of(code)
        matching = [definition for definition in definitions(stmts, qualname) if isinstance(definition, kinds)]
        if not matching:
            return None
        source = write(matching, grammar)
    return source, judge(code, write(stmts, grammar), oracle=oracle, apart=apart) if prove else None


def others(code: Code, qualname: str) -> set[int]:
    """Return the identities of the functions and classes in a module that are neither around nor in a definition."""
    apart: set[int] = set()
    level = [code]
    for part in qualname.split("."):
        if part == LOCALS:
            continue
        work = [const for outer in level for const in outer.consts if isinstance(const, Code)]
        level = []
        for nested in work:  # The list grows during the iteration.
            if nested.name == part:
                level.append(nested)
            elif nested.name.startswith(GENERIC):
                work += [const for const in nested.consts if isinstance(const, Code)]
            elif not nested.name.startswith(("<", ANNOTATE)) and nested.parameters not in EVALUATED:
                apart.add(id(nested))
    return apart if level else set()


def definitions(stmts: Sequence[ast.stmt], qualname: str) -> list[Definition]:
    """Return the definitions that a qualified name may refer to below some statements.

    Two arms of an `if` may each have one. A definition that always runs replaces the earlier ones, unless it uses them
    (`@name.setter`).
    """
    matching: list[Definition] = []
    below = stmts
    for part in qualname.split("."):
        if part != LOCALS:
            matching = []
            for definition in _in_scope(below):
                if definition.name == part:
                    is_alone = any(definition is stmt for stmt in below) and not _is_made_of(definition, part)
                    matching = [definition] if is_alone else [*matching, definition]
            below = [stmt for outer in matching for stmt in outer.body]
    return matching


def _is_made_of(definition: Definition, name: str) -> bool:
    """Return whether the decorators or bases of a definition name an earlier definition."""
    bases = definition.bases if isinstance(definition, ast.ClassDef) else []
    parts = [node for expr in (*definition.decorator_list, *bases) for node in ast.walk(expr)]
    return any(isinstance(node, ast.Name) and node.id == name for node in parts)


def _in_scope(stmts: Sequence[ast.stmt]) -> list[Definition]:
    """Return the definitions among statements and their nested statements, but not those inside other definitions."""
    outermost: list[Definition] = []
    work = list(reversed(stmts))
    while work:
        stmt = work.pop()
        if isinstance(stmt, DEFINITIONS):
            outermost.append(stmt)
        else:
            work += [below for sequence, _, _ in reversed(inner(stmt)) for below in reversed(sequence)]
    return outermost
