"""Why an entry refuses a call: every clause that fails, not only the first one, at which torch stops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.model.run import UserLine
from depyf.torch.guards.clause import At, Clause
from depyf.torch.guards.expression import evaluate, fill
from depyf.torch.guards.tree import SCOPE, Tree
from depyf.torch.guards.verdicts.difference import ABSENT, Difference, brief
from depyf.torch.replica import runtime


@dataclass(frozen=True, slots=True)
class Refusal:
    """One difference between a call and an entry's expectations.

    kind: torch's name of the guard.
    source: the value that it checks.
    aspect: the respect (`size`), or "" if there is only one.
    line: the user's line that needs the guard.
    torch_text: torch's own text of the guard.
    """

    kind: str
    source: str
    aspect: str
    expected: str
    actual: str
    line: UserLine | None
    torch_text: str = ""

    @property
    def words(self) -> str:
        """Return the expected and the actual value, without the line."""
        subject = f"{self.aspect} of {self.source}" if self.aspect and self.source else self.aspect or self.source
        return f"{subject}: expected {self.expected}, got {self.actual}"

    def __str__(self) -> str:
        return self.words + (f"  ({self.line.filename}:{self.line.line})" if self.line else "")


@dataclass(slots=True)
class _Told:
    """The cached results for one call, because entries of one function share most of their nodes and clauses.

    refusals: those of a clause over some nodes, by their identities.
    values: the values of such nodes by number, and the nodes that cannot be reached.
    """

    refusals: dict[tuple[int, int], list[Refusal]] = field(default_factory=dict)
    values: dict[int, tuple[dict[int, object], dict[int, _Unreachable]]] = field(default_factory=dict)


def explain(tree: Tree, L: Mapping[str, object], G: Mapping[str, object]) -> list[Refusal]:
    """Return everything that makes the entry refuse a call; empty if it serves the call.

    Args:
        tree: the guards of the entry.
        L: the locals, cells and free variables of the frame by name.
        G: the globals of its module.
    """
    (refusals,) = explain_each([tree], L, G)
    return refusals


def explain_each(trees: Iterable[Tree], L: Mapping[str, object], G: Mapping[str, object]) -> list[list[Refusal]]:
    """Return why each of several entries refuses a call, as `explain` does for one."""
    told = _Told()
    with runtime.without_torch_function():
        return [list(_Asked(tree, L, G, told).refusals()) for tree in trees]


def holds(tree: Tree, L: Mapping[str, object], G: Mapping[str, object], values: Sequence[object] = ()) -> bool:
    """Return whether every clause of an entry holds for a call; `L` and `G` are those of `explain`.

    values: the values of its nodes, `ABSENT` for an unknown one.
    """
    with runtime.without_torch_function():
        known = {node: value for node, value in enumerate(values) if value is not ABSENT}
        asked = _Asked(tree, L, G, _Told(values={id(tree.nodes): (known, {})}))
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

    def __init__(self, tree: Tree, L: Mapping[str, object], G: Mapping[str, object], told: _Told) -> None:
        self.tree = tree
        self.told = told
        self.scope = {**SCOPE, "L": L, "G": G}
        self.values, self.unreachable = told.values.setdefault(id(tree.nodes), ({}, {}))

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

    def refusals(self) -> Iterator[Refusal]:
        missing: set[int] = set()
        for clause in self.tree.clauses:
            try:
                yield from self.ask_once(clause)
            except _Unreachable as failure:
                if failure.node not in missing:
                    missing.add(failure.node)
                    actual = f"{type(failure.cause).__name__}: {failure.cause}"
                    source = self.source(failure.node)
                    yield Refusal(clause.kind, source, "", "to be there", actual, clause.line, clause.torch_text)
        if self.tree.check is not None and self.tree.beyond and not self.tree.check(self.scope["L"]):
            yield Refusal("TORCH_GUARDS", "", "torch's own guards", "true", "false", None)

    def ask_once(self, clause: Clause) -> list[Refusal]:
        """Check a clause, unless another entry has exactly the same one. Each compares with its own objects."""
        key = (id(self.tree.nodes), id(clause))
        found = self.told.refusals.get(key)
        if found is None:
            found = self.told.refusals[key] = self.ask(clause)
        return found

    def ask(self, clause: Clause) -> list[Refusal]:
        try:
            held = bool(evaluate(clause.text, self.value, self.scope))
            failed = [] if held else self.differences(clause)
        except _Unreachable:
            raise
        except Exception as error:  # noqa: BLE001  in a guard any exception means refused
            failed = [Difference("", clause.expected or "no error", f"{type(error).__name__}: {error}")]
        source = self.subject(clause)
        return [Refusal(clause.kind, source, *_parts(each), clause.line, clause.torch_text) for each in failed]

    def differences(self, clause: Clause) -> list[Difference]:
        if clause.differences:
            found = evaluate(clause.differences, self.value, self.scope)
            assert isinstance(found, list)
            return found
        shown = evaluate(clause.actual, self.value, self.scope) if clause.actual else False
        aspect = "class" if clause.kind == "TYPE_MATCH" else ""
        return [Difference(aspect, clause.expected, brief(shown))]

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


def _parts(found: Difference) -> tuple[str, str, str]:
    return found.aspect, found.expected, found.actual
