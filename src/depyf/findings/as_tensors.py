"""Fixes for numbers and flags that become tensors, by how the function uses them.

self.keys[self.filled] = key     a tensor as an index is a number again, so that each of its values needs an entry
x[rows]                          one tensor replaces the whole list, whatever its length
a if forced[step] else b         one tensor of flags, and `torch.where`
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from depyf.findings.catalogue.kind import Change
from depyf.findings.catalogue.recompiles import SPECIALIZED
from depyf.findings.causes import Cause
from depyf.findings.changed_objects import ITEM_AT_END
from depyf.findings.reasons import Reason
from depyf.model.guard_failure import Check
from depyf.model.run import Function, GuardSet
from depyf.model.spelling import spelled
from depyf.model.syntax import nodes_below, normal, parsed

_AS_TENSOR = "make `"
WRITTEN = "; and write with `{target}.index_copy_(0, {subject}.reshape(1), {value}[None])`"
READ = "; and read with `{target}.index_select(0, {subject}.reshape(1))[0]`"
BEFORE = "look up `"
"""The begin of the fix for an item of a list, which no tensor finds."""
CHOSEN = "choose `{called}` outside of the compiled function, and compile what you choose: `torch.compile({called})`"
INDICES = "pass `torch.tensor({holder})`, made before the call, instead of the list: one tensor has all its numbers"
FLAGS = "pass all of `{holder}` as one tensor, `torch.tensor({holder})`, and choose with `{choice}`"
NUMBERS = "pass all of `{holder}` as one tensor, `torch.tensor({holder})`, and use its items as tensors"


def with_use(cause: Cause, root: Function, reason: Reason) -> Reason:
    """Return a reason whose fix fits the use of the value in the function.

    Args:
        cause: the cause, with other items that the same line checks below it.
        root: the function whose source has the line; for a resume function, the function that it resumes.
        reason: the reason for its value.
    """
    subject, source = reason.failure.subject, root.source
    if reason.failure.check is Check.LENGTH:
        return replace(reason, fix=INDICES.format(holder=subject)) if _indexes(subject, source) else reason
    called = _called(subject, source) if reason.kind.name == SPECIALIZED.name else ""
    if called:
        return replace(reason, fix=CHOSEN.format(called=called))
    holder = ITEM_AT_END.sub("", subject)
    if not reason.fix.startswith(_AS_TENSOR):
        return reason
    if holder != subject:
        return _of_items(cause, source, holder, reason)
    if type(reason.failure.expected_value) is not int:
        return reason
    fix = reason.fix
    for use in _uses(subject, source):
        step = _step(use, cause.function)
        if not step:
            return replace(reason, fix=f"{BEFORE}{ast.unparse(use)}` before the call, and pass the result")
        fix += "" if step in fix else step
    return replace(reason, fix=fix)


def _of_items(cause: Cause, source: str, holder: str, reason: Reason) -> Reason:
    """Return a reason with a fix for the whole container, if other items of it changed in other calls."""
    others = [part.failures[0] for part in cause.below if part.function is cause.function]
    if not any(ITEM_AT_END.sub("", other.subject) == holder for other in others):
        return reason
    if _indexes(holder, source):
        return replace(reason, fix=INDICES.format(holder=holder))
    if reason.kind.change is Change.BOOL:
        choice = _choice(holder, source)
        return replace(reason, fix=FLAGS.format(holder=holder, choice=choice)) if choice else reason
    return replace(reason, fix=NUMBERS.format(holder=holder))


def _indexes(subject: str, source: str) -> bool:
    """Return whether a function uses a whole list as an index, as `x[rows]` does, and for nothing else.

    >>> _indexes("rows", "def f(x, rows):\\n    return x[rows]")
    True
    >>> _indexes("rows", "def f(x, rows):\\n    return rows[0]")
    False
    """
    nodes = nodes_below(parsed(source))
    reads = [node for node in nodes if isinstance(node, ast.expr) and _text(node) == normal(subject)]
    indices = [node.slice for node in nodes if isinstance(node, ast.Subscript)]
    return bool(reads) and all(read in indices for read in reads)


def _choice(holder: str, source: str) -> str:
    """Return `torch.where(...)` for the only expression that an item of a container decides, or "".

    >>> _choice("forced", "def f(x, y, forced):\\n    return x if forced[0] else y")
    'torch.where(forced[0], x, y)'
    """
    nodes = nodes_below(parsed(source))
    items = [node for node in nodes if isinstance(node, ast.Subscript) and ast.unparse(node.value) == normal(holder)]
    chosen = [node for node in nodes if isinstance(node, ast.IfExp) and node.test in items]
    if len(items) != 1 or len(chosen) != 1:
        return ""
    parts = (chosen[0].test, chosen[0].body, chosen[0].orelse)
    return f"torch.where({', '.join(map(ast.unparse, parts))})"


def _called(subject: str, source: str) -> str:
    """Return what a function calls by a number, or "" if it calls nothing so.

    >>> _called("n", "def forward(self, x, n):\\n    return self.layers[n](x)")
    'self.layers[n]'
    """
    calls = (node.func for node in nodes_below(parsed(source)) if isinstance(node, ast.Call))
    chosen = (called for called in calls if isinstance(called, ast.Subscript) and _is_in(subject, called.slice))
    return next(map(ast.unparse, chosen), "")


def _uses(subject: str, source: str) -> Iterator[ast.Subscript | ast.Assign]:
    """Yield what uses a number as an index: each assignment to an item, and each read of one."""
    nodes = nodes_below(parsed(source))
    indexed = [node for node in nodes if isinstance(node, ast.Subscript) and _is_in(subject, node.slice)]
    written = [node for node in nodes if isinstance(node, ast.Assign) and node.targets[0] in indexed]
    yield from written
    targets = [node.targets[0] for node in written]
    yield from (node for node in indexed if node not in targets and isinstance(node.ctx, ast.Load))


def _is_in(subject: str, index: ast.expr) -> bool:
    """Return whether an index is a value, or one computed from it, such as `n + 1`. A slice is no index."""
    is_number = isinstance(index, (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp))
    parts = nodes_below(index) if isinstance(index, ast.BinOp) else [index]
    return is_number and any(isinstance(part, ast.expr) and _text(part) == normal(subject) for part in parts)


def _step(use: ast.Subscript | ast.Assign, function: Function) -> str:
    """Return the second half of a fix: how an item of a tensor is written or read at an index that is a tensor.

    It is empty for an item of anything else, which has no such operation.
    """
    indexed = use.targets[0] if isinstance(use, ast.Assign) else use
    if not isinstance(indexed, ast.Subscript):
        return ""
    target = ast.unparse(indexed.value)
    if not _is_tensor(target, function):
        return ""
    index = ast.unparse(indexed.slice)
    index = f"({index})" if isinstance(indexed.slice, ast.BinOp) else index
    if isinstance(use, ast.Assign):
        return WRITTEN.format(target=target, subject=index, value=ast.unparse(use.value))
    return READ.format(target=target, subject=index)


def _is_tensor(text: str, function: Function) -> bool:
    """Return whether an entry has guards for a tensor that the function calls by this name."""
    sets = (compiled.guards for compiled in function.compiles if isinstance(compiled.guards, GuardSet))
    tensors = (guard.source for guards in sets for guard in guards.guards if guard.kind == "TENSOR_MATCH")
    return any(normal(spelled(source)) == text for source in tensors)


def _text(node: ast.expr) -> str:
    is_value = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))
    return ast.unparse(node) if is_value and not isinstance(getattr(node, "ctx", None), ast.Store) else ""
