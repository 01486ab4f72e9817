"""Show side by side how the guards of a function's entries differ.

before: entry 0/0 has `tensor(L["x"], torch.Tensor, size=(2, 8), requires_grad=False)`,
        entry 0/1 has `tensor(L["x"], torch.Tensor, size=(2, 12), requires_grad=False)`
after: for `L["x"]`, 0/0 has `size=(2, 8)` and 0/1 has `size=(2, 12)`
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from depyf.bytecode.records import dataclass
from depyf.model.names import without_count
from depyf.model.run import Guard

NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Contrasted:
    """The clauses of the entries about one value, by the entry's id."""

    source: str
    kind: str
    asked: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EntryTable:
    """The differing clauses of the entries, and the number of clauses that they share."""

    rows: tuple[Contrasted, ...]
    shared: int


def entry_table(entries: Mapping[str, tuple[Guard, ...]]) -> EntryTable:
    """Compare the guards of several entries, each under its id."""
    by_subject: dict[tuple[str, str], dict[str, list[str]]] = {}
    for entry, guards in entries.items():
        for guard in guards:
            source, clause = without_count(guard.source), without_count(guard.clause)
            subject = (source, guard.kind) if source else ("", clause)
            by_subject.setdefault(subject, {}).setdefault(entry, []).append(clause)
    rows, shared = [], 0
    for (source, kind), asked in by_subject.items():
        texts = {entry: sorted(asked.get(entry, ())) for entry in entries}
        if len({tuple(text) for text in texts.values()}) == 1:
            shared += len(next(iter(texts.values())))
            continue
        rows.append(Contrasted(source or kind, "" if not source else kind, _brief(texts)))
    return EntryTable(tuple(rows), shared)


def _brief(texts: Mapping[str, list[str]]) -> dict[str, str]:
    """Return the differing parts of clauses: for calls of one function, the arguments that are not the same in all."""
    parts = {entry: _arguments(clauses) for entry, clauses in texts.items() if clauses}
    common = set.intersection(*(set(part) for part in parts.values())) if parts else set()
    brief = {}
    for entry, clauses in texts.items():
        differing = [argument for argument in parts.get(entry, ()) if argument not in common]
        brief[entry] = (", ".join(differing) or "holds") if clauses else NOTHING
    return brief


def _arguments(clauses: list[str]) -> list[str]:
    arguments = []
    for clause in clauses:
        try:
            node = ast.parse(clause, mode="eval").body
        except SyntaxError:
            return clauses
        if not isinstance(node, ast.Call) or not node.args:
            arguments.append(clause)
            continue
        arguments += [ast.unparse(arg) for arg in node.args[1:]]
        arguments += [f"{keyword.arg}={ast.unparse(keyword.value)}" for keyword in node.keywords]
    return arguments
