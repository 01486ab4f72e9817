"""The guards of an entry as plain data of the model: text that keeps nothing of the user's program alive."""

from __future__ import annotations

from depyf.report.model import Guard, GuardSet
from depyf.torch.guards.explain import source_text
from depyf.torch.guards.names import Names
from depyf.torch.guards.render import Expressions, render
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
    guards = []
    for clause in tree.clauses:
        text = Expressions(tree.nodes, [clause], names).clause(clause)
        source = source_text(tree, clause.node) if clause.node else ""
        guards.append(Guard(clause.kind, source, clause.torch_text, text, clause.line))
    function = "\n".join(render(tree, compile_id, names, filename)) + "\n"
    return GuardSet(tuple(guards), function, differs)
