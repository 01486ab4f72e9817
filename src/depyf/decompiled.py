"""A decompiled function: its source, and how far that was proven."""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from depyf.bytecode.code import CO_ASYNC_GENERATOR, CO_COROUTINE, Code
from depyf.bytecode.reader import read
from depyf.emit.grammar import Grammar
from depyf.emit.statements import write
from depyf.errors import DecompilationError
from depyf.lift.simplify import Results
from depyf.passes.body import Body
from depyf.passes.definitions import with_docstring
from depyf.passes.leftovers import Names
from depyf.passes.parameters import parameters
from depyf.pipeline import decompile
from depyf.verify.assumptions import NO_ASSUMPTIONS, Assumptions
from depyf.verify.compare import verify
from depyf.verify.level import Level
from depyf.verify.recompile import recompile
from depyf.verify.standin import WRAPPER

NO_NAMES: Mapping[str, Sequence[str]] = types.MappingProxyType({})
NO_RENAMES: Mapping[str, str] = types.MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Decompiled:
    """The source of a function, and its proof.

    source: one definition; it assigns free variables under `nonlocal`.
    module_source: text that stands alone in a file: a function with free variables is returned by a wrapper that
        has them as parameters.
    function: the name that the source gives the function.
    level, reason: what was proven of `module_source` compiled, and why no more.
    placeholders: names in the source that stand for constants without a literal.
    names: identifiers in the source that stand for variable names that are none.
    functions: names of functions in the source that stand for the names which these functions have.
    """

    source: str
    module_source: str
    function: str
    level: Level
    reason: str
    placeholders: Mapping[str, object]
    names: Mapping[str, str]
    functions: Mapping[str, str] = field(default_factory=lambda: NO_RENAMES)


def decompile_function(
    code: types.CodeType,
    *,
    simplify: bool = False,
    assumptions: Assumptions = NO_ASSUMPTIONS,
    result_names: Mapping[str, Sequence[str]] = NO_NAMES,
) -> Decompiled:
    """Decompile a live code object as a function, and prove it.

    simplify: prefer text that is easier to read to text that compiles to the same instructions.
    assumptions: what the proof may take for granted.
    result_names: by global, what the items of the sequence that it returns would best be called.

    Raises DecompilationError for code that is not valid or has a form that is not understood.
    """
    neutral = read(code)
    results = _results(assumptions, result_names) if simplify else None
    source, definition, function, names = _source(neutral, results)
    grammar = Grammar.of(neutral)
    module_source = source
    if neutral.freevars:
        module_source = write([_wrapped(definition, function, neutral)], grammar)
    level, reason = _prove(code, neutral, module_source, function, names, assumptions)
    return Decompiled(source, module_source, function, level, reason, names.objects, names.variables, names.functions)


def source_of(code: types.CodeType) -> str:
    """Return the source of a live code object as a function, without a proof.

    Raises DecompilationError for code that is not valid or has a form that is not understood.
    """
    return _source(read(code), None)[0]


def _source(code: Code, results: Results | None) -> tuple[str, ast.stmt, str, Names]:
    body, names = decompile(code, results=results)
    definition, function = define(body, names)
    return write([definition], Grammar.of(code)), definition, function, names


def _results(assumptions: Assumptions, names: Mapping[str, Sequence[str]]) -> Results:
    """Return what items globals are known to return, by what they are called."""
    found = {}
    for function, length in assumptions.sequence_lengths.items():
        wanted = names.get(function, ())
        found[function] = wanted if len(wanted) == length else [f"item_{number}" for number in range(length)]
    return found


def _prove(
    code: types.CodeType, neutral: Code, text: str, function: str, names: Names, assumptions: Assumptions
) -> tuple[Level, str]:
    try:
        candidate = recompile(
            text,
            code,
            filename="<depyf>",
            placeholders=names.objects,
            function=None if code.co_name == "<lambda>" else function,
            names=names.variables,
            functions=names.functions,
        )
        verdict = verify(neutral, read(candidate), assumptions)
    except DecompilationError as error:
        return Level.UNPROVEN, str(error)
    return verdict.level, verdict.reason


def define(body: Body, names: Names) -> tuple[ast.stmt, str]:
    """Return the definition of a body's function, and the name it has there."""
    code = body.code
    arguments, _ = parameters(code)
    for arg in ast.walk(arguments):
        if isinstance(arg, ast.arg) and not arg.arg.isidentifier():
            arg.arg = names.of_variable(arg.arg)
    value = body.stmts[0].value if len(body.stmts) == 1 and isinstance(body.stmts[0], ast.Return) else None
    if code.name == "<lambda>" and value is not None:
        name = names.fresh("lambda_function")
        function = ast.Lambda(args=arguments, body=value)
        return ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=function, lineno=0), name
    name = code.name if code.name.isidentifier() else names.fresh(code.name)
    kind = ast.AsyncFunctionDef if code.flags & (CO_COROUTINE | CO_ASYNC_GENERATOR) else ast.FunctionDef
    stmts = with_docstring(body)
    return kind(name=name, args=arguments, body=stmts, decorator_list=[], returns=None, lineno=0), name


def _wrapped(definition: ast.stmt, function: str, code: Code) -> ast.stmt:
    """Return a function that has the free variables as parameters and returns the function."""
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(arg=name, annotation=None) for name in code.freevars],
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )
    body = [definition, ast.Return(value=ast.Name(id=function, ctx=ast.Load()))]
    return ast.FunctionDef(
        name=WRAPPER + function, args=arguments, body=body, decorator_list=[], returns=None, lineno=0
    )
