"""The sizes and strides of a tensor in an entry's guard, and the advice for a stride that differs."""

from __future__ import annotations

import ast
from dataclasses import replace

from depyf.model.guard_failure import Check, GuardFailure
from depyf.model.run import Compile, Guard, GuardSet

CLONE = (
    "pass `{subject}.clone(memory_format=torch.contiguous_format)`: `contiguous()` keeps the stride of a dimension of "
    "size 1"
)


def changed_dimensions(failure: GuardFailure) -> tuple[tuple[int, int, int], ...]:
    """Return each dimension of a size or a stride that differs: its number, the expected and the actual number."""
    return replace(failure, check=Check.SIZE).changed_dimensions


def guarded_numbers(guard: Guard, respect: str) -> tuple[int | None, ...]:
    """Return the numbers that a guard on a tensor asks for, None for any number; () for another guard.

    Args:
        guard: the guard.
        respect: `size` or `stride`.
    """
    try:
        call = ast.parse(guard.clause, mode="eval").body
    except SyntaxError:
        return ()
    named = {keyword.arg: keyword.value for keyword in call.keywords} if isinstance(call, ast.Call) else {}
    numbers = named.get(respect)
    if not isinstance(numbers, ast.Tuple):
        return ()
    values = (element.value if isinstance(element, ast.Constant) else -1 for element in numbers.elts)
    return tuple(value if isinstance(value, int) else None for value in values)


def advice_of_stride(failure: GuardFailure, compiled: Compile) -> str:
    """Return the fix for a stride that differs only in dimensions of size 1, or "".

    Args:
        failure: the guard failure.
        compiled: the recompile, whose guards have the sizes of the tensor.
    """
    guards = compiled.guards.guards if isinstance(compiled.guards, GuardSet) else ()
    sizes = next((guarded_numbers(guard, "size") for guard in guards if guard.source == failure.source), ())
    dimensions = [number for number, _, _ in changed_dimensions(failure) if number < len(sizes)]
    is_of_ones = bool(dimensions) and all(sizes[number] == 1 for number in dimensions)
    return CLONE.format(subject=failure.subject) if is_of_ones else ""
