"""Remove phis that choose between one value and itself.

Before: v3 = phi(v1, v1)      After: v3 is v1 everywhere

Braun et al., "Simple and Efficient Construction of Static Single Assignment Form", 2013,
section 3.1 (tryRemoveTrivialPhi), with a worklist instead of recursion.
"""

from __future__ import annotations

from depyf.lift.tac import Branch, Exit, ForIter, Graph, Inst, Raise, Reraise, Return, edges, exit_uses


def remove_trivial_phis(graph: Graph, handler_args: dict[int, list[list[int]]]) -> None:
    """Replace every trivial phi by its value and drop its position from blocks and edges.

    `handler_args`: per handler, the values on the stack at each place that may raise into it.
    """
    args = _arguments(graph, handler_args)
    users: dict[int, list[int]] = {}
    for phi, values in args.items():
        for value in values:
            users.setdefault(value, []).append(phi)
    same: dict[int, int] = {}

    def find(value: int) -> int:
        found = value
        while found in same:
            found = same[found]
        while value != found:
            same[value], value = found, same[value]
        return found

    def only(phi: int, values: list[int]) -> int | None:
        """Return the one value that a phi chooses, or None; arguments that make no choice are dropped for good."""
        while values:
            last = find(values[-1])
            before = find(values[-2]) if len(values) > 1 else last
            if last == phi:
                values.pop()
            elif len(values) == 1:
                return last
            elif before in (phi, last):
                del values[-2]
            else:
                return None
        return None

    work = list(args)
    while work:
        phi = work.pop()
        if phi in same:
            continue
        choice = only(phi, args[phi])
        if choice is not None:
            same[phi] = choice
            waiting = [user for user in users.pop(phi, ()) if user not in same]
            work.extend(waiting)
            users.setdefault(choice, []).extend(waiting)
    _compress(same)
    _rewrite(graph, same)


def _arguments(graph: Graph, handler_args: dict[int, list[list[int]]]) -> dict[int, list[int]]:
    args: dict[int, list[int]] = {}
    for block in graph.live():
        for edge in edges(block.exit):
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
        for inst in block.insts:
            _rename_inst(inst, same)
        block.exit = rename_exit(block.exit, same)
        for edge in edges(block.exit):
            kept = [position for position, phi in enumerate(graph.block(edge.target).phis) if phi not in same]
            edge.args = [same.get(edge.args[position], edge.args[position]) for position in kept]
    for block in graph.live():
        block.phis = [phi for phi in block.phis if phi not in same]
        block.stack = [same.get(value, value) for value in block.stack]


def rename(graph: Graph, same: dict[int, int]) -> None:
    """Replace temporaries by others everywhere; `same` maps each to its final replacement or to another key."""
    _compress(same)
    for block in graph.live():
        for inst in block.insts:
            _rename_inst(inst, same)
        block.exit = rename_exit(block.exit, same)
        for edge in edges(block.exit):
            edge.args = [same.get(arg, arg) for arg in edge.args]
        block.stack = [same.get(value, value) for value in block.stack]


def _rename_inst(inst: Inst, same: dict[int, int]) -> None:
    if any(use in same for use in inst.uses):
        inst.uses = [same.get(use, use) for use in inst.uses]


def rename_exit(exit_: Exit, same: dict[int, int]) -> Exit:
    """Return the exit with its own operands renamed; its edges are left as they are."""
    if not any(use in same for use in exit_uses(exit_)):
        return exit_
    match exit_:
        case Branch(cond, if_true, if_false, line):
            return Branch(same.get(cond, cond), if_true, if_false, line)
        case ForIter(iterator, value, body, done, line):
            return ForIter(same.get(iterator, iterator), value, body, done, line)
        case Return(value, line, beyond):
            return Return(same.get(value, value), line, beyond)
        case Raise(operands, line, beyond):
            return Raise([same.get(value, value) for value in operands], line, beyond)
        case Reraise(exc, beyond):
            return Reraise(same.get(exc, exc), beyond)
        case _:
            return exit_
