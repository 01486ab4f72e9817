"""A recorder that checks the form after every pass."""

from __future__ import annotations

from collections.abc import Iterator

from depyf.decompiler.pipeline.work import Stage, Work
from depyf.decompiler.show.check.graph import broken
from depyf.decompiler.show.check.tree import broken_items, broken_statements
from depyf.decompiler.show.forms import MAKES_ITEMS, MAKES_STATEMENTS, STAGE_OF, text_after


class Broken(AssertionError):
    """An invariant that is broken after a pass; the message shows the place."""


class Checks:
    """Checks each form after each pass. Raises Broken for the first broken invariant."""

    def begin(self, work: Work) -> None:
        """Begin a code object."""

    def attempt(self, work: Work, why: str) -> None:
        """Begin a code object again."""

    def step(self, message: str) -> None:
        """Ignore a step."""

    def after(self, name: str, work: Work) -> None:
        """Check the form after a pass."""
        for what, where in found(name, work):
            raise Broken(f"after {name}, in {work.code}: {what}\n{where or text_after(name, work)}")


def found(name: str, work: Work) -> Iterator[tuple[str, str]]:
    """Yield the broken invariants after a pass, and their places."""
    stage = STAGE_OF[name]
    if stage in (Stage.BODY, Stage.WHOLE):
        yield from ((what, "") for what in broken_statements(work.body.stmts, finished=stage is Stage.WHOLE))
    elif stage is Stage.STATEMENTS or name == MAKES_STATEMENTS:
        yield from ((what, "") for what in broken_statements(work.stmts, finished=False))
    elif stage is Stage.ITEMS or name == MAKES_ITEMS:
        yield from ((what, "") for what in broken_items(work.items, work.graph.end))
    else:
        yield from broken(work.graph)
