"""A decompiled function: its source, and its proof."""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping, Sequence
from dataclasses import field

from depyf.bytecode.code import Code
from depyf.bytecode.host import pausing
from depyf.bytecode.listings import Listings
from depyf.bytecode.reader import read
from depyf.bytecode.records import dataclass
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.emit.statements import write
from depyf.decompiler.lift.nodes import Function
from depyf.decompiler.lift.simplify import Known
from depyf.decompiler.passes.definitions import define, enclose
from depyf.decompiler.passes.names import Names
from depyf.decompiler.pipeline.run import decompile
from depyf.decompiler.pipeline.table import BUILD, NOTHING, SCOPES, WRITTEN
from depyf.errors import DecompilationError, faults_named
from depyf.verify.assumptions import NO_ASSUMPTIONS, Assumptions
from depyf.verify.candidate.recompile import recompile
from depyf.verify.compare import verify
from depyf.verify.imports import imported_names
from depyf.verify.level import Level, Verdict

NO_NAMES: Mapping[str, Sequence[str]] = types.MappingProxyType({})
NO_RENAMES: Mapping[str, str] = types.MappingProxyType({})
FORCED = (frozenset({WRITTEN}), frozenset({BUILD}), frozenset({BUILD, SCOPES}))
"""Passes to leave out, so that unproven code is written in another way: the ugliest last."""


@dataclass(frozen=True, slots=True)
class Decompiled:
    """The source of a function, and its proof.

    source: one definition; it assigns free variables under `nonlocal`.
    module_source: a text for a separate file: a wrapper with the free variables as parameters returns the function.
    function: the name of the function in the source.
    verdict: the level of proof for the compiled `module_source`, the reason for it, and the first difference.
    placeholders: names in the source that stand for constants without a literal.
    names: identifiers in the source that stand for variable names that are not identifiers.
    functions: names of functions in the source, and the real names of these functions.
    compiled: the code of `verdict`; None if `module_source` does not compile to any.
    lets_go: whether `compiled` releases its variables when it reads them for the last time.
    """

    source: str
    module_source: str
    function: str
    verdict: Verdict
    placeholders: Mapping[str, object]
    names: Mapping[str, str]
    functions: Mapping[str, str] = field(default_factory=lambda: NO_RENAMES)
    compiled: types.CodeType | None = None
    lets_go: bool = False

    @property
    def level(self) -> Level:
        """The level of proof."""
        return self.verdict.level

    @property
    def reason(self) -> str:
        """Why the level is not higher."""
        return self.verdict.reason


@pausing
def decompile_function(
    code: types.CodeType,
    *,
    simplify: bool = False,
    assumptions: Assumptions = NO_ASSUMPTIONS,
    result_names: Mapping[str, Sequence[str]] = NO_NAMES,
    without: frozenset[str] = NOTHING,
) -> Decompiled:
    """Decompile a live code object as a function, and prove it.

    If the text is not proven, dispatch loops are tried, and kept if they are proven.

    Args:
        code: the code object of a function.
        simplify: prefer readable text over text that compiles to the same instructions.
        assumptions: the facts that the proof may assume.
        result_names: by global, names for the items of the sequence that it returns.
        without: names of optional passes to leave out.

    Raises:
        DecompilationError: the code is invalid or unsupported.
    """
    neutral = read(code)
    known = _known(assumptions, result_names) if simplify else None
    # The proof uses the same listing as the decompiler, and checks the depth of the stack by itself.
    listings = Listings()
    best = _first(code, neutral, known, assumptions, without, listings)
    for forced in FORCED:
        if best.level is not Level.UNPROVEN or forced <= without:
            return best
        try:
            other = _attempt(code, neutral, known, assumptions, without | forced, listings)
        except DecompilationError:
            continue  # The earlier result stays readable, and its verdict says why it is not proven.
        best = other if other.level is not Level.UNPROVEN else best
    return best


def _first(
    code: types.CodeType,
    neutral: Code,
    known: Known | None,
    assumptions: Assumptions,
    without: frozenset[str],
    listings: Listings,
) -> Decompiled:
    """Decompile a code object in the most readable form. If a shortened text is not proven, write the code as it is."""
    try:
        readable = _attempt(code, neutral, known, assumptions, without, listings)
    except DecompilationError:
        if known is None:
            raise
        return _attempt(code, neutral, None, assumptions, without, listings)
    if known is None or readable.level is not Level.UNPROVEN:
        return readable
    plain = _attempt(code, neutral, None, assumptions, without, listings)
    return plain if plain.level is not Level.UNPROVEN else readable


def _attempt(
    code: types.CodeType,
    neutral: Code,
    known: Known | None,
    assumptions: Assumptions,
    without: frozenset[str],
    listings: Listings,
) -> Decompiled:
    """Decompile a code object in one way, and prove it."""
    source, definition, function, names = _source(neutral, known, without, listings=listings)
    grammar = Grammar.of(neutral)
    module_source = source
    if neutral.freevars:
        module_source = write([enclose(definition, function, neutral)], grammar)
    verdict, compiled = _prove(code, neutral, module_source, function, names, assumptions, listings)
    lets_go = verdict.outlives
    if lets_go:
        verdict, compiled = _prove(code, neutral, module_source, function, names, assumptions, listings, lets_go=True)
    return Decompiled(
        source, module_source, function, verdict, names.objects, names.variables, names.functions, compiled, lets_go
    )


def source_of(code: types.CodeType, *, simplify: bool = False, without: frozenset[str] = NOTHING) -> str:
    """Return the source of a live code object as a function, without a proof.

    Args:
        code: the code object of a function.
        simplify: prefer readable text over text that compiles to the same instructions.
        without: names of optional passes to leave out.

    Raises:
        DecompilationError: the code is invalid or unsupported.
    """
    known = _known(NO_ASSUMPTIONS, NO_NAMES) if simplify else None
    return _source(read(code), known, without)[0]


def source_of_function(function: types.FunctionType) -> str:
    """Return the source of a live function with its defaults and annotations; its closure is described in comments.

    Raises DecompilationError for invalid or unsupported code.
    """
    from depyf.decompiler.live.function import comments, describe

    code = read(function.__code__)
    live = describe(function, code)
    source = _source(code, None, NOTHING, live.maker)[0]
    return "".join(f"{line}\n" for line in comments(live, Grammar.of(code))) + source


def text_of_function(code: Code) -> str:
    """Return the text of a function of any Python from its code, without a proof.

    A function with free variables comes in a wrapper that has them as parameters.

    Raises DecompilationError for invalid or unsupported code.
    """
    source, definition, function, _ = _source(code, None, NOTHING)
    return write([enclose(definition, function, code)], Grammar.of(code)) if code.freevars else source


@pausing
def _source(
    code: Code,
    known: Known | None,
    without: frozenset[str],
    maker: Function | None = None,
    listings: Listings | None = None,
) -> tuple[str, ast.stmt, str, Names]:
    with faults_named("decompiling", code):
        body, names = decompile(code, known=known, without=without, listings=listings)
        definition, function = define(body, names, maker)
        return write([definition], Grammar.of(code)), definition, function, names


def _known(assumptions: Assumptions, names: Mapping[str, Sequence[str]]) -> Known:
    """Return the facts that may shorten the text: no more than the proof may assume."""
    item_names = {}
    for function, length in assumptions.sequence_lengths.items():
        wanted = names.get(function, ())
        item_names[function] = wanted if len(wanted) == length else [f"item_{number}" for number in range(length)]
    return Known(item_names, assumptions.unchanging)


def _prove(
    code: types.CodeType,
    neutral: Code,
    text: str,
    function: str,
    names: Names,
    assumptions: Assumptions,
    listings: Listings,
    *,
    lets_go: bool = False,
) -> tuple[Verdict, types.CodeType | None]:
    candidate = None
    try:
        with faults_named("proving", neutral):
            candidate = recompile(
                text,
                code,
                filename="<depyf>",
                placeholders=names.objects,
                function=None if code.co_name == "<lambda>" else function,
                names=names.variables,
                functions=names.functions,
                imported=imported_names(neutral, listings),
                lets_go=lets_go,
            )
            return verify(neutral, read(candidate), assumptions, listings), candidate
    except DecompilationError as error:
        return Verdict(Level.UNPROVEN, str(error)), candidate
