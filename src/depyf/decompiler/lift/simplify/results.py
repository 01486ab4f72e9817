"""Unpack the sequence that a call is known to return.

Before: v1 = CALL graph a b; v2 = LOAD_SUBSCR v1 1; v3 = LOAD_SUBSCR v1 0
After:  v1 = CALL graph a b; v3 v2 = UNPACK_SEQUENCE v1

Only if the sequence is used for nothing but taking items by constant index.

Before: v1 = CALL graph a; v2 = UNPACK_SEQUENCE v1
After:  v1 = CALL graph a; v2 = LOAD_SUBSCR v1 0

For a sequence of one item, this is shorter: it can be part of an expression. The item is also taken at once.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping, Sequence

from depyf.decompiler.graph.tac import Block, Graph, Inst
from depyf.decompiler.lift.phis import rename
from depyf.decompiler.steps import step


def unpack_results(graph: Graph, results: Mapping[str, Sequence[str]]) -> None:
    """Unpack the results of calls of the globals in `results`.

    Args:
        results: by global, names for the items of the sequence that it returns.
    """
    if results.keys().isdisjoint(graph.code.names):
        return
    insts = [inst for block in graph.live() for inst in block.insts]
    callees = {inst.defs[0]: str(inst.arg) for inst in insts if inst.op == "LOAD_GLOBAL"}
    numbers = {inst.defs[0]: inst.arg for inst in insts if inst.op == "CONST" and type(inst.arg) is int}
    users = _users(insts)
    kept = {temp for block in graph.live() for temp in block.exit.reads()}
    kept |= {arg for block in graph.live() for edge in block.exit.edges() for arg in edge.args}
    same: dict[int, int] = {}
    _take_only_items(graph, callees, results)
    for block in graph.live():
        for inst in list(block.insts):
            names = results.get(callees.get(inst.uses[0], ""), ()) if inst.op == "CALL" else ()
            if names and inst.defs[0] not in kept:
                taken = _items(users.get(inst.defs[0], []), numbers, len(names))
                if taken:
                    same.update(_unpack(graph, block, inst, taken, names))
    for block in graph.live():
        block.insts = [inst for inst in block.insts if not (inst.op == "LOAD_SUBSCR" and inst.defs[0] in same)]
    rename(graph, same)


def _users(insts: Iterable[Inst]) -> dict[int, list[Inst]]:
    """Return the operations that use each temporary; a drop is not a use."""
    users: dict[int, list[Inst]] = {}
    for inst in insts:
        for temp in inst.uses if inst.op != "POP" else ():
            users.setdefault(temp, []).append(inst)
    return users


def _items(users: list[Inst], numbers: dict[int, int], count: int) -> dict[int, list[int]] | None:
    """Return by item the temporaries that hold it, or None if the sequence has other uses."""
    taken: dict[int, list[int]] = {}
    for inst in users:
        if inst.op != "LOAD_SUBSCR" or inst.uses[1] not in numbers:
            return None
        number = numbers[inst.uses[1]]
        if not -count <= number < count:
            return None
        taken.setdefault(number % count, []).append(inst.defs[0])
    return taken


def _unpack(
    graph: Graph, block: Block, call: Inst, taken: dict[int, list[int]], names: Sequence[str]
) -> dict[int, int]:
    """Unpack after the call, or take the only item there; return the replacements of the items."""
    step("block {}: the {} items of v{} are unpacked", block.index, len(names), call.defs[0])
    items = [graph.new_temp() for _ in names]
    place = next(number for number, inst in enumerate(block.insts) if inst is call) + 1
    number = graph.new_temp()
    block.insts[place:place] = (
        [Inst("UNPACK_SEQUENCE", len(items), [call.defs[0]], items, call.line, call.offset)]
        if len(items) > 1
        else [
            Inst("CONST", 0, [], [number], call.line, call.offset),
            Inst("LOAD_SUBSCR", None, [call.defs[0], number], items, call.line, call.offset),
        ]
    )
    for item, name in zip(items, names, strict=True):
        if name.isidentifier() and not keyword.iskeyword(name):
            graph.hints[item] = name
    return {temp: items[number] for number, temps in taken.items() for temp in temps}


def _take_only_items(graph: Graph, callees: dict[int, str], results: Mapping[str, Sequence[str]]) -> None:
    """Take the item of each sequence that has only one."""
    for block in graph.live():
        calls = {inst.defs[0]: inst.uses[0] for inst in block.insts if inst.op == "CALL"}
        insts: list[Inst] = []
        for inst in block.insts:
            callee = callees.get(calls.get(inst.uses[0], -1), "") if inst.op == "UNPACK_SEQUENCE" else ""
            if len(results.get(callee, ())) == 1 and len(inst.defs) == 1:
                step("block {}: take the only item of v{} by index", block.index, inst.uses[0])
                number = graph.new_temp()
                insts.append(Inst("CONST", 0, [], [number], inst.line, inst.offset))
                insts.append(Inst("LOAD_SUBSCR", None, [inst.uses[0], number], inst.defs, inst.line, inst.offset))
            else:
                insts.append(inst)
        block.insts = insts
