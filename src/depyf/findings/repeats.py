"""Findings about blocks of a model that torch compiles again and again although they are equal graphs."""

from __future__ import annotations

from collections.abc import Iterator

from depyf.findings.catalogue.others import REPEATED
from depyf.findings.failures import cost_of, place
from depyf.model.finding import Finding
from depyf.model.repeats import Repeat
from depyf.model.run import NoCall, Session

LEAST_SHARE = 0.5
"""Blocks are reported if they contain at least this share of the graph's operations."""


def of_repeats(session: Session) -> Iterator[Finding]:
    """Yield a finding for each run of equal blocks, unless the program asked for one whole graph ahead of its calls."""
    for _, compiled in session.compiles():
        runs = compiled.repeats
        share = sum(run.blocks * run.operations for run in runs) / runs[0].whole if runs else 0.0
        if share < LEAST_SHARE or compiled.failure is not None or isinstance(compiled.trigger, NoCall):
            continue
        for repeat in runs:
            where = place(repeat.where) if repeat.where is not None else None
            counts = {"blocks": blocks_of(repeat), "repeated": repeat.blocks * repeat.operations, "whole": repeat.whole}
            cause = REPEATED.cause.format(**counts, count=repeat.blocks)
            fix = REPEATED.fix.format(advice=_advice(repeat))
            yield Finding(REPEATED.name, "medium", where, cause, cost_of(compiled), fix, (str(compiled.id),))


def blocks_of(repeat: Repeat) -> str:
    """Return the words for the blocks: their modules, or their number."""
    if repeat.first:
        return f"`{repeat.first}` to `{repeat.last}`"
    return f"The {repeat.operations} operations from here on repeat and"


def _advice(repeat: Repeat) -> str:
    container = repeat.first.rpartition(".")[0]
    if not repeat.first:
        return "make the block a function, and compile that function instead of the loop around it"
    named = f"model.{container}" if container else "model"
    # No line of the user's in a block: its class is torch's, and Dynamo leaves out such a module in `compile`.
    way = "block.compile()" if repeat.where is not None else "block.forward = torch.compile(block.forward)"
    return f"compile the blocks instead of the whole model: `for block in {named}: {way}`"
