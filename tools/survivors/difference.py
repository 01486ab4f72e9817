"""The one list of statements in which two functions differ."""

from __future__ import annotations

import ast
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef
LISTS = ("body", "orelse", "finalbody")


@dataclass(frozen=True)
class Difference:
    """Two functions, and the innermost lists of statements that hold all that differs: `mine` of the original."""

    original: Function
    changed: Function
    mine: list[ast.stmt]
    its: list[ast.stmt]

    def places(self) -> list[int]:
        """Return the places of the statements that differ, of lists of one length."""
        if len(self.mine) != len(self.its):
            return []
        return [place for place, pair in enumerate(zip(self.mine, self.its)) if text(pair[0]) != text(pair[1])]

    def single(self) -> tuple[int, ast.stmt, ast.stmt] | None:
        """Return the place of the only statement that differs, and both forms of it."""
        places = self.places()
        return (places[0], self.mine[places[0]], self.its[places[0]]) if len(places) == 1 else None


def text(node: ast.AST) -> str:
    """Return what two nodes share if they are the same but for lines."""
    return ast.dump(node)


def difference(original: Function, changed: Function) -> Difference | None:
    """Return where two functions differ, or None where the difference is not in one list of statements."""
    whole = text(changed)
    for mine, its in reversed(lists(original, changed)):
        if [text(stmt) for stmt in mine] == [text(stmt) for stmt in its]:
            continue
        kept = mine[:]
        mine[:] = its
        is_all = text(original) == whole
        mine[:] = kept
        if is_all:
            return Difference(original, changed, mine, its)
    return None


def lists(original: Function, changed: Function) -> list[tuple[list[ast.stmt], list[ast.stmt]]]:
    """Return the lists of statements of both that correspond, inner ones last."""
    found: list[tuple[list[ast.stmt], list[ast.stmt]]] = []
    work: list[tuple[list[ast.stmt], list[ast.stmt]]] = [(original.body, changed.body)]
    while work:
        mine, its = work.pop()
        found.append((mine, its))
        for one, two in zip(mine, its):
            for owner, other in [(one, two), *zip(parts(one), parts(two))]:
                for name in LISTS:
                    first, second = getattr(owner, name, None), getattr(other, name, None)
                    if isinstance(first, list) and isinstance(second, list):
                        work.append((first, second))
    return found


def parts(stmt: ast.stmt) -> list[ast.AST]:
    """Return the handlers or cases of a statement."""
    return [*getattr(stmt, "handlers", ()), *getattr(stmt, "cases", ())]
