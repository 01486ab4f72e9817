"""Fold cells that are made before the code proper begins: they are a property of the function, not an operation."""

from __future__ import annotations

from depyf.bytecode.draft import Draft


def fold_prologue(draft: Draft) -> None:
    """Remove the MAKE_CELL operations at the very start."""
    for index, steps in enumerate(draft.steps):
        if draft.entries[index]:
            return
        if steps and steps[0].op != "MAKE_CELL":
            return
        draft.steps[index] = ()
