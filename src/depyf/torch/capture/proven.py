"""A proven decompilation of Dynamo's code, as far as the dump needs it.

A result that was kept by an earlier process has these parts without the decompiler, which is then not imported.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.model.artifacts.transformed_source import renamed
from depyf.torch.capture.listing import names_in_dump
from depyf.verify.assumptions import Assumptions
from depyf.verify.level import Level


@dataclass(frozen=True, slots=True)
class Proven:
    """The result of `decompile_function` without its texts; see `depyf.decompiler.function.Decompiled`."""

    level: Level
    reason: str
    function: str
    names: Mapping[str, str]
    functions: Mapping[str, str]
    lets_go: bool
    compiled: types.CodeType | None
    placeholders: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shown:
    """Dynamo's code without its profiler marks, and its decompilation.

    source, module: the text with the names of the dump; `to_dump` maps those of the process to them.
    counted: the names that Dynamo numbers, in the order of the code.
    """

    decompiled: Proven
    source: str
    module: str
    to_dump: Mapping[str, str]
    instructions: int
    counted: tuple[str, ...]


def shown_of(
    code: types.CodeType, known: Assumptions, results: Mapping[str, Sequence[str]], counted: tuple[str, ...]
) -> Shown:
    """Decompile Dynamo's code and prove the result.

    Args:
        code: Dynamo's code.
        known: what is known about the globals that it loads.
        results: the names of each graph's results, by the graph's global name.
        counted: the numbered names of the code, in order.
    """
    # Import the decompiler only when there is something to decompile.
    from depyf.decompiler.function import decompile_function
    from depyf.torch.adapters.profiler_marks import instruction_count, without_marks

    bare = without_marks(code)
    decompiled = decompile_function(bare, simplify=True, assumptions=known, result_names=results)
    to_dump = names_in_dump(code)
    names, functions, held = decompiled.names, decompiled.functions, decompiled.placeholders
    proven = Proven(
        decompiled.level,
        decompiled.reason,
        decompiled.function,
        names,
        functions,
        decompiled.lets_go,
        decompiled.compiled,
        held,
    )
    source, module = renamed(decompiled.source, to_dump), renamed(decompiled.module_source, to_dump)
    return Shown(proven, source, module, to_dump, instruction_count(bare), counted)
