"""Compile the text of a file, and find the function in it that stands for a code object."""

from __future__ import annotations
import __future__

import types
import warnings
from collections.abc import Iterator, Mapping

from depyf.bytecode.reader import read
from depyf.errors import DecompilationError
from depyf.verify.imports import imported_names

WRAPPER = "__closure_of_"
"""How the name of a function begins that only holds another one, to give it free variables."""

FUTURE_FLAGS = 0
for feature in set(__future__.all_feature_names) - {"nested_scopes", "generators", "barry_as_FLUFL"}:
    # The flags of the first two mean something else in a code object; the third is a joke that changes the grammar.
    FUTURE_FLAGS |= getattr(__future__, feature).compiler_flag


def compile_standin(
    text: str, original: types.CodeType, filename: str, function: str | None, names: Mapping[str, str]
) -> tuple[types.CodeType, str]:
    """Return the code object, compiled from `text`, of the function that stands for `original`; and its qualified name.

    function: its name in the text; by default the name of `original`, else the only function there is.
    names: identifiers in the text that stand for other names in `original`.
    Raises `DecompilationError` when the text does not compile or the function is not there.
    """
    module = compile_text(text, original, filename, names)
    found = list(functions(module))
    wanted = original.co_name if function is None else function
    named = [(code, qualname) for code, qualname in found if code.co_name == wanted]
    if not named and function is None and len(found) == 1:
        named = found
    if not named:
        there = ", ".join(code.co_name for code, _ in found) or "none"
        raise DecompilationError(f"the source has no function {wanted} (there: {there})", code=filename)
    return named[-1]


def compile_text(text: str, original: types.CodeType, filename: str, names: Mapping[str, str]) -> types.CodeType:
    """Compile a module's text under the `from __future__` imports, and with the imports, of the original's module."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = with_imports(text, imported_names(read(original)), names)
            flags = original.co_flags & FUTURE_FLAGS
            module: types.CodeType = compile(text, filename, "exec", flags=flags, dont_inherit=True, optimize=0)
            return module
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise DecompilationError(f"the source does not compile: {error}", code=filename) from error


def with_imports(text: str, imported: list[str], names: Mapping[str, str]) -> str:
    """Return the text of a module that imports names, at its end, where no line or docstring is moved by it."""
    in_text = {name: identifier for identifier, name in names.items()}
    return f"{text}\nimport {', '.join(in_text.get(name, name) for name in imported)}\n" if imported else text


def functions(module: types.CodeType) -> Iterator[tuple[types.CodeType, str]]:
    """Yield the functions at the top level of a module and their qualified names; for a wrapper those in it."""
    pending = [(module, "")]
    while pending:
        holder, prefix = pending.pop()
        for const in holder.co_consts:
            if isinstance(const, types.CodeType):
                if const.co_name.startswith(WRAPPER):
                    pending.append((const, f"{prefix}{const.co_name}.<locals>."))
                else:
                    yield const, prefix + const.co_name
