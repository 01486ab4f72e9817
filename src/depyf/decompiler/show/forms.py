"""The form of a piece of work after a pass, as text."""

from __future__ import annotations

from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.pipeline.table import PASSES
from depyf.decompiler.pipeline.work import Stage, Work
from depyf.decompiler.show import graph, tree

STAGE_OF = {pass_.name: pass_.stage for pass_ in PASSES}
MAKES_STATEMENTS = "labels"
MAKES_ITEMS = "build"


def text_after(name: str, work: Work) -> str:
    """Return the form after the pass of that name, as text."""
    stage = STAGE_OF[name]
    if stage in (Stage.BODY, Stage.WHOLE):
        return tree.text(work.body.stmts, Grammar.of(work.code))
    if stage is Stage.STATEMENTS or name == MAKES_STATEMENTS:
        return tree.text(work.stmts, Grammar.of(work.code))
    if stage is Stage.ITEMS or name == MAKES_ITEMS:
        return tree.text(work.items, Grammar.of(work.code))
    return graph.text(work.graph)
