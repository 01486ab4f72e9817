"""Place the nodes of an acyclic graph in one sequence of items, by dominance."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

from depyf.decompiler.graph.dominators import immediate_dominators
from depyf.decompiler.lift.nodes import Temp
from depyf.decompiler.structure.tree import For, If, Item, Jump, Label, Loop, ReraiseStmt, Try, WithBody, children

if TYPE_CHECKING:
    from depyf.decompiler.structure.node_table import Node


def place(nodes: dict[int, Node], successors: dict[int, list[int]], order: list[int]) -> list[Item]:
    """Return the items of an acyclic graph of nodes in one sequence.

    Jumps out, and jumps back to the first node, stay.

    Args:
        nodes: the nodes, by label.
        successors: the labels that each node jumps to.
        order: the labels to place, in the reverse postorder of the edges between them.
    """
    entry = order[0]
    inner = set(order[1:])
    rank = dict(zip(order, range(len(order))))
    idom = immediate_dominators(successors, entry, order)
    sites: dict[int, list[tuple[int, Jump]]] = {}
    for label in order:
        for jump in nodes[label].jumps:
            if jump.label in inner:
                sites.setdefault(jump.label, []).append((label, jump))
    kids: dict[int, list[int]] = {}
    for label in order[1:]:
        kids.setdefault(idom[label], []).append(label)
    for label in reversed(order):
        _attach(nodes, label, sorted(kids.get(label, []), key=rank.__getitem__), sites)
    return nodes[entry].items


def _attach(nodes: dict[int, Node], label: int, kids: list[int], sites: dict[int, list[tuple[int, Jump]]]) -> None:
    """Write the nodes that `label` dominates at their jump, or after the node."""
    node = nodes[label]
    compound = node.items[-1] if node.items else None
    is_compound = isinstance(compound, (Loop, For, Try, WithBody))
    behind: list[int] = []
    for kid in kids:
        if len(sites[kid]) == 1 and not is_compound and not sites[kid][0][1].never:
            _fill(sites[kid][0][1], nodes[kid].items)
        else:
            behind.append(kid)
    if isinstance(compound, (Loop, For, Try, WithBody)):
        behind = _Around(nodes, label, compound, behind, sites).behind()
    if isinstance(compound, (Loop, For)) and not behind:
        _break_to(nodes, node, compound)
    match compound:
        case WithBody(suppressed=[Jump(after, None)]) if not behind:
            node.items = [*node.items, Jump(after)]
    for kid in behind:  # As filled jumps: copying the rest of the code after every statement would take quadratic time.
        node.items = [*node.items, Label(kid), Jump(kid, nodes[kid].items)]


def _break_to(nodes: dict[int, Node], node: Node, loop: Loop | For) -> None:
    """Put a jump after a loop that is only left for one place outside."""
    beyond = {jump.label for jump in node.jumps if jump.body is None} - {loop.header} - node.ends
    normal = _goes_on(nodes, loop.orelse)
    if normal is not None and beyond - {normal.label}:
        beyond.discard(normal.label)
    else:
        normal = None
    if len(beyond) == 1:
        node.items = [*node.items, Jump(beyond.pop(), normal=normal)]


def _goes_on(nodes: dict[int, Node], orelse: list[Item]) -> Jump | None:
    """Return a jump of an `else` to the only target of its ends, ignoring ends that are exits."""
    tails = _tails(orelse)
    if len({jump.label for jump in tails}) > 1:
        tails = [jump for jump in tails if jump.label not in nodes or not _is_way_out(nodes[jump.label])]
    return tails[0] if len({jump.label for jump in tails}) == 1 else None


def _is_way_out(node: Node) -> bool:
    """Return whether a node is only an exit."""
    return len(node.items) == 1 and isinstance(node.items[0], (Jump, ast.Return))


def _fill(jump: Jump, items: list[Item]) -> None:
    jump.body = items


class _Around:
    """The nodes after a loop, `try` or `with`: one may be its `else`, some go inside, the rest after it."""

    def __init__(
        self,
        nodes: dict[int, Node],
        label: int,
        compound: Item,
        kids: list[int],
        sites: dict[int, list[tuple[int, Jump]]],
    ) -> None:
        self.nodes, self.label, self.compound, self.kids, self.sites = nodes, label, compound, kids, sites
        self.single = [kid for kid in kids if len(sites[kid]) == 1]
        self.nearby = set(kids)

    def behind(self) -> list[int]:
        """Write the nodes that belong inside and into the `else`; return the nodes that stay after it."""
        if isinstance(self.compound, Try) and self._try_is_passed(self.compound):
            return self.kids
        if isinstance(self.compound, WithBody):
            self._leave_with(self.compound)
        normal = _normal_exit(self.compound, self.nodes, self.single, self.kids, self.sites)
        if isinstance(self.compound, Try):
            self._leave_try(self.compound, normal)
        if normal is not None and self._is_settled(normal):
            return self.kids
        if normal is None and isinstance(self.compound, Loop) and self._all_stand_inside(self.compound):
            self._fill_inside(self.kids)
            return []
        if len(self.kids) >= 2:
            self._share_out(normal)
        return self.kids

    def _remove(self, placed: list[int]) -> None:
        self.kids, self.single = ([kid for kid in some if kid not in placed] for some in (self.kids, self.single))

    def _leave_try(self, compound: Try, normal: int | None) -> None:
        """Write lone jumps inside a `try` if they would be in the way after it, or would be unreachable."""
        lone = _lone_jumps(self.nodes, self.label, self.kids, normal, self.sites)
        if compound.handled < 0 and len(self.kids) == 1 and not lone:
            tails = {jump.label for jump in _tails(compound.body)}
            lone = [kid for kid in self.single if {kid} < tails and self.nodes[kid].only_jump()]
        lone += [kid for kid in self._left_amid(compound) if kid not in lone]
        _fill_all(lone, self.nodes, self.sites)
        if normal is not None:
            lone += [kid for kid in self.kids if kid not in (normal, *lone) and self._ends_clause(compound, kid)]
        self._remove(lone)
        self.nearby.update(lone)
        self._leave_loops()

    def _ends_clause(self, compound: Try, kid: int) -> bool:
        """Write a lone jump at the end of the only clause that leads to it, if all ends of the clause do.

        The clause has several ends: for example, it is a `try` with a `break` after it.
        """
        jumps = [jump for _, jump in self.sites[kid]]
        if len(jumps) < 2 or not self.nodes[kid].only_jump() or any(jump.never for jump in jumps):
            return False
        clause, last = compound.handler, None
        while isinstance(clause[-1], (If, Jump)):
            inner = [child for child in children(clause[-1]) if live_tails(child)]
            if len(inner) != 1:
                break
            if inner[0] == jumps[-1:] and len(clause) > 2:  # The apparent end of the clause jumps there, too.
                last = jumps.pop()
                clause = clause[:-2]
                break
            (clause,) = inner
        if {id(tail) for tail in live_tails(clause)} != {id(jump) for jump in jumps}:
            return False
        if last is not None:
            _fill(last, self.nodes[kid].items)
        else:
            clause += [Label(kid), Jump(kid, self.nodes[kid].items)]
        return True

    def _leave_with(self, compound: WithBody) -> None:
        """Write lone jumps inside a `with` if only a suppressed exception continues after it, and elsewhere."""
        match compound.suppressed:
            case [Jump(after, None)] if after not in self.kids:
                lone = [kid for kid in self.single if self.nodes[kid].only_jump() and not self.sites[kid][0][1].never]
                _fill_all(lone, self.nodes, self.sites)
                self._remove(lone)

    def _left_amid(self, compound: Try) -> list[int]:
        """Return the lone jumps that are reached only from the middle of a body or handler, not from its end."""
        tails = {id(jump) for jump in _tails([compound])}
        jumps = [(kid, self.sites[kid][0][1]) for kid in self.single if self.nodes[kid].only_jump()]
        return [kid for kid, jump in jumps if not jump.never and id(jump) not in tails]

    def _leave_loops(self) -> None:
        """Write an exit inside the loop that alone leads to it, if `break` leads past the code after the loop."""
        for kid in self.kids if len(self.kids) > 1 else ():
            jumps = [jump for _, jump in self.sites[kid]]
            breaking = [jump for jump in jumps if jump.normal is not None]
            if len(jumps) == 2 and len(breaking) == 1 and _is_way_out(self.nodes[kid]):
                _fill(next(jump for jump in jumps if jump is not breaking[0]), self.nodes[kid].items)
                breaking[0].label = cast(Jump, breaking[0].normal).label
                self._remove([kid])

    def _make_else(self, normal: int) -> None:
        _fill_else(self.compound, self.sites[normal][0][1], self.nodes[normal].items)
        self._remove([normal])

    def _try_is_passed(self, compound: Try) -> bool:
        """Write the nodes that belong into a `try`; return whether one node after it was written as its `else`."""
        nodes = self.nodes
        inside = [kid for kid in self.single if _is_inside(nodes[kid], self.sites[kid][0][1], compound)]
        _fill_all(inside, nodes, self.sites)
        inside += _end_of_body(nodes, [kid for kid in self.kids if kid not in inside], compound)
        self._remove(inside)
        self.nearby = set(self.kids)
        passed = _passed(nodes, self.label, compound, self.kids, self.sites)
        if passed is not None:
            compound.orelse = [Label(passed), *nodes[passed].items]
            self._remove([passed])
        return passed is not None

    def _is_settled(self, normal: int) -> bool:
        """Return whether the place of the normal exit is known: after the loop in the source, or its `else`."""
        assert isinstance(self.compound, (Loop, For, Try))
        beyond = -1 if isinstance(self.compound, Try) else self.compound.behind
        if beyond >= 0 and self.nodes[normal].first >= beyond:
            return True
        if beyond >= 0 or _leads_past(self.nodes, self.label, self.compound, self.nearby):
            self._make_else(normal)
            return True
        return False

    def _all_stand_inside(self, compound: Loop) -> bool:
        """Return whether all nodes after a loop without a normal exit lead to one place, as a `break` there does."""
        if len(self.single) != len(self.kids):
            return False
        node = self.nodes[self.label]
        inner = [jump for kid in self.kids for jump in self.nodes[kid].jumps if jump.body is None]
        jumps = [*node.jumps, *inner]
        beyond = {jump.label for jump in jumps} - {compound.header, *self.kids, *node.ends}
        direct = beyond & {jump.label for jump in node.jumps}
        late = [kid for kid in self.kids if self.nodes[kid].first >= node.last and self.nodes[kid].jumps]
        # A `break` to the same target cannot pass them if they are after the loop.
        breaks = any(jump.label in direct and jump not in compound.orelse for jump in node.jumps)
        leads_on = len(beyond) == 1 and bool(direct or len(self.kids) > 1)
        return leads_on and (breaks or not (late and node.in_order))

    def _share_out(self, normal: int | None) -> None:
        """Write all but one of several nodes inside, or into the `else`."""
        if normal is not None and isinstance(self.compound, Loop) and len(self.single) == len(self.kids):
            others = [kid for kid in self.single if kid != normal]
            if all(other < normal for other in others):
                self._fill_inside(others)
                self._remove(others)
                return
        if normal is not None:
            self._make_else(normal)
        for kid in list(self.single):
            if len(self.kids) > 1 and not self.sites[kid][0][1].never:
                self._fill_inside([kid])
                self._remove([kid])

    def _fill_inside(self, kids: list[int]) -> None:
        """Write nodes with one incoming jump at that jump; the code after a `try` in a loop is its `else`."""
        for kid in kids:
            jump, items = self.sites[kid][0][1], self.nodes[kid].items
            is_plain = not isinstance(self.compound, (Loop, For)) or self.nodes[kid].only_jump()
            around = None if is_plain else _left_try(self.compound, jump)
            if around is not None:
                around.orelse = [Label(kid), *items]
            else:
                _fill(jump, items)


def _left_try(item: Item, jump: Jump) -> Try | None:
    """Return the outermost `try` inside an item whose body ends with a jump, if it has no `else`."""
    work = [item]
    while work:
        current = work.pop()
        if isinstance(current, Try) and not current.is_finally and not current.orelse:
            if any(tail is jump for tail in _tails(current.body)):
                return current
        if not isinstance(current, ast.stmt):
            work += [inner for sequence in children(current) for inner in sequence]
    return None


def _fill_all(kids: list[int], nodes: dict[int, Node], sites: dict[int, list[tuple[int, Jump]]]) -> None:
    """Write nodes with one incoming jump at that jump."""
    for kid in kids:
        _fill(sites[kid][0][1], nodes[kid].items)


def _leads_past(nodes: dict[int, Node], label: int, compound: Loop | For | Try, nearby: set[int]) -> bool:
    """Return whether a statement leaves for other places than these nodes and the implied ones.

    The head of a loop around it is implied; that of a loop behind it is not.
    """
    node = nodes[label]
    leaving = {jump.label for jump in node.jumps if not jump.explicit} - nearby
    if isinstance(compound, (Loop, For)):
        leaving -= {compound.header, *node.ends}
    elif not compound.is_star:
        leaving -= node.ends
        if not (node.tells and _has_name(compound)):
            leaving -= {head for head in node.implied if head not in nodes or nodes[head].first <= node.first}
    return bool(leaving)


def _lone_jumps(
    nodes: dict[int, Node], label: int, kids: list[int], normal: int | None, sites: dict[int, list[tuple[int, Jump]]]
) -> list[int]:
    """Return the lone jumps of handlers that would be in the way after a `try` whose body continues elsewhere.

    Examples are `if c: try: f() except E: break`, and a `try` with code after it.
    """
    leaving = {jump.label for jump in nodes[label].jumps if not jump.explicit}
    if len(kids) < 2 and not leaving & (sites.keys() - kids):
        return []
    single = [kid for kid in kids if kid != normal and len(sites[kid]) == 1 and not sites[kid][0][1].never]
    return [kid for kid in single if nodes[kid].only_jump()]


def _has_name(compound: Try) -> bool:
    """Return whether a clause binds a name: in source order, a `continue` out of it differs from its end."""
    work = [compound.handler]
    while work:
        for item in work.pop():
            if isinstance(item, ast.Assign) and isinstance(item.value, Temp) and item.value.temp == compound.exc:
                return True
            if isinstance(item, (If, Jump)):
                work.extend(children(item))
    return False


def _is_inside(node: Node, jump: Jump, compound: Try) -> bool:
    """Return whether code that is reached only from the body of a `try` is inside it: it precedes the handler."""
    raises_again = bool(node.items) and isinstance(node.items[-1], ReraiseStmt)
    return node.first < compound.handled and not jump.never and not raises_again


def _end_of_body(nodes: dict[int, Node], kids: list[int], compound: Try) -> list[int]:
    """Write the common target of all ends of a `try` body at its end, if it precedes the handler."""
    tails = {jump.label for jump in _tails(compound.body)}
    ends = [kid for kid in kids if tails == {kid} and nodes[kid].first < compound.handled]
    for kid in ends:
        compound.body = [*compound.body, Label(kid), Jump(kid, nodes[kid].items)]
    return ends


def _passed(
    nodes: dict[int, Node], label: int, compound: Try, kids: list[int], sites: dict[int, list[tuple[int, Jump]]]
) -> int | None:
    """Return the node of a lone `break` or `continue` after a `try`, if only the handlers' end seems to reach it.

    The end of the body also reaches it, but jumps directly to its target. It is the `else` if a clause goes elsewhere.
    """
    tails = {jump.label for jump in _tails(compound.body)}
    for kid in kids:
        jump = nodes[kid].only_jump()
        if jump is not None and jump.label in tails and all(site.never for _, site in sites[kid]):
            if any(not other.explicit and other.label not in (kid, jump.label) for other in nodes[label].jumps):
                return kid
    return None


def _normal_exit(
    compound: Item, nodes: dict[int, Node], single: list[int], kids: list[int], sites: dict[int, list[tuple[int, Jump]]]
) -> int | None:
    """Return the node that follows when the compound item falls through, if nothing else reaches it."""
    match compound:
        case Loop() | For():
            jump = compound.orelse[0] if compound.orelse else None
            return next((kid for kid in single if sites[kid][0][1] is jump), None)
        case Try(is_finally=False):
            ends = _tails(compound.body)
            tails = [id(jump) for jump in ends]
            behind = [kid for kid in kids if nodes[kid].first >= compound.handled]
            if compound.handled < 0 and len({jump.label for jump in ends}) > 1:
                # One end of the body goes where others do, and one jumps away separately.
                behind = [kid for kid in behind if kid not in single or nodes[kid].only_jump() is None]
            return next((kid for kid in behind if _is_behind(sites[kid], tails)), None)
        case _:
            return None


def _is_behind(sites: list[tuple[int, Jump]], tails: list[int]) -> bool:
    """Return whether one predecessor is the end of a `try` body, or its handlers have only an apparent fallthrough."""
    places = [id(jump) for _, jump in sites if not jump.never]
    return bool(places) and all(place in tails for place in places)


def _fill_else(compound: Item, jump: Jump, items: list[Item]) -> None:
    if isinstance(compound, Try):
        compound.orelse = [Label(jump.label), *items]
    else:
        jump.body = items


def live_tails(items: list[Item]) -> list[Jump]:
    """Return the jumps at the end of a sequence of items that are reached."""
    return [jump for jump in _tails(items) if not jump.never]


def _tails(items: list[Item]) -> list[Jump]:
    """Return the jumps at the end of a sequence of items, also inside its last item."""
    jumps: list[Jump] = []
    work = [items]
    while work:
        sequence = work.pop()
        last = sequence[-1] if sequence else None
        if isinstance(last, Jump) and last.body is None:
            jumps.append(last)
            before = sequence[-2] if len(sequence) > 1 else None
            if isinstance(before, (Loop, For)):
                work.append(before.orelse)
            elif isinstance(before, WithBody):
                work.extend(children(before))
        elif isinstance(last, (Loop, For)):
            work.append(last.orelse)
        elif last is not None:
            work.extend(children(last))
    return jumps
