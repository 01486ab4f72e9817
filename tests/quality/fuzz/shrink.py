"""Make a program smaller as long as what is wrong with it stays wrong."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.quality.fuzz.effects import apply, leave
from tests.quality.fuzz.fuel import put_fuel
from tests.quality.fuzz.program import Exit, Program, all_fit
from tests.quality.fuzz.stack import Invalid

Predicate = Callable[[Program], bool]


def shrink(program: Program, is_wrong: Predicate, *, budget: int = 4000) -> Program:
    """Return a smaller program that is as wrong, by removing parts while any can be removed.

    budget: how many programs to try at most.
    """
    present = tidied(program)
    if not is_wrong(present):
        present = program
    while budget > 0:
        for candidate in smaller(present):
            budget -= 1
            if not budget:
                break
            if is_valid(candidate) and is_wrong(candidate):
                present = candidate
                break
        else:
            break
    return present


def is_valid(program: Program) -> bool:
    """Return whether every operation may stand where it does, and every edge leads to what expects it."""
    blocks = program.blocks
    try:
        for block in blocks:
            kinds = block.entry
            for op in block.ops:
                kinds = apply(program, block.region, kinds, op.name, op.arg)
            ways = leave(program, block.region, kinds, block.exit)
            if len(ways) != len(block.exit.targets):
                return False
            if not all(all_fit(way, blocks[target].entry) for way, target in zip(ways, block.exit.targets)):
                return False
    except Invalid:
        return False
    return all(all_fit(region.entry, blocks[region.target].entry) for region in program.regions)


def smaller(program: Program) -> Iterator[Program]:
    """Yield programs with less, those with much less first."""
    yield from simpler_whole(program)
    for number, block in enumerate(program.blocks):
        if block.region >= 0:
            yield changed(program, number, region=-1)
        for target in dict.fromkeys(block.exit.targets):
            if len(block.exit.targets) > 1:
                yield changed(program, number, exit=Exit("goto", (target,)))
        for other in range(len(program.blocks)):
            for place, target in enumerate(block.exit.targets):
                if other < target:
                    targets = (*block.exit.targets[:place], other, *block.exit.targets[place + 1 :])
                    yield changed(program, number, exit=replace(block.exit, targets=targets))
        if block.exit.kind != "return":
            yield changed(program, number, exit=Exit("return"))
    for length in (8, 4, 3, 2, 1):
        for number, block in enumerate(program.blocks):
            for first in range(len(block.ops) - length + 1):
                yield changed(program, number, ops=block.ops[:first] + block.ops[first + length :])
    for number, block in enumerate(program.blocks):
        for first in range(len(block.ops)):
            for second in range(first + 1, len(block.ops)):
                rest = [op for place, op in enumerate(block.ops) if place not in (first, second)]
                yield changed(program, number, ops=rest)


def simpler_whole(program: Program) -> Iterator[Program]:
    """Yield programs that are simpler all over."""
    if program.generator:
        yield tidied(replace(copy.deepcopy(program), generator=False))
    if program.noise:
        yield tidied(replace(copy.deepcopy(program), noise=0))
    if program.order != sorted(program.order):
        yield tidied(replace(copy.deepcopy(program), order=sorted(program.order)))
    yield from merged(program)
    yield from narrower(program)


def merged(program: Program) -> Iterator[Program]:
    """Yield programs in which a block and the one that alone follows it are one."""
    for number, block in enumerate(program.blocks):
        if block.exit.kind != "goto":
            continue
        target = block.exit.targets[0]
        if target != number:
            following = program.blocks[target]
            yield changed(program, number, ops=[*block.ops, *following.ops], exit=following.exit)


def narrower(program: Program) -> Iterator[Program]:
    """Yield programs in which blocks find less on the stack."""
    for number, block in enumerate(program.blocks):
        for place in range(len(block.entry)):
            entry = (*block.entry[:place], *block.entry[place + 1 :])
            yield changed(program, number, entry=entry)


def changed(program: Program, number: int, **changes: object) -> Program:
    """Return the program with one block changed, and without what is then of no use."""
    new = copy.deepcopy(program)
    new.blocks[number] = replace(new.blocks[number], **changes)  # type: ignore[arg-type]
    return tidied(new)


def tidied(program: Program) -> Program:
    """Return the program without blocks and handlers that nothing leads to, with fuel where cycles need it."""
    program = copy.deepcopy(program)
    reached, work = {0}, [0]
    while work:
        block = program.blocks[work.pop()]
        ways = [*block.exit.targets, *([program.regions[block.region].target] if block.region >= 0 else [])]
        for target in ways:
            if target not in reached:
                reached.add(target)
                work.append(target)
    used = sorted({program.blocks[index].region for index in reached} - {-1})
    blocks = {old: new for new, old in enumerate(sorted(reached))}
    regions = {old: new for new, old in enumerate(used)} | {-1: -1}
    new_blocks = []
    for index in sorted(reached):
        block = program.blocks[index]
        exit_ = replace(block.exit, targets=tuple(blocks[target] for target in block.exit.targets))
        new_blocks.append(replace(block, exit=exit_, region=regions[block.region], fuel=False))
    program.regions = [
        replace(program.regions[old], target=blocks[program.regions[old].target]) for old in used
    ]
    program.blocks = new_blocks
    program.order = [blocks[index] for index in program.order if index in blocks]
    put_fuel(program)
    return program
