"""The guards of an entry as plain data of the model: text that keeps nothing of the user's program alive."""

from __future__ import annotations

from depyf.report.model import Guard, GuardSet
from depyf.torch.guards.expression import fill
from depyf.torch.guards.names import Names
from depyf.torch.guards.render import render
from depyf.torch.guards.tree import Tree


def guard_set(tree: Tree, compile_id: str, differs: str = "", filename: str = "") -> GuardSet:
    """Return `tree` as data: each clause, and the text of the whole guard.

    Args:
        tree: the guards of an entry.
        compile_id: torch's id of the entry, e.g. `0/1`.
        differs: where the guards disagreed with torch at capture, '' if they did not.
        filename: the user's file, whose lines are shown as `:5`.
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
    function = "\n".join(render(tree, compile_id, names, filename)) + "\n"
    return GuardSet(tuple(guards), function, differs)
