"""Why an entry cannot serve a call: every guard that fails, not only the first one, at which torch stops."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from depyf.bytecode.records import dataclass
from depyf.model.guard_failure import PRESENT, Check, GuardFailure
from depyf.model.torch_text import condition_failure
from depyf.torch.capture.qualified import code_name, qualified_name
from depyf.torch.guards.clause import At, Clause
from depyf.torch.guards.expression import evaluate, fill
from depyf.torch.guards.tree import SCOPE, Tree
from depyf.torch.guards.verdicts.difference import ABSENT, brief
from depyf.torch.replica import runtime


@dataclass(slots=True)
class _Known:
    """The cached results for one call, because entries of one function share most of their nodes and clauses.

    failures: those of a clause over some nodes, by their identities.
    values: the values of such nodes by number, and the nodes that cannot be reached.
    """

    failures: dict[tuple[int, int], list[GuardFailure]] = field(default_factory=dict)
    values: dict[int, tuple[dict[int, object], dict[int, _Unreachable]]] = field(default_factory=dict)


def explain(tree: Tree, L: Mapping[str, object], G: Mapping[str, object]) -> list[GuardFailure]:
    """Return the guards of an entry that fail for a call; empty if the entry serves the call.

    Args:
        tree: the guards of the entry.
        L: the locals, cells and free variables of the frame by name.
        G: the globals of its module.
    """
    (failures,) = explain_each([tree], L, G)
    return failures


def explain_each(trees: Iterable[Tree], L: Mapping[str, object], G: Mapping[str, object]) -> list[list[GuardFailure]]:
    """Return the guards of each of several entries that fail for a call, as `explain` does for one.

    Args:
        trees: the guards of the entries.
        L: the local variables of the call.
        G: the globals of the function.
    """
    known = _Known()
    with runtime.without_torch_function():
        return [list(_Asked(tree, L, G, known).failures()) for tree in trees]


def holds(tree: Tree, L: Mapping[str, object], G: Mapping[str, object], values: Sequence[object] = ()) -> bool:
    """Return whether every clause of an entry holds for a call; `L` and `G` are those of `explain`.

    `values` saves reading them again.

    Args:
        tree: the guards of the entry.
        L: the local variables of the call, as in `explain`.
        G: the globals of the function, as in `explain`.
        values: the values of its nodes, `ABSENT` for an unknown one.
    """
    with runtime.without_torch_function():
        known = {node: value for node, value in enumerate(values) if value is not ABSENT}
        asked = _Asked(tree, L, G, _Known(values={id(tree.nodes): (known, {})}))
        try:
            ours = all(evaluate(clause.text, asked.value, asked.scope) for clause in tree.clauses)
        except Exception:  # noqa: BLE001  in a guard any exception means refused
            return False
    return ours and (not tree.beyond or tree.check is None or tree.check(L))


class _Unreachable(Exception):
    """A value that a guard checks does not exist."""

    def __init__(self, node: int, cause: Exception) -> None:
        super().__init__(str(cause))
        self.node = node
        self.cause = cause


class _Asked:
    """The check of one call against the guards of an entry."""

    def __init__(self, tree: Tree, L: Mapping[str, object], G: Mapping[str, object], known: _Known) -> None:
        self.tree = tree
        self.known = known
        self.scope = {**SCOPE, "L": L, "G": G}
        self.values, self.unreachable = known.values.setdefault(id(tree.nodes), ({}, {}))

    def value(self, node: int) -> object:
        path = [node]
        while path[-1] not in self.values and path[-1] not in self.unreachable:
            parents = [piece.node for piece in self.tree.nodes[path[-1]].step if isinstance(piece, At)]
            if not parents:
                break
            path.append(parents[0])
        for step in reversed(path):
            if step in self.unreachable:
                self.unreachable.update(dict.fromkeys(path, self.unreachable[step]))
                raise self.unreachable[step]
            if step not in self.values:
                self.values[step] = self.reach(step, path)
        return self.values[node]

    def reach(self, step: int, path: list[int]) -> object:
        try:
            return evaluate(self.tree.nodes[step].step, self.values.__getitem__, self.scope)
        except Exception as error:  # noqa: BLE001  in a guard any exception means refused
            failure = _Unreachable(step, error)
            self.unreachable.update(dict.fromkeys(path[: path.index(step) + 1], failure))
            raise failure from error

    def failures(self) -> Iterator[GuardFailure]:
        missing: set[int] = set()
        for clause in self.tree.clauses:
            try:
                yield from self.ask_once(clause)
            except _Unreachable as failure:
                if failure.node not in missing:
                    missing.add(failure.node)
                    actual = f"{type(failure.cause).__name__}: {failure.cause}"
                    source, text = self.source(failure.node), clause.torch_text
                    yield GuardFailure(source, Check.PRESENCE, PRESENT, actual, clause.line, text, clause.kind)
        if self.tree.check is not None and self.tree.beyond and not self.tree.check(self.scope["L"]):
            yield GuardFailure("", Check.TORCH, "true", "false", guard="TORCH_GUARDS")

    def ask_once(self, clause: Clause) -> list[GuardFailure]:
        """Check a clause, unless another entry has exactly the same one. Each compares with its own objects."""
        key = (id(self.tree.nodes), id(clause))
        failures = self.known.failures.get(key)
        if failures is None:
            failures = self.known.failures[key] = self.ask(clause)
        return failures

    def ask(self, clause: Clause) -> list[GuardFailure]:
        try:
            if bool(evaluate(clause.text, self.value, self.scope)):
                return []
            return [self.completed(failure, clause) for failure in self.differences(clause)]
        except _Unreachable:
            raise
        except Exception as error:  # noqa: BLE001  in a guard any exception means refused
            actual = f"{type(error).__name__}: {error}"
            source = self.subject(clause)
            failure = GuardFailure(source, clause.about, clause.expected or "no error", actual, item=clause.item)
            return [self.completed(failure, clause)]

    def completed(self, failure: GuardFailure, clause: Clause) -> GuardFailure:
        """Return a failure with the user's line, torch's text, the kind of guard, and the class of the value."""
        value = self.values.get(clause.node, ABSENT) if clause.node else ABSENT
        name = "" if value is ABSENT else qualified_name(type(value))
        return replace(failure, line=clause.line, text=clause.torch_text, guard=clause.kind, type=name)

    def differences(self, clause: Clause) -> list[GuardFailure]:
        source = self.subject(clause)
        if clause.differences:
            differences = evaluate(clause.differences, self.value, self.scope)
            assert isinstance(differences, list)
            return [
                GuardFailure(
                    difference.item if difference.check is Check.STATE else source,
                    difference.check,
                    difference.expected,
                    difference.actual,
                )
                for difference in differences
            ]
        shown = evaluate(clause.actual, self.value, self.scope) if clause.actual else False
        if clause.about is Check.CONDITION:
            values = shown.items() if isinstance(shown, dict) else ()
            return [condition_failure(source, tuple((name, brief(value)) for name, value in values))]
        if clause.about is Check.IDENTITY:
            return [GuardFailure(source, Check.IDENTITY)]
        is_code = clause.about is Check.FUNCTION and isinstance(shown, types.CodeType)
        actual = code_name(shown) if is_code and isinstance(shown, types.CodeType) else brief(shown)
        return [GuardFailure(source, clause.about, clause.expected, actual, item=clause.item)]

    def subject(self, clause: Clause) -> str:
        """Return the subject of a clause: a value, the clause itself if it has several, or "" for the state around the
        call.
        """
        if clause.node:
            return self.source(clause.node)
        return "" if clause.flags is not None else fill(clause.text, self.source, lambda held: held.name)

    def source(self, node: int) -> str:
        return source_text(self.tree, node)


def source_text(tree: Tree, node: int) -> str:
    """Return the whole expression for a node, for example `L["self"].__dict__["training"]`."""
    path = [node]
    while parents := [piece.node for piece in tree.nodes[path[-1]].step if isinstance(piece, At)]:
        path.append(parents[0])
    text = ""
    for step in reversed(path):
        text = fill(tree.nodes[step].step, _always(text), lambda held: held.name)
    return text


def _always(text: str) -> Callable[[int], str]:
    return lambda node: text

