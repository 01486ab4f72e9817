"""Remove phis that choose between one value and themselves, separately or together with other phis.

Before: v3 = phi(v1, v4); v4 = phi(v3, v3)      After: v3 and v4 are v1 everywhere

Braun et al., "Simple and Efficient Construction of Static Single Assignment Form", 2013, section 3.2: in an irreducible
graph, phis for the same value may refer to each other. They are found as in constant propagation (Wegman and Zadeck,
1991): a phi is unknown at first, then the only value that reaches it, and finally itself. Each phi changes at most
twice. A phi may have been taken for a value of another phi before that one turned out to have two; the next round finds
it.
"""

from __future__ import annotations

from collections import deque

from depyf.decompiler.graph.tac import (
    KEEP,
    NULL,
    SELF,
    Block,
    Branch,
    Edge,
    Exit,
    ForIter,
    Goto,
    Graph,
    Inst,
    Raise,
    Reraise,
    Return,
)

ROUNDS = 8
"""The number of rounds for phis that others hid; each round takes time that grows with the graph."""


def remove_trivial_phis(graph: Graph, handler_args: dict[int, list[list[int]]]) -> None:
    """Replace every trivial phi by its value and drop its position from blocks, edges and `handler_args`.

    Args:
        handler_args: per handler, the values on the stack at each place that may raise into it.
    """
    for _ in range(ROUNDS):
        replacements, has_misled = _trivial(_arguments(graph, handler_args))
        if replacements:
            for number, stacks in handler_args.items():
                phis = graph.block(graph.handlers[number].target).phis
                kept = [place for place, phi in enumerate(phis) if phi not in replacements]
                handler_args[number] = [
                    [replacements.get(stack[place], stack[place]) for place in kept] for stack in stacks
                ]
            _rewrite(graph, replacements)
        if not has_misled:
            break


def _trivial(args: dict[int, list[int]]) -> tuple[dict[int, int], bool]:
    """Return the value of each phi with only one, and whether a phi was temporarily taken for one.

    Args:
        args: the arguments of each phi.
    """
    has_misled = False
    users: dict[int, list[int]] = {}
    for phi, values in args.items():
        for value in values:
            users.setdefault(value, []).append(phi)
    means: dict[int, int] = {}
    work = deque(args)
    waiting = set(args)  # In turn, each once: else a phi with many values is examined again for each of them.
    while work:
        phi = work.popleft()
        waiting.discard(phi)
        known = [value for value in args[phi] if value in means or value not in args]
        choices = {means.get(value, value) for value in known}
        if not choices:
            continue
        value = choices.pop() if len(choices) == 1 else phi
        if means.get(phi) not in (value, phi):
            has_misled = has_misled or phi in means
            means[phi] = value
            again = [user for user in users.get(phi, ()) if user not in waiting]
            waiting.update(again)
            work.extend(dict.fromkeys(again))
    return {phi: value for phi, value in means.items() if phi != value}, has_misled


def part_loop_entries(graph: Graph) -> None:
    """Merge values before a loop that never changes them, instead of at its first block.

    Before: 1: -> 3 (v1)    2: -> 3 (v2)    3 (v3): ...; -> 3 (v3)
    After:  1: -> 4 (v1)    2: -> 4 (v2)    4 (v3): -> 3               3: ...; -> 3

    A `finally` body may begin with a loop; the value that the `try` returns waits on the stack.
    """
    handled = {handler.target for handler in graph.handlers}
    entries: dict[int, list[tuple[Block, Edge]]] = {}
    for block in graph.live():
        for edge in block.exit.edges():
            entries.setdefault(edge.target, []).append((block, edge))
    for block in graph.live():
        if not block.phis or block.index in handled:
            continue
        first = [(source, edge) for source, edge in entries[block.index] if edge.args != block.phis]
        if len(first) == len(entries[block.index]):
            continue
        sources = {source.handler for source, _ in first}
        handler = sources.pop() if len(sources) == 1 else block.handler
        merge = graph.new_block([], Goto(Edge(block.index)), handler, list(block.stack), block.offset)
        merge.phis, block.phis = block.phis, []
        for _, edge in first:
            edge.target = merge.index
        for _, edge in entries[block.index]:
            if edge.target == block.index:
                edge.args = []


def settle_phis(graph: Graph) -> None:
    """Replace phis that have only one value left after blocks were removed; those of handlers stay."""
    stay: dict[int, list[list[int]]] = {}
    for number, handler in enumerate(graph.handlers):
        start = graph.blocks[handler.target]
        if start is not None:
            stay[number] = [[NULL] * len(start.phis), [SELF] * len(start.phis)]
    remove_trivial_phis(graph, stay)


def _arguments(graph: Graph, handler_args: dict[int, list[list[int]]]) -> dict[int, list[int]]:
    args: dict[int, list[int]] = {}
    for block in graph.live():
        for edge in block.exit.edges():
            for phi, value in zip(graph.block(edge.target).phis, edge.args):
                args.setdefault(phi, []).append(value)
    for handler, stacks in handler_args.items():
        target = graph.block(graph.handlers[handler].target)
        for stack in stacks:
            for phi, value in zip(target.phis, stack):
                args.setdefault(phi, []).append(value)
    return args


def _compress(same: dict[int, int]) -> None:
    """Point every removed phi straight at its value."""
    for phi in list(same):
        chain = []
        value = phi
        while value in same:
            chain.append(value)
            value = same[value]
        for member in chain:
            same[member] = value


def _rewrite(graph: Graph, same: dict[int, int]) -> None:
    for block in graph.live():
        _rename_insts(block.insts, same)
        rename_exit(block.exit, same)
        for edge in block.exit.edges():
            kept = [position for position, phi in enumerate(graph.block(edge.target).phis) if phi not in same]
            edge.args = [same.get(edge.args[position], edge.args[position]) for position in kept]
    for block in graph.live():
        block.insts = [inst for inst in block.insts if inst.op != KEEP or inst.arg not in same]
        block.phis = [phi for phi in block.phis if phi not in same]
        block.stack = [same.get(value, value) for value in block.stack]


def rename(graph: Graph, same: dict[int, int]) -> None:
    """Replace temporaries by others everywhere; `same` maps each to its final replacement or to another key."""
    _compress(same)
    for block in graph.live():
        _rename_insts(block.insts, same)
        rename_exit(block.exit, same)
        for edge in block.exit.edges():
            edge.args = [same.get(arg, arg) for arg in edge.args]
        block.stack = [same.get(value, value) for value in block.stack]


def rename_block(block: Block, same: dict[int, int]) -> None:
    """Replace temporaries by others in one block, including their definitions."""
    _rename_insts(block.insts, same)
    for inst in block.insts:
        if not same.keys().isdisjoint(inst.defs):
            inst.defs = [same.get(temp, temp) for temp in inst.defs]
    rename_exit(block.exit, same)
    for edge in block.exit.edges():
        edge.args = [same.get(arg, arg) for arg in edge.args]
    block.stack = [same.get(value, value) for value in block.stack]


def _rename_insts(insts: list[Inst], same: dict[int, int]) -> None:
    replaced = same.keys()
    for inst in insts:
        if not replaced.isdisjoint(inst.uses):
            inst.uses = [same.get(use, use) for use in inst.uses]


def rename_exit(exit_: Exit, same: dict[int, int]) -> None:
    """Rename the operands of an exit, but not of its edges."""
    match exit_:
        case Branch():
            exit_.cond = same.get(exit_.cond, exit_.cond)
        case ForIter():
            exit_.iterator = same.get(exit_.iterator, exit_.iterator)
        case Return():
            exit_.value = same.get(exit_.value, exit_.value)
        case Raise():
            exit_.operands = [same.get(value, value) for value in exit_.operands]
        case Reraise():
            exit_.exc = same.get(exit_.exc, exit_.exc)
