"""Join the copies of one source statement at the ends of the code.

Before: 3: f(); x = 1; Return x (line 7)     5: x = 1; Return x (line 7)
After:  3: f() -> 5                          5: x = 1; Return x (line 7)

The compiler copies a short end of the code to the jumps that lead to it. Copies have the same lines.
"""

from __future__ import annotations

from collections import Counter

from depyf.bytecode.places import Place
from depyf.decompiler.graph.tac import (
    Block,
    Goto,
    Graph,
    Inst,
    Raise,
    Reraise,
    Return,
    is_second_half,
    operation_key,
)
from depyf.decompiler.graph.tails import lead_to, numbered
from depyf.decompiler.steps import step
from depyf.decompiler.structure.nests import find_markers
from depyf.decompiler.structure.regions.split import split_block
from depyf.decompiler.structure.same_tails import join_tails

Key = tuple[object, ...]
STORES = frozenset({"STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"})


def join_same_ends(graph: Graph) -> None:
    """Join ends that do the same, line for line, under one handler and within the same loops and handlers."""
    ends = [(block, block.exit.line) for block in graph.live() if isinstance(block.exit, (Return, Raise))]
    lines = [line for _, line in ends]
    others = [*_raising_again(graph), *_handing_over(graph)]
    if len(set(lines)) == len(lines) and not others:
        return
    often = {line for line, count in Counter(lines).items() if count > 1}
    markers = find_markers(graph)
    work = [sorted((block for block, line in ends if line in often), key=lambda block: -block.offset)]
    while work:
        groups: dict[Key, list[Block]] = {}
        for block in work.pop():
            place = _start(block, markers)
            if place is not None:
                groups.setdefault(_key(block, place, markers), []).append(block)
        for group in (part for copies in groups.values() for part in _parts(graph, copies, markers)):
            if len(group) > 1:
                work.append(_join(graph, group, markers))
    _lead_past(graph, {block.index for block, _ in ends})
    join_tails(graph, [*(block for block, line in ends if line in often), *others], markers)
    _lead_past(graph, {block.index for block, _ in ends if block.handler >= 0})


def _raising_again(graph: Graph) -> list[Block]:
    """Return the blocks that end a `finally` body, where the code that ends it may be copied."""
    ends = [(block, block.exit.exc) for block in graph.live() if isinstance(block.exit, Reraise)]
    counts = Counter(exc for _, exc in ends)
    return [block for block, exc in ends if counts[exc] > 1]


def _handing_over(graph: Graph) -> list[Block]:
    """Return the blocks that hand over the value of one operation of the source, which may be copied."""
    words: dict[Key, list[Block]] = {}
    for block in graph.live():
        if isinstance(block.exit, Goto) and block.exit.edge.args and block.insts:
            place = graph.place(block.insts[-1].offset)
            if place is not None:
                words.setdefault((block.exit.edge.target, place), []).append(block)
    return [block for blocks in words.values() if len(blocks) > 1 for block in blocks]


def _join(graph: Graph, group: list[Block], markers: set[int]) -> list[Block]:
    """Make blocks that end in the same statement share it; return them without it."""
    places = [_start(block, markers) for block in group]
    whole = next((number for number, place in enumerate(places) if place == 0), 0)
    place = places[whole]
    assert place is not None
    step("blocks {} end in the same statement", [block.index for block in group])
    shared = split_block(graph, group[whole], place) if place else group[whole]
    left = []
    for number, block in enumerate(group):
        if block is not shared:
            if number != whole:
                start = places[number]
                assert start is not None
                lead_to(block, start, shared)
            left.append(block)
    return left


def _lead_past(graph: Graph, ends: set[int]) -> None:
    """Redirect edges past empty copies: under a handler each would be another entry of its `try`."""
    left = {block.index: block.exit.edge for block in map(graph.block, ends)
            if not block.insts and not block.phis and isinstance(block.exit, Goto)}
    for block in graph.live():
        for edge in block.exit.edges():
            while edge.target in left:
                edge.target, edge.args = left[edge.target].target, list(left[edge.target].args)


def _start(block: Block, markers: set[int]) -> int | None:
    """Return the start of the statement that ends a block: all of one line, with no earlier value.

    A case's captures are earlier values: the subject, or a part of it.
    """
    if isinstance(block.exit, (Return, Raise)):
        line = block.exit.line
    else:
        line = block.insts[-1].line if block.insts else None
    if line is None:
        return None
    if _leaves_loop(block, markers):
        return len(block.insts) - 1
    needed = set(block.exit.reads())
    start = None
    for place in range(len(block.insts) - 1, -1, -1):
        inst = block.insts[place]
        if inst.line != line:
            break
        if _is_unbinding(block.insts[max(0, place - 3) : place + 1]):
            return start if needed else place - 3
        needed.difference_update(inst.defs)
        if not (inst.op in STORES and inst.uses[0] in block.stack):
            needed.update(inst.uses)
        if not needed:
            start = place
    return start


def _leaves_loop(block: Block, markers: set[int]) -> bool:
    """Return whether a block ends with the exit of a loop, which has been separated from its `return`."""
    if not isinstance(block.exit, Goto):
        return False
    last = block.insts[-1]
    return last.op == "POP" and last.uses[0] in markers


def _is_unbinding(insts: list[Inst]) -> bool:
    """Return whether a clause ends here, in `name = None; del name` after POP_EXCEPT; this code stays together."""
    if len({inst.line for inst in insts}) != 1:
        return False
    if [inst.op.partition("_")[0] for inst in insts] != ["POP", "CONST", "STORE", "DELETE"]:
        return False
    return insts[0].op == "POP_EXCEPT" and insts[2].op[6:] == insts[3].op[7:] and insts[2].arg == insts[3].arg


def _key(block: Block, place: int, markers: set[int]) -> Key:
    """Return the key that two copies of a statement share."""
    nest = tuple(temp for temp in block.stack if temp in markers and not _is_popped(block, place, temp))
    target = block.exit.edge.target if isinstance(block.exit, Goto) else -1
    line = block.exit.line if isinstance(block.exit, (Return, Raise)) else None
    return block.handler, nest, type(block.exit), target, line, _shape(block, block.insts[place:])


def _is_popped(block: Block, place: int | None, temp: int) -> bool:
    return any(inst.op in ("POP", "POP_EXCEPT") and temp in inst.uses for inst in block.insts[:place])


def _shape(block: Block, insts: list[Inst]) -> Key:
    """Return a key for operations, and for how they use each other's values."""
    uses, numbers = numbered(insts)
    words = [(operation_key(inst), inst.line, temps) for inst, temps in zip(insts, uses)]
    return (*words, tuple(numbers.get(temp, -1) for temp in block.exit.reads()))


def _parts(graph: Graph, group: list[Block], markers: set[int]) -> list[list[Block]]:
    """Part a group where a load has another location: the arms of an expression on one line may be the same."""
    parts: list[tuple[list[Block], list[Place | None]]] = []
    for block in group:
        places = _loads(graph, block, _start(block, markers))
        for blocks, known in parts:
            if all(known_place == place or None in (known_place, place) for known_place, place in zip(known, places)):
                blocks.append(block)
                known[:] = [known_place or place for known_place, place in zip(known, places)]
                break
        else:
            parts.append(([block], places))
    return [blocks for blocks, _ in parts]


def _loads(graph: Graph, block: Block, start: int | None) -> list[Place | None]:
    """Return the locations of the loads from a place on, None for the second of two in one instruction.

    No other operation is asked: what the compiler adds, such as `e = None`, has the location of the code before it.
    """
    return [
        None if is_second_half(block.insts, number) else graph.place(block.insts[number].offset)
        for number in range(len(block.insts))[start:]
        if block.insts[number].op.startswith("LOAD_")
    ]
