"""The output of `depyf decompile --show html`."""

from __future__ import annotations

from depyf.bytecode.code import Code
from depyf.bytecode.reader import read
from depyf.cli.target import Function, Module
from depyf.decompiler.api import decompile_code
from depyf.decompiler.module import compiled, decompile_module
from depyf.decompiler.show.page import page
from depyf.decompiler.show.stages import Origins, Stages, origins
from depyf.decompiler.steps import recording
from depyf.errors import DecompilationError
from depyf.verify.candidate.oracle import NotCompiled
from depyf.verify.candidate.recompile import recompile
from depyf.verify.level import Verdict
from depyf.verify.pairs import paired


def show_page(target: str, resolved: Module | Function, without: frozenset[str]) -> str:
    """Return the page for a target.

    Raises DecompilationError for code that cannot be decompiled.

    Args:
        target: the target as the user wrote it.
        resolved: the code.
        without: the passes to skip.
    """
    recorder = Stages()
    with recording(recorder):
        source, verdict, candidate = (
            _of_module(resolved, without) if isinstance(resolved, Module) else _of(resolved, without)
        )
    codes = recorder.found[::-1]
    where: Origins = {}
    if candidate is not None:
        numbers = {id(staged.code): number for number, staged in enumerate(codes)}
        where = origins(paired(codes[0].code, candidate), numbers)
    notes = [str(verdict)]
    if not where:
        notes.append("The source was not compiled, so its lines are not linked to instructions.")
    return page(target, notes, codes, source, where)


def _of_module(resolved: Module, without: frozenset[str]) -> tuple[str, Verdict, Code | None]:
    module = decompile_module(resolved.code, without=without)
    try:
        return module.source, module.verdict, compiled(module.source, resolved.code, None)
    except NotCompiled:
        return module.source, module.verdict, None


def _of(resolved: Function, without: frozenset[str]) -> tuple[str, Verdict, Code | None]:
    decompiled = decompile_code(resolved.code, without=without)
    try:
        candidate = recompile(
            decompiled.module_source,
            resolved.code,
            filename="<depyf>",
            placeholders=decompiled.placeholders,
            function=None if resolved.code.co_name == "<lambda>" else decompiled.function,
            names=decompiled.names,
            functions=decompiled.functions,
        )
    except DecompilationError:
        return decompiled.module_source, decompiled.verdict, None
    return decompiled.module_source, decompiled.verdict, read(candidate)
