"""The interface of the decompiler: functions and code objects in, source out."""

from __future__ import annotations

import functools
import inspect
import os
import types
from collections.abc import Mapping, Sequence

from depyf.bytecode import pyc
from depyf.bytecode.code import CO_OPTIMIZED, Code, Version
from depyf.bytecode.headerless import Loaded, load_assuming
from depyf.bytecode.reader import read
from depyf.decompiler import module as modules
from depyf.decompiler.class_source import class_source
from depyf.decompiler.function import NO_NAMES, Decompiled, decompile_function, source_of, source_of_function
from depyf.decompiler.module import DecompiledModule, module_source
from depyf.decompiler.pipeline.table import NOTHING
from depyf.errors import DecompilationError
from depyf.verify.assumptions import NO_ASSUMPTIONS, Assumptions
from depyf.verify.candidate.oracle import Oracle
from depyf.verify.level import Level

if os.environ.get("DEPYF_CHECK") == "1":
    from depyf.decompiler.show.check.passes import Checks
    from depyf.decompiler.steps import listen_always

    listen_always(Checks())

CALL = "__call__"
LEADS: dict[type, str] = {
    types.MethodType: "__func__",
    types.GeneratorType: "gi_code",
    types.CoroutineType: "cr_code",
    types.AsyncGeneratorType: "ag_code",
    types.FrameType: "f_code",
    functools.partial: "func",
    functools.partialmethod: "func",
    functools.cached_property: "func",
    functools.singledispatchmethod: "func",
    property: "fget",
}
"""By the type of an object: its attribute that leads to its code; for a property, to the code of its getter."""
LARGEST = 1 << 27
"""The largest `.pyc` that is read, in bytes."""


def decompile(x: object) -> str:
    """Return the source of one function; of the code of a module or of a class body, the source of that.

    For a function, the source includes defaults and annotations, and its closure in comments; a code object has none of
    these. An object without a text is written as a name that a comment explains. The code of a class body has no bases,
    keywords and decorators. Code by Dynamo is shortened as far as the proof allows.

    Args:
        x: a code object, function, bound method, `functools.partial`, wrapped function, or an instance with `__call__`;
            also a property (its getter), a generator or coroutine, and a frame.

    Raises:
        TypeError: `x` is something else.
        DecompilationError: the code of `x` cannot be decompiled.

    >>> print(decompile(lambda a: a + 1), end="")
    lambda_function = lambda a: a + 1
    """
    function_or_code = _function_of(x)
    if not isinstance(function_or_code, types.CodeType):
        return source_of_function(function_or_code)
    if is_module(function_or_code):
        return module_source(read(function_or_code))
    if is_class_body(function_or_code):
        return class_source(read(function_or_code))
    if is_of_dynamo(function_or_code):
        decompiled = decompile_function(function_or_code, simplify=True)
        if decompiled.level is not Level.UNPROVEN:
            return decompiled.source
    return source_of(function_or_code)


MODULE = "<module>"
CLASS_NAMES = frozenset({"__module__", "__qualname__"})
"""The names that every class body binds."""


def is_module(code: types.CodeType) -> bool:
    """Return whether a code object is the body of a module."""
    return code.co_name == MODULE and not code.co_flags & CO_OPTIMIZED


def is_class_body(code: types.CodeType) -> bool:
    """Return whether a code object is the body of a class."""
    return not code.co_flags & CO_OPTIMIZED and code.co_name != MODULE and CLASS_NAMES <= set(code.co_names)


DYNAMOS_NAMES = ("__compiled_fn_", "__resume_at_", "__import_torch_dot_")
"""The prefixes of the names that Dynamo gives the graphs, functions and modules that it installs."""


def is_of_dynamo(code: types.CodeType) -> bool:
    """Return whether Dynamo wrote a code object: it uses names that only Dynamo installs."""
    return any(name.startswith(DYNAMOS_NAMES) for name in code.co_names)


def decompile_code(
    code: types.CodeType,
    *,
    simplify: bool = False,
    assumptions: Assumptions = NO_ASSUMPTIONS,
    result_names: Mapping[str, Sequence[str]] = NO_NAMES,
    without: frozenset[str] = NOTHING,
) -> Decompiled:
    """Decompile a live code object as a function, with a proof.

    Args:
        code: the code object of a function.
        simplify: prefer readable text over text that compiles to the same instructions.
        assumptions: the facts that the proof may assume.
        result_names: by global, names for the items of the sequence that it returns.
        without: names of optional passes to leave out.

    Raises:
        DecompilationError: the code cannot be decompiled.
    """
    return decompile_function(
        code, simplify=simplify, assumptions=assumptions, result_names=result_names, without=without
    )


def decompile_module(
    code: Code | types.CodeType,
    *,
    oracle: Oracle | None = None,
    without: frozenset[str] = NOTHING,
    as_written: bool = False,
) -> DecompiledModule:
    """Decompile the code of a module, and prove it.

    Args:
        code: what `load_pyc` returns, or a live code object.
        oracle: compiles the source if the bytecode belongs to another Python than the running one; by default one that
            this process keeps until it ends. If it finds no interpreter, the level is UNPROVEN, with the reason.
        without: names of optional passes to leave out.
        as_written: lay the source out on the lines of the original, as far as its code knows them.

    Raises:
        TypeError: the code is that of a function or class.
        DecompilationError: the code cannot be decompiled.
    """
    if isinstance(code, types.CodeType):
        if not is_module(code):
            raise TypeError(f"{code!r} is not the code of a module; decompile_code takes the code of a function")
        code = read(code)
    return modules.decompile_module(code, oracle=oracle, without=without, as_written=as_written)


def decompile_pyc(source: str | os.PathLike[str] | bytes) -> str:
    """Return the source of the module in a `.pyc` of any supported Python; nothing in it is executed.

    Args:
        source: the file's path, or its bytes.

    Raises:
        DecompilationError: it is not a `.pyc`, cannot be read, is damaged, or holds code that cannot be decompiled.
    """
    return module_source(load_pyc(source))


def decompile_module_pyc(source: str | os.PathLike[str] | bytes, *, oracle: Oracle | None = None) -> DecompiledModule:
    """Decompile the module in a `.pyc` of any supported Python, with a proof.

    Args:
        source: the file's path, or its bytes.
        oracle: compiles the result if the file belongs to another Python than the running one.

    Raises:
        DecompilationError: it is not a `.pyc`, cannot be read, is damaged, or holds code that cannot be decompiled.
    """
    return decompile_module(load_pyc(source), oracle=oracle)


def load_pyc(source: str | os.PathLike[str] | bytes) -> Code:
    """Return the code of the module in a `.pyc`, given its path or its bytes.

    Raises DecompilationError if it is not a `.pyc`, cannot be read, or is damaged.
    """
    if isinstance(source, bytes):
        return pyc.load(source)
    return pyc.load(contents(source), source=os.fsdecode(source))


def load_pyc_assuming(source: str | os.PathLike[str], version: Version | None = None) -> Loaded:
    """Return the code of the module in a `.pyc` or in marshal data, also without a valid header.

    Args:
        source: the file's path.
        version: the Python that made the file; by default its header names it, or depyf finds one that fits.

    Returns:
        The code, and the assumption that it rests on.

    Raises:
        DecompilationError: the file cannot be read, or no version and header size fits.
    """
    return load_assuming(contents(source), source=os.fsdecode(source), python=version)


def contents(source: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file. Raises DecompilationError if it cannot be read or is too large."""
    place = os.fsdecode(source)
    try:
        with open(source, "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise DecompilationError(f"the file cannot be read: {error.strerror}", code=place) from error
    if len(data) > LARGEST:
        raise DecompilationError(f"the file has more than {LARGEST} bytes", code=place)
    return data


def code_of(x: object) -> types.CodeType:
    """Return the code object that a callable runs.

    Raises TypeError, naming the argument, if it has none.
    """
    function_or_code = _function_of(x)
    return function_or_code if isinstance(function_or_code, types.CodeType) else function_or_code.__code__


def _function_of(x: object) -> types.FunctionType | types.CodeType:
    given = x
    while not isinstance(x, types.CodeType):
        kind = type(x)
        leads = next((LEADS[base] for base in kind.__mro__ if base in LEADS), None)
        if leads is not None:
            x = getattr(x, leads)
        elif isinstance(x, types.FunctionType):
            unwrapped = inspect.unwrap(x)
            return unwrapped if isinstance(unwrapped, types.FunctionType) else x
        elif isinstance(x, type):
            break
        elif hasattr(x, "__wrapped__"):
            x = x.__wrapped__
        elif isinstance(getattr(kind, CALL, None), types.FunctionType):
            x = getattr(kind, CALL)
        else:
            break
    else:
        return x
    advice = "; `depyf decompile module:name` prints classes" if isinstance(x, type) else ""
    raise TypeError(f"{given!r} is no function, method or code object: it has no bytecode of its own{advice}")


__all__ = [
    "Decompiled",
    "DecompiledModule",
    "code_of",
    "decompile",
    "decompile_code",
    "decompile_module",
    "decompile_module_pyc",
    "decompile_pyc",
    "load_pyc",
    "source_of",
]


class Decompiler:
    """Decompile one function, under the name that programs written for depyf 0.x import.

    Args:
        code: a code object, or anything else that `depyf.decompile` takes.
    """

    def __init__(self, code: object) -> None:
        self.code: types.CodeType = code_of(code)

    def decompile(self, overwite_fn_name: str | None = None) -> str:
        """Return the source.

        Args:
            overwite_fn_name: the name to give the function; its own if there is none.

        Raises:
            DecompilationError: the code cannot be decompiled.
        """
        code = self.code if overwite_fn_name is None else self.code.replace(co_name=overwite_fn_name)
        return decompile(code)
