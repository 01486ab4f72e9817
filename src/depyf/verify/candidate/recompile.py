"""Compile the text of a file to a code object that can replace the original.

before: text, and the original code object
after: the code object that is compared with the original, and that runs

The compiler produces a stand-in. `STEPS` lists all changes to it. The result of the last step is not changed further.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial

from depyf.bytecode.code import CO_HAS_DOCSTRING, CO_ITERABLE_COROUTINE
from depyf.bytecode.constants import key
from depyf.bytecode.reader import read
from depyf.bytecode.records import dataclass
from depyf.errors import DecompilationError
from depyf.verify import header
from depyf.verify.candidate.layout import lay_out
from depyf.verify.candidate.patch import NoRoom
from depyf.verify.candidate.placeholders import SPARE_NAMES, put_back
from depyf.verify.candidate.qualname import qualname_of, requalify, requalify_made, requalify_part
from depyf.verify.candidate.sets import own_sets, sets_of
from depyf.verify.candidate.stacked import NoStack, keep_on_stack, own_variables
from depyf.verify.candidate.standin import compile_standin
from depyf.verify.code_tree import rewrite_tree

COMPILED_FLAGS = header.COMPARED_FLAGS & ~CO_ITERABLE_COROUTINE | CO_HAS_DOCSTRING
"""The flags that the text decides. `types.coroutine` sets the excluded flag, which no syntax does."""
NOTHING: Mapping[str, str] = types.MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Way:
    """The parameters of the steps from a stand-in to the candidate.

    qualname: the qualified name of the stand-in in its text.
    names: identifiers in the text that stand for names that are not identifiers.
    functions: names of nested functions in the text, and the real names of these functions.
    placeholders: names in the text that stand for objects without a literal; they become constants again.
    stood_first: texts stand for the placeholders among the constants.
    stacked: variables of the text that the compiler treated as globals, and whose values must be on the stack.
    lets_go: whether the last read of such a variable releases its value.
    """

    original: types.CodeType
    qualname: str
    names: Mapping[str, str]
    functions: Mapping[str, str]
    placeholders: Mapping[str, object]
    stood_first: bool
    stacked: tuple[str, ...] = ()
    lets_go: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One rewrite of a code object.

    changes: the fields that it may change, besides `co_consts`, which changes with nested code.
    """

    name: str
    run: Callable[[types.CodeType, Way], types.CodeType]
    changes: frozenset[str] = field(default_factory=frozenset)


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
    lets_go: bool = False,
) -> types.CodeType:
    """Return a code object, compiled from `text`, that is legal as `__code__` of the function of `original`.

    It has the parameters, flags, free variables, cell variables and names of `original`. The variables have the same
    order. The file name and the lines are those of the text. It is not proven equivalent: see `compare.verify`.

    text: a whole file; the function may be in a wrapper `__closure_of_...` that gives it free variables.
    filename: the file for a debugger to open.
    placeholders: names in the text that stand for objects without a literal; they become constants again.
    function: the function's name in the text; by default the name of `original`, else the only function.
    names: identifiers in the text that stand for names that are not identifiers.
    functions: names of nested functions in the text, and the real names of these functions.
    imported: the imports of the module of `original`, if they are known.
    lets_go: whether the code releases its variables when it reads them for the last time.

    Raises `DecompilationError` if the text does not compile, has no such function, or the function cannot get the
    layout of `original`.
    """

    standin = partial(compile_standin, text, original, filename, function, names, imported=imported, lets_go=lets_go)
    way = Way(original, "", names, functions, placeholders, stood_first=False, lets_go=lets_go)

    def build(first: tuple[str, ...]) -> types.CodeType:
        code, qualname = standin(first=first)
        plain = replace(way, qualname=qualname, stood_first=bool(first))
        unbound = own_variables(code, original, names)
        if unbound:
            with contextlib.suppress(NoStack):  # Then they stay variables, and the proof sees them.
                return through_steps(standin(first=first, stacked=unbound)[0], replace(plain, stacked=unbound))
        return through_steps(code, plain)

    try:
        code = build(())
    except NoRoom:
        code = build((*placeholders, *SPARE_NAMES))
    wrong = header.difference(read(original), read(code))
    if wrong is not None:
        raise DecompilationError(wrong, code=f"{original.co_name} in {filename}")
    return code


def through_steps(code: types.CodeType, way: Way) -> types.CodeType:
    """Return the candidate: the stand-in after all steps."""
    for step in STEPS:
        code = step.run(code, way)
    return code


def name_functions(code: types.CodeType, way: Way) -> types.CodeType:
    """Return the code with the original's names for nested functions, also in their qualified names."""

    def restored(inner: types.CodeType) -> types.CodeType:
        if inner.co_name not in way.functions or inner is code:
            return inner
        return inner.replace(co_name=way.functions[inner.co_name])

    for mine, real in way.functions.items():
        code = requalify_part(code, mine, real)
    return rewrite_tree(code, restored) if way.functions else code


def name_variables(code: types.CodeType, way: Way) -> types.CodeType:
    """Return the code, including nested code, with the names and variables that are not identifiers."""
    return rewrite_tree(code, lambda inner: rename(inner, way.names)) if way.names else code


def put_objects_back(code: types.CodeType, way: Way) -> types.CodeType:
    """Return the code, including nested code, with the objects of placeholders as constants."""
    return rewrite_tree(code, lambda inner: put_back(inner, way.placeholders, stood_first=way.stood_first))


def put_sets_back(code: types.CodeType, way: Way) -> types.CodeType:
    """Return the code, including nested code, with the original's own sets if no text determines their order."""
    sets = sets_of(way.original)
    return rewrite_tree(code, lambda inner: own_sets(inner, sets)) if sets else code


def qualify(code: types.CodeType, way: Way) -> types.CodeType:
    """Return the code, including nested code, with the qualified names of the original."""
    return requalify_made(requalify(code, way.qualname, qualname_of(way.original)), way.original)


def take_header(code: types.CodeType, way: Way) -> types.CodeType:
    """Return the code with the original's name, and with the flags that no text decides."""
    kept = way.original.co_flags & ~COMPILED_FLAGS
    return code.replace(co_name=way.original.co_name, co_flags=kept | code.co_flags & COMPILED_FLAGS)


CODE = frozenset({"co_code", "co_consts"})
VARIABLES = frozenset({"co_cellvars", "co_freevars", "co_varnames", "co_nlocals"})
TABLES = frozenset({"co_linetable", "co_exceptiontable"})
STEPS = (
    Step(
        "values on the stack",
        lambda code, way: keep_on_stack(code, way.stacked, lets_go=way.lets_go) if way.stacked else code,
        frozenset({"co_code", "co_stacksize"}),
    ),
    Step("functions' names", name_functions, CODE | {"co_name", "co_qualname"}),
    Step("names", name_variables, VARIABLES - {"co_nlocals"} | {"co_names"}),
    Step("placeholders", put_objects_back, CODE),
    Step("sets", put_sets_back, frozenset({"co_consts"})),
    Step("layout", lambda code, way: lay_out(code, way.original), CODE - {"co_consts"} | VARIABLES | TABLES),
    Step("qualified names", qualify, CODE | {"co_qualname"}),
    Step("header", take_header, frozenset({"co_name", "co_flags"})),
)
"""All changes to a stand-in, in this order. The proof must check the fields that a step may change."""
FIELDS = (
    "co_argcount co_posonlyargcount co_kwonlyargcount co_nlocals co_flags co_code co_names co_varnames co_cellvars "
    "co_freevars co_name co_qualname co_exceptiontable"
).split()
"""The fields of a code object that affect its execution: without its location and its constants."""


def is_same_but_for_lines(first: types.CodeType, second: types.CodeType) -> bool:
    """Return whether two code objects, including nested code, differ only in lines and file names."""
    pending: list[tuple[object, object]] = [(first, second)]
    while pending:
        first_value, other = pending.pop()
        if isinstance(first_value, types.CodeType) and isinstance(other, types.CodeType):
            if any(getattr(first_value, name, None) != getattr(other, name, None) for name in FIELDS):
                return False
            if len(first_value.co_consts) != len(other.co_consts):
                return False
            pending += zip(first_value.co_consts, other.co_consts, strict=True)
        elif key(first_value) != key(other):
            return False
    return True


def rename(code: types.CodeType, names: Mapping[str, str]) -> types.CodeType:
    """Return the code with its names and variables replaced by their real names."""
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
