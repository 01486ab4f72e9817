"""Place the nodes of an acyclic graph in one sequence of items, by dominance."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from depyf.decompiler.graph.dominators import immediate_dominators
from depyf.decompiler.lift.nodes import Temp
from depyf.decompiler.structure.tree import For, If, Item, Jump, Label, Loop, ReraiseStmt, Try, WithBody, children

if TYPE_CHECKING:
    from depyf.decompiler.structure.node_table import Node


def place(nodes: dict[int, Node], successors: dict[int, list[int]], order: list[int]) -> list[Item]:
    """Return the items of the nodes in `order`, the reverse postorder of the edges between them; a jump out stays.

    So does one that goes back to the first.
    """
    if len(order) == 1:
        _attach(nodes, order[0], [], {})
        return nodes[order[0]].items
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
    """Write the nodes that `label` dominates at their jump, or behind it."""
    node = nodes[label]
    compound = node.items[-1] if node.items else None
    is_compound = isinstance(compound, (Loop, For, Try, WithBody))
    behind: list[int] = []
    for kid in kids:
        if len(sites[kid]) == 1 and not is_compound and not sites[kid][0][1].never:
            _fill(sites[kid][0][1], nodes[kid].items)
        else:
            behind.append(kid)
    if compound is not None and is_compound:
        behind = _around(nodes, label, compound, behind, sites)
    if isinstance(compound, (Loop, For)) and not behind:
        _break_to(node, compound)
    if isinstance(compound, WithBody) and not behind and len(compound.suppressed) == 1:
        after = compound.suppressed[0]
        if isinstance(after, Jump) and after.body is None:
            node.items = [*node.items, Jump(after.label)]
    for kid in behind:  # As filled jumps: to copy the rest of the code behind every statement would take n^2 time.
        node.items = [*node.items, Label(kid), Jump(kid, nodes[kid].items)]


def _break_to(node: Node, loop: Loop | For) -> None:
    """Put a jump behind a loop that is only left for one place outside."""
    beyond = {jump.label for jump in node.jumps if jump.body is None} - {loop.header} - node.ends
    normal = loop.orelse[0].label if len(loop.orelse) == 1 and isinstance(loop.orelse[0], Jump) else -1
    if len(beyond) == 2:
        beyond.discard(normal)
    if len(beyond) == 1:
        node.items = [*node.items, Jump(beyond.pop())]


def _fill(jump: Jump, items: list[Item]) -> None:
    jump.body = items


def _around(
    nodes: dict[int, Node], label: int, compound: Item, kids: list[int], sites: dict[int, list[tuple[int, Jump]]]
) -> list[int]:
    """Nodes follow a loop, `try` or `with`: decide which is its `else`, and which are written inside."""
    single = [kid for kid in kids if len(sites[kid]) == 1]
    nearby = set(kids)
    if isinstance(compound, Try):
        inside = [kid for kid in single if _is_inside(nodes[kid], sites[kid][0][1], compound)]
        _fill_all(inside, nodes, sites)
        inside += _end_of_body(nodes, [kid for kid in kids if kid not in inside], compound)
        kids = [kid for kid in kids if kid not in inside]
        nearby = set(kids)
        passed = _passed(nodes, label, compound, kids, sites)
        if passed is not None:
            compound.orelse = [Label(passed), *nodes[passed].items]
            return [kid for kid in kids if kid != passed]
        single = [kid for kid in single if kid not in inside]
    normal = _normal_exit(compound, nodes, single, kids, sites)
    if isinstance(compound, Try):
        lone = _lone_jumps(nodes, label, kids, normal, sites)
        _fill_all(lone, nodes, sites)
        kids, single = ([kid for kid in some if kid not in lone] for some in (kids, single))
        nearby.update(lone)
    if normal is not None and isinstance(compound, (Loop, For)) and compound.behind >= 0:
        if nodes[normal].first >= compound.behind:
            return kids
        _fill_else(compound, sites[normal][0][1], nodes[normal].items)
        return [kid for kid in kids if kid != normal]
    if normal is not None:
        if _leads_past(nodes[label], compound, nearby):
            _fill_else(compound, sites[normal][0][1], nodes[normal].items)
            return [kid for kid in kids if kid != normal]
    if normal is None and isinstance(compound, Loop) and len(single) == len(kids):
        jumps = [*nodes[label].jumps, *(jump for kid in kids for jump in nodes[kid].jumps)]
        beyond = {jump.label for jump in jumps} - {compound.header, *kids, *nodes[label].ends}
        direct = beyond & {jump.label for jump in nodes[label].jumps}
        late = [kid for kid in kids if nodes[kid].first >= nodes[label].last and nodes[kid].jumps]
        # A `break` to where they lead as well cannot pass them, where they would stand behind the loop.
        breaks = any(jump.label in direct and jump not in compound.orelse for jump in nodes[label].jumps)
        if len(beyond) == 1 and (direct or len(kids) > 1) and (breaks or not (late and nodes[label].in_order)):
            _fill_all(kids, nodes, sites)
            return []
    if len(kids) < 2:
        return kids
    if normal is not None and isinstance(compound, Loop) and len(single) == len(kids):
        others = [kid for kid in single if kid != normal]
        if all(other < normal for other in others):
            _fill_all(others, nodes, sites)
            return [normal]
    if normal is not None:
        _fill_else(compound, sites[normal][0][1], nodes[normal].items)
        single = [kid for kid in single if kid != normal]
        kids = [kid for kid in kids if kid != normal]
    for kid in single:
        if len(kids) > 1 and not sites[kid][0][1].never:
            _fill(sites[kid][0][1], nodes[kid].items)
            kids = [other for other in kids if other != kid]
    return kids


def _fill_all(kids: list[int], nodes: dict[int, Node], sites: dict[int, list[tuple[int, Jump]]]) -> None:
    """Write nodes at the one jump that leads to each."""
    for kid in kids:
        _fill(sites[kid][0][1], nodes[kid].items)


def _leads_past(node: Node, compound: Item, nearby: set[int]) -> bool:
    """Say whether a statement is left for other places than these nodes and what is implied."""
    leaving = {jump.label for jump in node.jumps if not jump.explicit} - nearby
    if isinstance(compound, (Loop, For)):
        leaving -= {compound.header, *node.ends}
    elif not (isinstance(compound, Try) and compound.is_star):
        leaving -= node.ends
        if not (node.tells and isinstance(compound, Try) and _has_name(compound)):
            leaving -= node.implied
    return bool(leaving)


def _lone_jumps(
    nodes: dict[int, Node], label: int, kids: list[int], normal: int | None, sites: dict[int, list[tuple[int, Jump]]]
) -> list[int]:
    """Return the lone jumps of handlers that would stand behind a `try` in the way of what goes on from it elsewhere.

    So in `if c: try: f() except E: break`, and where code stands behind the `try`.
    """
    goes_on = any(jump.label in sites and jump.label not in kids for jump in nodes[label].jumps if not jump.explicit)
    if not goes_on and len(kids) < 2:
        return []
    single = [kid for kid in kids if kid != normal and len(sites[kid]) == 1 and not sites[kid][0][1].never]
    return [kid for kid in single if len(nodes[kid].items) == 1 and isinstance(nodes[kid].items[0], Jump)]


def _has_name(compound: Try) -> bool:
    """Say whether a clause binds a name: in the order of the source, a `continue` out of it is told from its end."""
    work = [compound.handler]
    while work:
        for item in work.pop():
            if isinstance(item, ast.Assign) and isinstance(item.value, Temp) and item.value.temp == compound.exc:
                return True
            if isinstance(item, (If, Jump)):
                work.extend(children(item))
    return False


def _is_inside(node: Node, jump: Jump, compound: Try) -> bool:
    """Say whether code that only the body of a `try` leads to stands in it: before the handler."""
    raises_again = bool(node.items) and isinstance(node.items[-1], ReraiseStmt)
    return node.first < compound.handled and not jump.never and not raises_again


def _end_of_body(nodes: dict[int, Node], kids: list[int], compound: Try) -> list[int]:
    """Write what all ends of the body of a `try` lead to at its end, if that stands before the handler."""
    tails = {jump.label for jump in _tails(compound.body)}
    found = [kid for kid in kids if tails == {kid} and nodes[kid].first < compound.handled]
    for kid in found:
        compound.body = [*compound.body, Label(kid), Jump(kid, nodes[kid].items)]
    return found


def _passed(
    nodes: dict[int, Node], label: int, compound: Try, kids: list[int], sites: dict[int, list[tuple[int, Jump]]]
) -> int | None:
    """Return the node of a lone `break` or `continue` behind a `try`, if only the handlers' end seems to come to it.

    The end of the body comes to it too, but goes where it leads at once. It is the `else` if a clause goes elsewhere.
    """
    tails = {jump.label for jump in _tails(compound.body)}
    for kid in kids:
        jump = nodes[kid].items[0] if len(nodes[kid].items) == 1 else None
        if isinstance(jump, Jump) and jump.label in tails and all(site.never for _, site in sites[kid]):
            if any(not other.explicit and other.label not in (kid, jump.label) for other in nodes[label].jumps):
                return kid
    return None


def _normal_exit(
    compound: Item, nodes: dict[int, Node], single: list[int], kids: list[int], sites: dict[int, list[tuple[int, Jump]]]
) -> int | None:
    """Return the node that is reached when the compound item ends by itself, if nothing else reaches it."""
    match compound:
        case Loop() | For():
            jump = compound.orelse[0] if compound.orelse else None
            return next((kid for kid in single if sites[kid][0][1] is jump), None)
        case Try(is_finally=False):
            tails = [id(jump) for jump in _tails(compound.body)]
            behind = [kid for kid in kids if nodes[kid].first >= compound.handled]
            return next((kid for kid in behind if _is_behind(sites[kid], tails)), None)
        case _:
            return None


def _is_behind(sites: list[tuple[int, Jump]], tails: list[int]) -> bool:
    """Say whether one place that control goes to is the end of a `try` body, or its handlers only seem to go on."""
    places = [id(jump) for _, jump in sites if not jump.never]
    return bool(places) and all(place in tails for place in places)


def _fill_else(compound: Item, jump: Jump, items: list[Item]) -> None:
    if isinstance(compound, Try):
        compound.orelse = [Label(jump.label), *items]
    else:
        jump.body = items


def _tails(items: list[Item]) -> list[Jump]:
    """Return the jumps that end a sequence of items, also inside its last item."""
    found: list[Jump] = []
    work = [items]
    while work:
        sequence = work.pop()
        last = sequence[-1] if sequence else None
        if isinstance(last, Jump) and last.body is None:
            found.append(last)
            before = sequence[-2] if len(sequence) > 1 else None
            if isinstance(before, (Loop, For)):
                work.append(before.orelse)
            elif isinstance(before, WithBody):
                work.extend(children(before))
        elif last is not None and not isinstance(last, (Loop, For)):
            work.extend(children(last))
        elif isinstance(last, (Loop, For)):
            work.append(last.orelse)
    return found

