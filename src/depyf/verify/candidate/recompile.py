"""Turn the text of a file into a code object that can take the place of the one it was decompiled from."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence

from depyf.bytecode.code import CO_HAS_DOCSTRING, CO_ITERABLE_COROUTINE
from depyf.bytecode.reader import read
from depyf.errors import DecompilationError
from depyf.verify import header
from depyf.verify.candidate.layout import lay_out
from depyf.verify.candidate.patch import NoRoom
from depyf.verify.candidate.placeholders import SPARE_NAMES, put_back
from depyf.verify.candidate.qualname import requalify, requalify_made, requalify_part
from depyf.verify.candidate.standin import compile_standin
from depyf.verify.code_tree import rewrite_tree

COMPILED_FLAGS = header.COMPARED_FLAGS & ~CO_ITERABLE_COROUTINE | CO_HAS_DOCSTRING
"""What the text decides: `types.coroutine` sets the flag that is left out, and no syntax does."""
NOTHING: Mapping[str, str] = types.MappingProxyType({})


def recompile(
    text: str,
    original: types.CodeType,
    *,
    filename: str,
    placeholders: Mapping[str, object],
    function: str | None = None,
    names: Mapping[str, str] = NOTHING,
    functions: Mapping[str, str] = NOTHING,
    imported: Sequence[str] | None = None,
) -> types.CodeType:
    """Return a code object, compiled from `text`, that is legal as `__code__` of the function of `original`.

    It has the parameters, flags, free variables, cell variables and names of `original`, those variables in the same
    order, and the file and the lines of the text. It is not proven to do the same: see `compare.verify`.

    text: a whole file; the function may stand in a wrapper `__closure_of_...` that gives it free variables.
    filename: what a debugger is to open.
    placeholders: names in the text that stand for objects without a literal; they become constants again.
    function: the function's name in the text; by default the name of `original`, else the only one there is.
    names: identifiers in the text that stand for names that are no identifiers.
    functions: names of nested functions in the text that stand for the names which these functions have.
    imported: what the module of `original` imported, where somebody has found that out.

    Raises `DecompilationError` when the text does not compile, has no such function, or the function cannot be given
    the layout of `original`.
    """

    def build(first: tuple[str, ...]) -> types.CodeType:
        standin, own_qualname = compile_standin(
            text, original, filename, function, names, first=first, imported=imported
        )

        def restore(code: types.CodeType) -> types.CodeType:
            return put_back(rename(code, names), placeholders, stood_first=bool(first))

        standin = rewrite_tree(rename_functions(standin, functions), restore)
        code = lay_out(standin, original)
        return requalify_made(requalify(code, own_qualname, read(original).qualname), original)

    try:
        code = build(())
    except NoRoom:
        code = build((*placeholders, *SPARE_NAMES))
    code = code.replace(
        co_name=original.co_name,
        co_flags=original.co_flags & ~COMPILED_FLAGS | code.co_flags & COMPILED_FLAGS,
    )
    wrong = header.difference(read(original), read(code))
    if wrong is not None:
        raise DecompilationError(wrong, code=f"{original.co_name} in {filename}")
    return code


def rename(code: types.CodeType, names: Mapping[str, str]) -> types.CodeType:
    """Return the code with its names and variables replaced by those they stand for."""
    used = {*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars}
    if used.isdisjoint(names):
        return code

    def restored(old: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(name, name) for name in old)

    return code.replace(
        co_names=restored(code.co_names),
        co_varnames=restored(code.co_varnames),
        co_cellvars=restored(code.co_cellvars),
        co_freevars=restored(code.co_freevars),
    )


def rename_functions(code: types.CodeType, functions: Mapping[str, str]) -> types.CodeType:
    """Return the code with the functions nested in it named as `functions` says, in their qualified names too."""

    def restored(inner: types.CodeType) -> types.CodeType:
        if inner.co_name not in functions or inner is code:
            return inner
        return inner.replace(co_name=functions[inner.co_name])

    for mine, real in functions.items():
        code = requalify_part(code, mine, real)
    return rewrite_tree(code, restored) if functions else code
