"""The guards of an entry as plain data of the model: text that keeps nothing of the user's program alive."""

from __future__ import annotations

from depyf.model.run import Guard, GuardSet
from depyf.torch.guards.expression import fill
from depyf.torch.guards.names import Names
from depyf.torch.guards.tree import Tree


def guard_set(tree: Tree, differs: str = "") -> GuardSet:
    """Return `tree` as data.

    Args:
        tree: the guards of an entry.
        differs: where the guards disagreed with torch at capture, or "".
    """
    names = Names()
    sources: list[str] = []
    for node in tree.nodes:
        sources.append(fill(node.step, sources.__getitem__, names.of))
    guards = [
        Guard(
            clause.kind,
            sources[clause.node],
            clause.torch_text,
            fill(clause.text, sources.__getitem__, names.of),
            clause.line,
        )
        for clause in tree.clauses
    ]
    return GuardSet(tuple(guards), differs)
