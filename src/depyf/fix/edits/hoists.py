"""A function, lambda, class or compile that a loop makes again in each round is made once, before the loop.

before:
    for batch in batches:
        scale = lambda x: x * 2
        step(batch, scale)
after:
    scale = lambda x: x * 2
    for batch in batches:
        step(batch, scale)

It must read no name that the loop assigns.
"""

from __future__ import annotations

import symtable
from collections.abc import Iterator
from typing import TypeVar

import libcst as cst
import libcst.matchers as m

from depyf.findings import Finding
from depyf.fix.edit import Edit, RefusedError, event_of, kinds_of, proposer
from depyf.fix.trees import stored
from depyf.model.index_reader import Run

Loop = TypeVar("Loop", cst.For, cst.While)
_ENDINGS = ("-function", "class-defined-again", "object-identity")


@proposer
def hoists(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the move of a definition out of a loop."""
    kinds = kinds_of(event_of(run, finding), finding)
    kind = next((kind for kind in kinds if kind.endswith(_ENDINGS) and not kind.startswith("break-")), "")
    event = event_of(run, finding)
    if not kind or event is None:
        return
    for file in dict.fromkeys(line.filename for _, compiled in event.compiles for line in compiled.user_stack[-1:]):
        what = "made once, before the loop"
        yield Edit(file, 0, what, (kind, str(finding.where)), hoisted, is_of_file=True)


def hoisted(module: cst.Module, _: int = 0) -> cst.Module:
    """Return the module with its definitions before the loops that make them again.

    Raises:
        RefusedError: no loop has such a definition.
    """
    visitor = _Hoisting()
    changed = module.visit(visitor)
    if not visitor.count:
        raise RefusedError("no loop makes a function that needs nothing of the loop")
    return changed


class _Hoisting(cst.CSTTransformer):
    """Moves definitions from the body of each loop before it."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def leave_For(  # noqa: N802 - LibCST's name
        self, original_node: cst.For, updated_node: cst.For
    ) -> cst.For | cst.FlattenSentinel[cst.BaseStatement]:
        return self._moved(updated_node, stored(updated_node.target))

    def leave_While(  # noqa: N802 - LibCST's name
        self, original_node: cst.While, updated_node: cst.While
    ) -> cst.While | cst.FlattenSentinel[cst.BaseStatement]:
        return self._moved(updated_node, set())

    def _moved(self, loop: Loop, names: set[str]) -> Loop | cst.FlattenSentinel[cst.BaseStatement]:
        """Return a loop with its definitions before it, if they read and set no name that the loop sets."""
        if not isinstance(loop.body, cst.IndentedBlock):
            return loop
        body = loop.body.body
        moved: list[cst.BaseStatement] = []
        for definition in filter(_is_definition, body):
            others = names.union(
                *(_assigned(other) for other in body if other is not definition and other not in moved)
            )
            if not (_read(definition) | _assigned(definition)) & others:
                moved.append(definition)
        if not moved:
            return loop
        self.count += len(moved)
        rest = loop.body.with_changes(body=[stmt for stmt in body if stmt not in moved])
        lines = [*loop.leading_lines, *moved[0].leading_lines]  # type: ignore[attr-defined]
        first = moved[0].with_changes(leading_lines=lines)
        return cst.FlattenSentinel([first, *moved[1:], loop.with_changes(body=rest, leading_lines=())])


_STORES = m.AssignTarget() | m.AugAssign() | m.AnnAssign() | m.NamedExpr() | m.For() | m.AsName()
_COMPILE = m.Call(m.Attribute(m.Name("torch"), m.Name("compile")))
_VALUE = m.Lambda() | _COMPILE


def _is_definition(stmt: cst.BaseStatement) -> bool:
    if isinstance(stmt, (cst.FunctionDef, cst.ClassDef)):
        return True
    return m.matches(stmt, m.SimpleStatementLine(body=[m.Assign(targets=[m.AssignTarget(m.Name())], value=_VALUE)]))


def _assigned(stmt: cst.CSTNode) -> set[str]:
    """Return the names that a statement may set."""
    if isinstance(stmt, (cst.FunctionDef, cst.ClassDef)):
        return {stmt.name.value}
    names: set[str] = set()
    for node in m.findall(
        stmt, m.AssignTarget() | m.AugAssign() | m.AnnAssign() | m.NamedExpr() | m.For() | m.AsName()
    ):
        target = node.name if isinstance(node, cst.AsName) else node.target  # type: ignore[attr-defined]
        names |= stored(target)
    return names | {node.name.value for node in m.findall(stmt, m.FunctionDef() | m.ClassDef())}  # type: ignore[attr-defined]


def _read(definition: cst.CSTNode) -> set[str]:
    """Return the names that a definition takes from around it."""
    code = cst.Module([definition]).code.strip()  # type: ignore[list-item]
    waiting = [symtable.symtable(code, "<definition>", "exec")]
    names: set[str] = set()
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        is_outermost = table.get_type() == "module"
        names |= {name.get_name() for name in table.get_symbols() if is_outermost or name.is_global()}
    return names
