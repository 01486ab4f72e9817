"""Compile the text of a file, and find the function in it that stands for a code object."""

from __future__ import annotations
import __future__

import ast
import keyword
import types
from collections.abc import Iterator, Mapping, Sequence

from depyf.bytecode.host import without_compiler_warnings
from depyf.bytecode.listings import Listings
from depyf.bytecode.reader import read
from depyf.errors import DecompilationError
from depyf.verify.candidate.last_reads import let_go
from depyf.verify.candidate.placeholders import stand_in
from depyf.verify.candidate.stacked import declare
from depyf.verify.imports import imported_names

WRAPPER = "__closure_of_"
"""The prefix of a function that only contains another one, to give it free variables."""

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
FUTURE_FLAGS = 0
for feature in set(__future__.all_feature_names) - {"nested_scopes", "generators", "barry_as_FLUFL"}:
    # The flags of the first two mean something else in a code object; the third is a joke that changes the grammar.
    FUTURE_FLAGS |= getattr(__future__, feature).compiler_flag


def compile_standin(
    text: str,
    original: types.CodeType,
    filename: str,
    function: str | None,
    names: Mapping[str, str],
    *,
    first: tuple[str, ...] = (),
    imported: Sequence[str] | None = None,
    lets_go: bool = False,
    stacked: tuple[str, ...] = (),
) -> tuple[types.CodeType, str]:
    """Return the code object, compiled from `text`, of the function for `original`, and its qualified name.

    Raises `DecompilationError` if the text does not compile or does not contain the function.

    Args:
        text: the source of a module.
        original: the code that the function stands for.
        filename: the file name in the code.
        function: its name in the text; by default the name of `original`, else the only function.
        names: identifiers in the text that stand for other names in `original`.
        first: placeholders whose objects must be the first constants of each function.
        imported: the imports of the original's module, if they are known.
        lets_go: whether the function releases its variables when it reads them for the last time.
        stacked: variables of the function that the compiler must treat as globals.
    """
    wanted = original.co_name if function is None else function
    if imported is None:
        imported = imported_names(read(original), Listings())
    text = with_imports(text, imported, names)
    last = wanted if lets_go and not stacked else None  # A value on the stack is released when it is popped.
    globals_of = (wanted, stacked) if stacked else None
    module = compile_text(text, original, filename, first=first, lets_go=last, globals_of=globals_of)
    defined = list(functions(module))
    if any(code.co_name == wanted and not set(original.co_cellvars) <= set(code.co_cellvars) for code, _ in defined):
        module = compile_text(
            text, original, filename, cells_of=wanted, first=first, lets_go=last, globals_of=globals_of
        )
        defined = list(functions(module))
    named = [(code, qualname) for code, qualname in defined if code.co_name == wanted]
    if not named and function is None and len(defined) == 1:
        named = defined
    if not named:
        there = ", ".join(code.co_name for code, _ in defined) or "none"
        raise DecompilationError(f"the source has no function {wanted} (there: {there})", code=filename)
    return named[-1]


def compile_text(
    text: str,
    original: types.CodeType,
    filename: str,
    *,
    cells_of: str | None = None,
    first: tuple[str, ...] = (),
    lets_go: str | None = None,
    globals_of: tuple[str, tuple[str, ...]] | None = None,
) -> types.CodeType:
    """Compile a module's text under the `from __future__` imports of the original's module.

    Args:
        text: the source of the module.
        original: a code object of the original's module.
        filename: the file name in the code.
        cells_of: the function in which the cells of the original must be cells, even if it does not need them.
        first: placeholders whose objects must be the first constants of each function.
        lets_go: the function that releases its variables.
        globals_of: a function, and the variables of it that must be globals.
    """

    def compiled(source: str | ast.Module) -> types.CodeType:
        flags = original.co_flags & FUTURE_FLAGS
        module: types.CodeType = compile(source, filename, "exec", flags=flags, dont_inherit=True, optimize=0)
        return module

    try:
        with without_compiler_warnings():
            if cells_of is None and not first and lets_go is None and globals_of is None:
                return compiled(text)
            tree = ast.parse(text, filename)
            if cells_of is not None:
                add_cells(tree, original, cells_of)
            if first:
                put_first(tree, first)
            if lets_go is not None:
                let_go(tree, lets_go, lambda: [c for c, _ in functions(compiled(tree)) if c.co_name == lets_go])
            if globals_of is not None:
                declare(tree, *globals_of)
            return compiled(tree)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise DecompilationError(f"the source does not compile: {error}", code=filename) from error


def with_imports(text: str, imported: Sequence[str], names: Mapping[str, str]) -> str:
    """Return the text of a module with imports of names at its end, where they move no line and no docstring.

    Args:
        text: the source of the module.
        imported: the names of the imported modules.
        names: identifiers in the text that stand for other names.
    """
    in_text = {name: identifier for identifier, name in names.items()}
    return f"{text}\nimport {', '.join(in_text.get(name, name) for name in imported)}\n" if imported else text


def add_cells(tree: ast.Module, original: types.CodeType, function: str) -> None:
    """Make the variables that are cells in the original cells in its stand-in: add a function that names them.

    The compiler drops an unreachable branch, but keeps its effect on the scope of variables.

    Args:
        tree: the tree of the module, which is changed.
        original: the code with the cells.
        function: the name of the function.
    """
    definitions = [node for node in ast.walk(tree) if isinstance(node, DEFINITIONS) and node.name == function]
    names = [name for name in original.co_cellvars if name.isidentifier() and not keyword.iskeyword(name)]
    if len(definitions) != 1 or not names or definitions[0].name.startswith(WRAPPER):
        return
    put_in_front(definitions[0].body, f"if False:\n    (lambda: ({', '.join(names)},))")


def put_first(tree: ast.Module, placeholders: tuple[str, ...]) -> None:
    """Make the stand-ins of placeholders the first constants of every function.

    The compiler drops unreachable code, but keeps its constants. Constants with low indices need no EXTENDED_ARG.
    """
    lines = "".join(f"\n    raise {stand_in(name)!r}" for name in placeholders)
    for node in ast.walk(tree):
        if isinstance(node, DEFINITIONS) and not node.name.startswith(WRAPPER):
            put_in_front(node.body, f"while True:\n    break{lines}")


def put_in_front(body: list[ast.stmt], text: str) -> None:
    """Insert a statement before those of a function, after its docstring, on the line of the next statement."""
    is_docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    never = ast.parse(text).body[0]
    for node in ast.walk(never):
        if isinstance(node, (ast.expr, ast.stmt)):
            ast.copy_location(node, body[0])
    body.insert(1 if is_docstring else 0, never)


def functions(module: types.CodeType) -> Iterator[tuple[types.CodeType, str]]:
    """Yield the functions at a module's top level and their qualified names; for a wrapper, the functions in it."""
    pending = [(module, "")]
    while pending:
        holder, prefix = pending.pop()
        for const in holder.co_consts:
            if isinstance(const, types.CodeType):
                if const.co_name.startswith(WRAPPER):
                    pending.append((const, f"{prefix}{const.co_name}.<locals>."))
                else:
                    yield const, prefix + const.co_name
