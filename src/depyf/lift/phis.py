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
    _rewrite(graph, _Search(_arguments(graph, handler_args)).same())


class _Search:
    """Finds the phis that choose nothing.

    A phi and the value that it is are one class. Two classes become one by moving the fewer users: a phi that the step
    may have made trivial uses both, so that only the users that moved are looked at again.
    """

    def __init__(self, args: dict[int, list[int]]) -> None:
        self.args = args
        self.above: dict[int, int] = {}
        self.value: dict[int, int] = {}
        self.users: dict[int, list[int]] = {}
        self.gone: set[int] = set()
        for phi, values in args.items():
            for value in values:
                self.users.setdefault(value, []).append(phi)

    def same(self) -> dict[int, int]:
        """Return the value of each trivial phi."""
        work = list(self.args)
        while work:
            phi = work.pop()
            choice = self._only(phi) if phi not in self.gone else None
            if choice is not None:
                self.gone.add(phi)
                work += self._join(self._top(phi), choice)
        return {phi: self.value.get(self._top(phi), self._top(phi)) for phi in self.gone}

    def _top(self, value: int) -> int:
        """Return the member of a value's class that stands for it."""
        top = value
        while top in self.above:
            top = self.above[top]
        while value != top:
            self.above[value], value = top, self.above[value]
        return top

    def _only(self, phi: int) -> int | None:
        """Return the one class that a phi chooses, or None; arguments that make no choice are dropped for good."""
        own, values = self._top(phi), self.args[phi]
        while values:
            last = self._top(values[-1])
            before = self._top(values[-2]) if len(values) > 1 else last
            if last == own:
                values.pop()
            elif len(values) == 1:
                return last
            elif before in (own, last):
                del values[-2]
            else:
                return None
        return None

    def _join(self, phi: int, choice: int) -> list[int]:
        """Make one class of that of a phi and the one it chooses; return the users to look at again."""
        value = self.value.get(choice, choice)
        few, many = sorted((phi, choice), key=lambda top: len(self.users.get(top, ())))
        moved = self.users.pop(few, [])
        self.above[few] = many
        self.value[many] = value
        self.users.setdefault(many, []).extend(moved)
        return moved


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
        case Return(value, line, beyond, offset):
            return Return(same.get(value, value), line, beyond, offset)
        case Raise(operands, line, beyond):
            return Raise([same.get(value, value) for value in operands], line, beyond)
        case Reraise(exc, beyond):
            return Reraise(same.get(exc, exc), beyond)
        case _:
            return exit_
