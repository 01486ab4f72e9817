"""Findings about functions of the user's that Dynamo skipped."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from depyf.findings.failures import place
from depyf.model.finding import Cost, Finding, Where
from depyf.model.names import resumed_function
from depyf.model.naming import whole_name
from depyf.model.reproducible import without_addresses
from depyf.model.run import Function, Session, Transformed
from depyf.model.skips import Skip, Whose, skips
from depyf.model.syntax import deciding, nodes_below, parsed
from depyf.model.user_line import UserLine
from depyf.model.user_source import short_path

_BEFORE = "Dynamo decided to skip the frame while tracing: "
_BEHIND = " `torch.compile` will skip the frame and fall back to eager."
"""torch's text around a reason, which says only that the function runs eagerly."""
_NOTHING = ("No ops traced", "no tensor-related objects", "no content in function call")
"""Reasons for which a function has nothing to compile, so that running it eagerly costs nothing."""


def of_skipped(session: Session) -> Iterator[Finding]:
    """Yield a finding for each function of the user's own that Dynamo skipped."""
    failed = {
        (function.name, function.filename) for function, compiled in session.compiles() if compiled.failure is not None
    }
    for skip in skips(session):
        if any(words in skip.reason for words in _NOTHING):
            yield from _without_operations(session, skip)
            continue
        if skip.whose is Whose.OWN and (skip.name, skip.filename) not in failed:
            rest = resumed_function(skip.name)
            what = f"The rest of `{rest[0]}` after the break at :{rest[1]}" if rest is not None else f"`{skip.what}`"
            cause = f"{what} runs eager: {_bare(skip.reason)}"
            where = Where(short_path(skip.filename), 0, skip.name)
            yield Finding("skipped", "low", where, cause, Cost(None, 0.0, 0), "", ())


def _without_operations(session: Session, skip: Skip) -> Iterator[Finding]:
    """Yield a finding for the only function of a run, if a condition in it may have left out all its operations.

    for block, number in zip(self.blocks, draws): if number > 0.5: x = block(x)
    """
    rest = resumed_function(skip.name)
    if rest is not None:
        yield from _rest_without_operations(session, skip, *rest)
        return
    transformed = [compiled for _, compiled in session.compiles() if isinstance(compiled.transformed, Transformed)]
    roots = [root for root in session.roots() if (root.name, root.filename) == (skip.name, skip.filename)]
    if transformed or len(roots) != 1 or len(session.roots()) != 1 or not deciding(roots[0].source):
        return
    root = roots[0]
    cause = (
        f"All calls of `{whole_name(root)}` run eager: the first one had no operation for a graph, and Dynamo skips a "
        "function after such a call"
    )
    fix = "let all calls have the same operations: pass as a tensor what decides, and choose with `torch.where`"
    where = place(UserLine(root.filename, root.first_line, "", root.name))
    ids = tuple(str(compiled.id) for compiled in root.compiles)
    yield Finding("skipped-first-call", "medium", where, cause, Cost(root.eager_calls, 0.0, 0), fix, ids)


def _rest_without_operations(session: Session, skip: Skip, name: str, line: int) -> Iterator[Finding]:
    """Yield a finding for the rest of a function after a graph break, if a branch in it may have more operations.

    self.log(loss)                            # the graph break
    if self.epoch >= 2: loss = loss + norm    # not in the first call
    """
    for root in session.roots():
        if (root.name, root.filename) != (name, skip.filename) or not _branches_after(root, line):
            continue
        cause = (
            f"The rest of `{whole_name(root)}` after the break at :{line} runs eager: its first call had no operation "
            "for a graph, and Dynamo skips a function after such a call"
        )
        where = Where(short_path(skip.filename), line, skip.name)
        yield Finding("skipped", "low", where, cause, Cost(None, 0.0, 0), "", ())
        return


def _branches_after(root: Function, line: int) -> bool:
    """Return whether a branch or a loop behind a line of a function calls something or computes with operators."""
    own = line - root.first_line + 1
    branches = [
        node
        for node in nodes_below(parsed(root.source))
        if isinstance(node, (ast.If, ast.For, ast.While)) and node.lineno > own
    ]
    below = (node for branch in branches for statement in branch.body for node in nodes_below(statement))
    return any(isinstance(node, (ast.Call, ast.BinOp)) for node in below)


def _bare(reason: str) -> str:
    return without_addresses(reason).removeprefix(_BEFORE).removesuffix(_BEHIND).rstrip(".")
