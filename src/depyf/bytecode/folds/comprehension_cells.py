"""Fold variables of an inlined comprehension that are cells in the function around it.

    LOAD_FAST_AND_CLEAR x; ...; STORE_FAST x; LOAD_FAST x; ...; STORE_FAST x     the third is a value, not a cell

The comprehension keeps the function's cell on the stack while it uses the variable itself. A handler puts the cell back
if an exception leaves the comprehension. That handler shows the extent of the comprehension, and its own variables.
"""

from __future__ import annotations

from depyf.bytecode.draft import Draft
from depyf.bytecode.operand import Step

HEAD = frozenset({"LOAD_FAST_CLEAR", "MAKE_CELL", "SWAP"})


def fold_comprehension_cells(draft: Draft) -> None:
    """Make comprehensions read their own variables as values, not as cells."""
    if not any(step.op == "LOAD_FAST_CLEAR" for steps in draft.steps for step in steps):
        return
    restored = {number: _put_back(draft, handler.target) for number, handler in enumerate(draft.handlers)}
    cells: dict[int, set[object]] = {number: set() for number in restored}
    for index, number in enumerate(draft.handler):
        if number >= 0 and restored[number] and (index == 0 or draft.handler[index - 1] != number):
            cells[number] |= _made_before(draft, index)
    for index, steps in enumerate(draft.steps):
        if any(step.op == "LOAD_CLOSURE" and _is_value(draft, index, step.arg, restored, cells) for step in steps):
            draft.steps[index] = tuple(
                Step("LOAD_FAST", step.arg)
                if step.op == "LOAD_CLOSURE" and _is_value(draft, index, step.arg, restored, cells)
                else step
                for step in steps
            )


def _put_back(draft: Draft, index: int) -> set[object]:
    """Return the variables that a handler restores, if it does nothing else."""
    restored: set[object] = set()
    while index < len(draft.steps):
        for step in draft.steps[index]:
            if step.op == "RERAISE":
                return restored
            if step.op == "STORE_FAST":
                restored.add(step.arg)
            elif step.op not in ("SWAP", "POP"):
                return set()
        index += 1
    return set()


def _made_before(draft: Draft, index: int) -> set[object]:
    """Return the variables for which a comprehension makes its own cells, before it begins at `index`."""
    captured: set[object] = set()
    index -= 1
    while index >= 0 and all(step.op in HEAD for step in draft.steps[index]):
        captured |= {step.arg for step in draft.steps[index] if step.op == "MAKE_CELL"}
        index -= 1
    return captured


def _is_value(
    draft: Draft, index: int, name: object, restored: dict[int, set[object]], cells: dict[int, set[object]]
) -> bool:
    """Return whether a variable belongs to the innermost enclosing comprehension that has it, as a value."""
    number = draft.handler[index]
    passed: set[int] = set()
    while number >= 0 and number not in passed:
        passed.add(number)
        if name in restored[number]:
            return name not in cells[number]
        number = draft.handler[draft.handlers[number].target]
    return False
