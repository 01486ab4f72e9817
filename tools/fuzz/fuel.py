"""Fuel: no cycle of a program goes on for ever, since it asks for fuel on its way."""

from __future__ import annotations

from tools.fuzz.program import Program


def put_fuel(program: Program) -> None:
    """Let every block that a path comes back to ask for fuel."""
    following = [
        [*block.exit.targets, *([program.regions[block.region].target] if block.region >= 0 else [])]
        for block in program.blocks
    ]
    is_open: dict[int, bool] = {}
    for start in range(len(program.blocks)):
        work = [(start, 0)] if start not in is_open else []
        while work:
            index, step = work.pop()
            is_open[index] = step < len(following[index])
            if not is_open[index]:
                continue
            work.append((index, step + 1))
            target = following[index][step]
            if is_open.get(target):
                program.blocks[target].fuel = True
            elif target not in is_open:
                work.append((target, 0))
