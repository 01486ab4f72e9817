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
                program.blocks[behind_entry(program, target)].fuel = True
            elif target not in is_open:
                work.append((target, 0))


def behind_entry(program: Program, index: int) -> int:
    """Return the block that follows on those in which a handler says that it handles its exception, or undoes that.

    Nothing is called in these: no source calls anything between an exception and its handling.
    """
    seen = set()
    while index not in seen:
        seen.add(index)
        block = program.blocks[index]
        first = block.ops[0].name if block.ops else ""
        if first == "PUSH_EXC_INFO":
            index = block.exit.targets[0]
        elif first == "RESTORE" and block.region >= 0:
            index = program.regions[block.region].target
    return index
