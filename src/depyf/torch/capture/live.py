"""A compiled function of this process: its cache entries and the resume functions that their code calls."""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch._dynamo.eval_frame import innermost_fn

from depyf.bytecode.host import codes_in_order
from depyf.errors import DecompilationError
from depyf.model.names import RESUME_AT, resume_offset
from depyf.model.run import CompileId
from depyf.model.user_source import code_source
from depyf.torch.adapters import seams
from depyf.torch.adapters.seams import CacheEntry
from depyf.torch.capture.listing import line_of_offset
from depyf.torch.guards.full_code import CompiledEntry, CompiledFunction
from depyf.torch.guards.verdicts import agreement
from depyf.verify.level import Level


def root_function(compiled: object) -> tuple[types.FunctionType, object | None]:
    """Return the Python function of a compiled object, and the object to which it is bound, if any.

    Args:
        compiled: a function, a method, a module, or a result of `torch.compile`.

    Raises:
        TypeError: it is none of these.
    """
    function: Any = compiled
    if isinstance(function, torch._dynamo.eval_frame.OptimizedModule):
        function = function._orig_mod
    if isinstance(function, torch.nn.Module):
        function = function.forward
    function = innermost_fn(function) if callable(function) else function
    owner = None
    if isinstance(function, types.MethodType):
        function, owner = innermost_fn(function.__func__), function.__self__
    if isinstance(function, types.FunctionType):
        return function, owner
    raise TypeError(f"expected a compiled function, method or module, not a {type(compiled).__qualname__}")


def entries(code: types.CodeType) -> list[CacheEntry]:
    """Return the existing cache entries of `code`, in torch's order: the last used one first."""
    cache_entries = seams.cache_entries(code)
    return [entry for entry in cache_entries if getattr(seams.entry_guard_manager(entry), "closure_vars", None)]


def earlier_entries(code: types.CodeType, compiles: Collection[CompileId]) -> list[CacheEntry]:
    """Return the existing cache entries of `code` that none of `compiles` made, oldest first."""
    earlier = [entry for entry in entries(code) if seams.entry_compile_id(entry) not in compiles]
    return sorted(earlier, key=lambda entry: seams.entry_compile_id(entry).compile)


def scope_of(code: types.CodeType, otherwise: dict[str, Any]) -> dict[str, Any]:
    """Return the globals of the module of `code`. A resume function of an inlined function has its own."""
    entry = next(iter(entries(code)), None)
    return otherwise if entry is None else seams.entry_globals(entry)


def compile_id(entry: CacheEntry) -> str:
    """Return torch's compile id of a cache entry, for example `0/1`."""
    return str(seams.entry_compile_id(entry))


def order(code: types.CodeType) -> Callable[[], list[str]]:
    """Return a function that gives the compile ids of the entries of `code` in torch's current order."""
    return lambda: [compile_id(entry) for entry in entries(code)]


def resume_code(installed: object) -> types.CodeType | None:
    """Return the code of a resume function, given torch's global under its name.

    A resume function with free variables is created by a function that torch installs instead.
    """
    if not isinstance(installed, types.FunctionType):
        return None
    cells = zip(installed.__code__.co_freevars, installed.__closure__ or (), strict=True)
    code_cell = next((cell.cell_contents for name, cell in cells if name == "code"), None)
    return code_cell if isinstance(code_cell, types.CodeType) else installed.__code__


def resumptions(code: types.CodeType, scope: dict[str, Any]) -> Iterator[tuple[str, types.CodeType]]:
    """Yield the resume functions that `code` calls: the global name and the code."""
    for current in codes_in_order(code):
        for name in current.co_names:
            resumed = resume_code(scope.get(name)) if name.startswith(RESUME_AT) else None
            if resumed is not None:
                yield name, resumed


def collect(function: types.FunctionType) -> list[CompiledFunction]:
    """Return `function` and its resume functions, each once, with their current entries.

    The values of the compiled calls are no longer available. If torch's text lacks a value, its own guards are used.
    """
    scope = function.__globals__
    pending: list[tuple[str, types.CodeType, types.CodeType]] = [("", function.__code__, function.__code__)]
    # Keyed by identity, because torch puts unhashable constants into code objects.
    functions: dict[int, CompiledFunction] = {}
    while pending:
        resume_name, code, caller = pending.pop(0)
        if id(code) in functions:
            known = functions[id(code)]
            if resume_name not in (known.resume_name, *known.other_names):
                functions[id(code)] = replace(known, other_names=[*known.other_names, resume_name])
            continue
        source, first_line = _source_of(code, functions.get(id(caller)))
        live = sorted(entries(code), key=lambda entry: seams.entry_compile_id(entry).compile)
        functions[id(code)] = CompiledFunction(
            name=code.co_name,
            code=code,
            filename=code.co_filename,
            first_line=first_line,
            source=source,
            entries=[compiled_entry(entry, code) for entry in live],
            resume_name=resume_name,
            resumes_at=resume_line(resume_name, caller) if resume_name else None,
        )
        for entry in live:
            pending += [(name, resumed, code) for name, resumed in resumptions(entry.code, scope)]
    return list(functions.values())


def compiled_entry(entry: CacheEntry, code: types.CodeType) -> CompiledEntry:
    """Return an entry with the source of the code that torch runs for it, if the source is proven."""
    from depyf.decompiler.function import decompile_function
    from depyf.torch.adapters.profiler_marks import without_marks

    tree, _ = agreement.read(seams.entry_guard_manager(entry), None, code.co_filename)
    try:
        decompiled = decompile_function(without_marks(entry.code), simplify=True)
    except DecompilationError as error:
        return CompiledEntry(compile_id(entry), tree, proof=f"{Level.UNPROVEN.name}: {error}")
    if decompiled.level is Level.UNPROVEN:
        return CompiledEntry(compile_id(entry), tree, proof=f"{decompiled.level.name}: {decompiled.reason}")
    return CompiledEntry(
        compile_id(entry),
        tree,
        decompiled.module_source,
        decompiled.function,
        decompiled.level.name,
        placeholders=dict(decompiled.placeholders),
    )


def _source_of(code: types.CodeType, caller: CompiledFunction | None) -> tuple[str, int]:
    """Return the text and the first line of a function; for a resume function, those of its function."""
    if caller is not None and caller.filename == code.co_filename:
        end = caller.first_line + len(caller.source.splitlines())
        if caller.first_line <= code.co_firstlineno < end:
            return caller.source, caller.first_line
    return code_source(code)


def resume_line(resume_name: str, caller: types.CodeType) -> int:
    """Return the line at which a resume function continues in `caller`, the code before transformation.

    torch's name for it contains the offset of the instruction: `__resume_at_102_2`.
    """
    offset = resume_offset(resume_name)
    line = line_of_offset(caller, offset) if offset is not None else None
    return caller.co_firstlineno if line is None else line
