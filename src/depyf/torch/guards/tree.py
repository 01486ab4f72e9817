"""Read the guards of a cache entry once from torch's C++ tree into plain nodes and clauses.

If the locals of the call are given, the walk also follows the values that the guards check. They provide the facts that
torch's text omits (the length of a dict, the object at an address). Then they are released.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

import torch

from depyf.bytecode.records import dataclass
from depyf.model.guard_failure import Check
from depyf.model.guard_failure import literal as python_literal
from depyf.torch.adapters.cpp_guards import RELATIONAL, DictGuardManager, DictSubclassGuardManager, tells_types
from depyf.torch.guards import kinds
from depyf.torch.guards.accessor import ROOT, step
from depyf.torch.guards.clause import At, Clause, Leaf, Text
from depyf.torch.guards.cpp import DictGuards, KeyValue, LeafObject, ValueGuards, Wrapper
from depyf.torch.guards.expression import evaluate
from depyf.torch.guards.held import Held
from depyf.torch.guards.kinds.place import Place
from depyf.torch.guards.literal import literal
from depyf.torch.guards.verdicts.difference import ABSENT
from depyf.torch.replica import runtime

SCOPE: dict[str, object] = {"torch": torch, **{name: getattr(runtime, name) for name in runtime.__all__}}
"""The names that the text of a guard may use beside `L` and `G`."""

_TELLS_TYPES = tells_types()
_PINNED_BY_STEP: dict[str, type] = {
    ".__dict__": dict,
    ".__kwdefaults__": dict,
    ".__defaults__": tuple,
    ".__closure__": tuple,
    ".__mro__": tuple,
}


@dataclass(slots=True)
class Node:
    """A value that guards check: `step` reaches it from its parent, `source` is torch's name for it.

    It is never changed. It is not frozen, because creating a frozen instance takes three times as long.
    """

    parent: int
    step: Text
    source: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """The text of each clause. It is valid as long as the names of its objects are right or free."""

    clauses: tuple[str, ...]
    held: Mapping[str, Held]
    own: frozenset[str]
    """The names of the values that are used several times."""


@dataclass(slots=True)
class Tree:
    """The guards of one entry: clauses in torch's order, over nodes in the order of the walk.

    beyond: the sources of subtrees that torch's Python interface does not describe.
    check: torch's own verdict on a dict of locals, which covers them.
    rendered: the text of the clauses, for reuse.
    """

    nodes: list[Node] = field(default_factory=list)
    clauses: list[Clause] = field(default_factory=list)
    beyond: list[str] = field(default_factory=list)
    check: kinds.TorchGuard | None = None
    rendered: Rendered | None = field(default=None, compare=False)


@dataclass(slots=True, eq=False)
class _Visit:
    """A manager of torch's tree that is still to be read; `step` is None if the step to it is unknown."""

    manager: ValueGuards
    parent: int
    step: Text | None
    source: str
    exists: bool = False


def read(
    wrapper: Wrapper, local_values: Mapping[str, object] | None = None, filename: str = ""
) -> tuple[Tree, list[object]]:
    """Return the guards of a cache entry, and the value of each node, `ABSENT` where it is not known.

    Args:
        wrapper: the entry's guards, `entry.guard_manager`.
        local_values: the locals, cells and free variables of the compiled call, if available.
        filename: the file of the compiled function.
    """
    reader = _Reader(wrapper, local_values, filename)
    with runtime.without_torch_function():
        reader.walk()
    return reader.tree, reader.values


class _Reader:
    """One depth-first walk over a tree. It holds the values of the nodes; the tree does not."""

    def __init__(self, wrapper: Wrapper, local_values: Mapping[str, object] | None, filename: str) -> None:
        self.root = wrapper.root
        self.scope: dict[str, object] = dict(wrapper.closure_vars or {})
        self.globals: dict[str, object] = wrapper.global_scope["G"]
        self.locals = local_values
        self.positions = {name: index for index, name in enumerate(local_values or ())}
        self.expressions: dict[str, object] = {**SCOPE, "L": self.locals, "G": self.globals}
        self.filename = filename
        self.tree = Tree(check=kinds.TorchGuard(self.root.check, self.root, of_frame=True))
        self.values: list[object] = []
        self.types: list[type | None] = []
        self.relations: dict[LeafObject, tuple[Leaf, list[int]]] = {}

    def walk(self) -> None:
        stack = [_Visit(self.root, -1, (), "")]
        while stack:
            visit = stack.pop()
            if visit.step is None:
                self.tree.beyond.append(visit.source)
                continue
            node = self.enter(visit)
            if not self.is_empty_dict(visit, node):
                stack += reversed(self.children(visit.manager, node))
        for leaf, nodes in self.relations.values():
            # A clause on several values has the place of the frame.
            self.add(kinds.relation(leaf, self.place(ROOT), nodes, self.tree_sources()), self.place(ROOT), leaf)
        for guard in self.root.get_epilogue_lambda_guards():
            leaf = self.leaf(guard)
            self.add(kinds.epilogue(leaf, self.place(ROOT)), self.place(ROOT), leaf)

    def tree_sources(self) -> dict[str, int]:
        return {node.source: index for index, node in enumerate(self.tree.nodes) if node.source}

    def enter(self, visit: _Visit) -> int:
        """Create a node for a manager, with the clauses of its own guards."""
        assert visit.step is not None
        node = len(self.tree.nodes)
        self.tree.nodes.append(Node(visit.parent, visit.step, visit.source))
        self.values.append(self.value(visit.step) if visit.step else ABSENT)
        self.types.append(self.pinned(visit))
        place = self.place(node, visit.manager)
        if isinstance(visit.manager, DictGuardManager):
            self.add_dictionary(place, visit.manager)
        guards = visit.manager.get_leaf_guards()
        for guard in () if self.is_empty_dict(visit, node) else guards:
            if isinstance(guard, RELATIONAL):
                self.relations.setdefault(guard, (self.leaf(guard), []))[1].append(node)
            else:
                self.add_leaf(place, self.leaf(guard))
        if visit.parent > ROOT and not guards and not self.looks_behind(visit.manager):
            self.tree.clauses += kinds.exists(place)
        return node

    def looks_behind(self, manager: ValueGuards) -> bool:
        """Return whether torch checks values below one that has no guards. If not, the value only has to exist."""
        positions = manager.get_key_value_managers() if isinstance(manager, DictGuardManager) else ()
        return bool(manager.get_accessors() or positions)

    def is_empty_dict(self, visit: _Visit, node: int) -> bool:
        """Return whether torch checks only a dict's length. It does not continue to the guards on an empty dict."""
        return isinstance(visit.manager, DictGuardManager) and self.values[node] == {}

    def pinned(self, visit: _Visit) -> type | None:
        if not visit.step:
            return None
        last = visit.step[-1]
        return dict if last == "G" else _PINNED_BY_STEP.get(last) if type(last) is str else None

    def value(self, text: Text) -> object:
        """Return the value of `text`, or `ABSENT` if the locals are unknown or it cannot be evaluated."""
        for piece in text:
            if type(piece) is At and self.values[piece.node] is ABSENT:
                return ABSENT
        local = text[0] == "L["
        if local and self.locals is None:
            return ABSENT
        try:
            return evaluate(text, self.values.__getitem__, self.expressions)
        except Exception:  # noqa: BLE001  the expression reads the user's objects; what cannot be read is absent
            return ABSENT

    def leaf(self, guard: LeafObject) -> Leaf:
        check = guard if callable(guard) else None
        return Leaf(type(guard).__name__, tuple(guard.verbose_code_parts()), check)

    def place(self, node: int, manager: ValueGuards | None = None) -> Place:
        guarded = manager.get_type_of_guarded_value() if manager is not None and _TELLS_TYPES else None
        source, at_root = self.tree.nodes[node].source, node == ROOT
        return Place(node, source, self.values[node], guarded, self.filename, self.scope, at_root, At(node))

    def add_leaf(self, place: Place, leaf: Leaf) -> None:
        clauses = kinds.clauses(leaf, place)
        for clause in clauses or ():
            if clause.pins is not None:
                self.types[place.node] = clause.pins
        self.add(clauses, place, leaf)

    def add(self, clauses: list[Clause] | None, place: Place, leaf: Leaf) -> None:
        """Add the clauses of a guard, or torch's own guard if there are none.

        Args:
            clauses: the clauses; None if the guard has no Python form.
            place: the value that the guard checks.
            leaf: torch's guard.
        """
        if clauses is None and leaf.check is None:
            self.tree.beyond.append(place.source or leaf.kind)
            return
        self.tree.clauses += kinds.call_through(leaf, place, self.root) if clauses is None else clauses

    def add_dictionary(self, place: Place, manager: DictGuards) -> None:
        clauses = kinds.dictionary(place, self.keys_of(manager))
        if clauses is None:
            self.tree.beyond.append(place.source)
            return
        self.types[place.node] = clauses[0].pins
        self.tree.clauses += clauses

    def keys_of(self, manager: DictGuards) -> list[int]:
        return sorted(manager.get_key_value_managers())

    def children(self, manager: ValueGuards, node: int) -> list[_Visit]:
        visits = list(self.items(manager, node)) if isinstance(manager, DictGuardManager) else []
        accessors = manager.get_accessors()
        if not accessors:
            return visits
        at, source_of_node, cls, value = At(node), self.tree.nodes[node].source, self.types[node], self.values[node]
        reached = []
        for accessor, child in zip(accessors, manager.get_child_managers(), strict=True):
            source = child.get_source()
            text = step(accessor, at, (source_of_node, source), cls, value, self.scope)
            reached.append(_Visit(child, node, text, source))
        if node == ROOT:
            # torch moves the guards that fail most to the front. Readers expect the order of the parameters.
            order = [self.order(accessor.repr()) for accessor in accessors]
            reached = [reached[index] for index in sorted(range(len(reached)), key=order.__getitem__)]
        return visits + reached

    def order(self, text: str) -> tuple[int, int]:
        """Return a sort key for the accessors of the root: locals in the order of the frame, then the others."""
        if "framelocals_idx=" in text:
            return (0, int(text.rpartition("framelocals_idx=")[2].rstrip(")")))
        # Before 2.7 the locals are a dict.
        name = text.removeprefix("DictGetItemGuardAccessor(").rstrip(")").strip("'")
        return (0, self.positions[name]) if name in self.positions else (1, 0)

    def items(self, manager: DictGuards, node: int) -> Iterator[_Visit]:
        """Yield the keys and values of a dict whose items torch finds by position."""
        managers = sorted(manager.get_key_value_managers().items())
        if isinstance(manager, DictSubclassGuardManager):
            yield from self.items_of_subclass(managers, node)
            return
        value = self.values[node]
        keys: list[object] = list(dict.keys(value)) if isinstance(value, dict) else []
        spelled = [_key_guarded(keys[index], pair[0]) if index < len(keys) else None for index, pair in managers]
        together = len(managers) == len(keys) and None not in spelled
        if together and keys:
            guarded = [pair[0] for _, pair in managers if pair[0] is not None]
            self.add_keys(node, [str(text) for text in spelled], guarded)
        for position, (index, (key_manager, value_manager)) in enumerate(managers):
            if key_manager is not None and not together:
                text: Text = ("list(dict.keys(", At(node), f"))[{index}]")
                yield _Visit(key_manager, node, text, key_manager.get_source())
            if value_manager is not None:
                at_index: Text = ("list(dict.values(", At(node), f"))[{index}]")
                text = at_index if (key := spelled[position]) is None else self.by_key(node, key)
                yield _Visit(value_manager, node, text, value_manager.get_source())

    def by_key(self, node: int, key: str) -> Text:
        """Return the item of a dict at a key. A subclass may have a `__getitem__` of its own, which torch passes by."""
        is_plain = self.types[node] is dict
        return (At(node), f"[{key}]") if is_plain else ("dict.__getitem__(", At(node), f", {key})")

    def items_of_subclass(self, managers: Sequence[tuple[int, KeyValue]], node: int) -> Iterator[_Visit]:
        """Yield the keys and values of a dict whose own `keys` torch calls: before 2.7, those of an `OrderedDict`."""
        for index, (key_manager, value_manager) in managers:
            key: Text = ("list(", At(node), f".keys())[{index}]")
            if key_manager is not None:
                yield _Visit(key_manager, node, key, key_manager.get_source())
            if value_manager is not None:
                yield _Visit(value_manager, node, ("dict_item(", At(node), ", ", *key, ")"), value_manager.get_source())

    def add_keys(self, node: int, keys: Sequence[str], managers: Sequence[ValueGuards]) -> None:
        """Add one clause for the keys of a dict, if torch compares each of them with a constant.

        Args:
            node: the number of the dict in the tree.
            keys: the texts of the keys, in order.
            managers: torch's guards on the keys.
        """
        place = self.place(node)
        leaves = [self.leaf(manager.get_leaf_guards()[0]) for manager in managers]
        arguments = ", ".join(keys)
        self.tree.clauses += place.clause(
            Leaf(leaves[0].kind, tuple(part for leaf in leaves for part in leaf.parts), None),
            "keys_are(",
            place.at,
            f", {arguments})",
            expected=repr(known) if isinstance(known := python_literal(f"[{arguments}]"), list) else f"[{arguments}]",
            about=Check.KEYS,
            actual=("list(dict.keys(", place.at, "))"),
        )


def _key_guarded(key: object, manager: ValueGuards | None) -> str | None:
    """Return the text of `key` if torch's only check of the key at its position is a comparison with it."""
    if manager is None or manager.get_accessors():
        return None
    leaves = manager.get_leaf_guards()
    check = leaves[0] if len(leaves) == 1 and callable(leaves[0]) else None
    equal = check is not None and type(check).__name__ == "EQUALS_MATCH" and check(key)
    return literal(key) if equal else None


def without_checks(tree: Tree) -> Tree:
    """Return `tree` without torch's own guards, which keep the module's globals alive, except for those it calls."""
    for clause in tree.clauses:
        clause.let_go()
    return Tree(tree.nodes, tree.clauses, tree.beyond, tree.check if tree.beyond else None)


def share(tree: Tree, earlier: Tree) -> None:
    """Share equal nodes and clauses with another entry's tree. Those of a recompile are mostly equal."""
    if tree.nodes == earlier.nodes:
        tree.nodes = earlier.nodes
    if len(tree.clauses) == len(earlier.clauses):
        tree.clauses = [old if old == new else new for old, new in zip(earlier.clauses, tree.clauses, strict=True)]
