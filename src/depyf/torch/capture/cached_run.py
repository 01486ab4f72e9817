"""The model of a run for a compiled function in torch's cache that no context has captured.

The cache has guards and code. The phases, graphs and kernels of the compile were not kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from depyf.model.index_reader import Run
from depyf.model.run import (
    Compile,
    CompileId,
    FirstCall,
    Function,
    Guard,
    GuardSet,
    Recompile,
    Resume,
    Session,
    Transformed,
    Trigger,
    Unavailable,
)
from depyf.model.user_source import file_text, short_path
from depyf.torch.adapters.versions import python_version, torch_version
from depyf.torch.guards.full_code import CompiledEntry, CompiledFunction
from depyf.torch.guards.record import guard_set
from depyf.verify.level import Level


def cached_run(functions: Sequence[CompiledFunction]) -> Run:
    """Return the run of a function and its resume functions; the first one is the root."""
    session = Session(torch_version(), python_version(), ended=True)
    texts: dict[str, str] = {}
    order = {id_: number for number, id_ in enumerate(sorted(_ids(functions)))}
    for number, function in enumerate(functions):
        model_function = _function(function, number, functions, texts)
        for compiled in model_function.compiles:
            compiled.order = order[compiled.id]
        session.functions[model_function.key] = model_function
        file = short_path(function.filename)
        texts[file] = file_text(function.filename)
        session.sources[file] = file
    return Run(Path(), session, {member.filename: short_path(member.filename) for member in functions}, texts)


def _ids(functions: Sequence[CompiledFunction]) -> Iterator[CompileId]:
    return (_id(entry) for function in functions for entry in function.entries)


def _id(entry: CompiledEntry) -> CompileId:
    *_, frame, compiled = entry.compile_id.split("/")
    return CompileId(int(frame), int(compiled))


def _function(
    function: CompiledFunction, number: int, functions: Sequence[CompiledFunction], texts: dict[str, str]
) -> Function:
    model_function = Function(
        key=str(number),
        name=function.name,
        filename=short_path(function.filename),
        first_line=function.first_line,
        source=function.source,
        root="0",
        resumes_at=function.resumes_at,
    )
    for place, entry in enumerate(sorted(function.entries, key=_id)):
        trigger: Trigger = Recompile(()) if place else _first(function, functions)
        model_function.compiles.append(_compile(function, entry, trigger, texts))
    return model_function


def _first(function: CompiledFunction, functions: Sequence[CompiledFunction]) -> Trigger:
    """Return why a function was first compiled: the code of a caller's entry breaks there."""
    names = [name for name in (function.resume_name, *function.other_names) if name]
    callers = [
        _id(entry) for other in functions for entry in other.entries if any(name in entry.source for name in names)
    ]
    return Resume(min(callers)) if function.resumes_at is not None and callers else FirstCall()


def _compile(function: CompiledFunction, entry: CompiledEntry, trigger: Trigger, texts: dict[str, str]) -> Compile:
    guards = guard_set(entry.guards)
    file = f"{entry.compile_id}.py"
    texts[file] = entry.source
    level = next(
        (level_of_proof for level_of_proof in Level if entry.proof.startswith(level_of_proof.name)), Level.UNPROVEN
    )
    return Compile(
        id=_id(entry),
        name=function.name,
        filename=short_path(function.filename),
        first_line=function.first_line,
        trigger=trigger,
        transformed=Transformed(0, entry.source, entry.source, level, "", installed=True, file=file)
        if entry.source
        else Unavailable(entry.proof or "Dynamo's own bytecode runs"),
        guards=GuardSet(tuple(_shortened(guard) for guard in guards.guards), guards.differs),
        guard_count=len(guards.guards),
    )


def _shortened(guard: Guard) -> Guard:
    line = guard.where
    return guard if line is None else replace(guard, where=replace(line, filename=short_path(line.filename)))
