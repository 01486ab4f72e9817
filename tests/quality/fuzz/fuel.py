"""Fuel: no cycle of a program goes on for ever, since it asks for fuel on its way."""

from __future__ import annotations

from dataclasses import replace

from tests.quality.fuzz.program import Block, Exit, Op, Program, Region


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
                ask_at(program, behind_entry(program, target))
            elif target not in is_open:
                work.append((target, 0))


def ask_at(program: Program, index: int) -> None:
    """Let a block ask for fuel: where no exception may come, since it would pass one being handled, a block before it.

    Nobody sees that the question never raises; so that block is protected by handlers that undo what is being handled.
    """
    block = program.blocks[index]
    region = block.region
    kept = len(program.regions[region].kept) if region >= 0 else 0
    if "p" not in block.entry[kept:]:
        block.fuel = True
        return
    for place, kind in enumerate(block.entry):
        if kind == "p" and place >= kept:
            cleanup = Region(len(program.blocks), block.entry[: place + 1])
            add(program, Block(cleanup.entry, [Op("RESTORE", 2)], Exit("reraise"), region))
            program.regions.append(cleanup)
            region = len(program.regions) - 1
    asking = add(program, Block(block.entry, [], Exit("goto", (index,)), region, fuel=True))
    for other in program.blocks[:asking]:
        targets = tuple(asking if target == index else target for target in other.exit.targets)
        other.exit = replace(other.exit, targets=targets)


def add(program: Program, block: Block) -> int:
    """Add a block to a program, and return its index."""
    program.blocks.append(block)
    program.order.append(len(program.blocks) - 1)
    return len(program.blocks) - 1


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
