"""Map temporaries to their subject: the subject itself, and the parts that a pattern takes from it."""

from __future__ import annotations

from itertools import takewhile

from depyf.decompiler.graph.orders import postorder
from depyf.decompiler.graph.tac import Block, Branch, Graph, Inst

SUBJECT = frozenset({"MATCH_SEQUENCE", "MATCH_MAPPING", "MATCH_CLASS"})
"""Operations whose first operand is the subject of a pattern."""
STORES = frozenset({"STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"})
PARTS = frozenset({"UNPACK_SEQUENCE", "UNPACK_EX", "MATCH_CLASS", "MATCH_KEYS", "GET_LEN", "LOAD_SUBSCR", "BINARY"})
"""Operations that take a part of a subject, or measure it, for a pattern."""


def find_roots(graph: Graph) -> dict[int, int]:
    """Return the subject of each temporary that patterns make; empty if code only matches values and binds none."""
    roots = {inst.uses[0]: inst.uses[0] for block in graph.live() for inst in block.insts if inst.op in SUBJECT}
    roots.update({temp: temp for temp in _captured(graph)})
    if not roots:
        return roots
    for index in reversed(postorder(graph)):
        for inst in graph.block(index).insts:
            _derive(inst, roots)
    return roots


def parts(graph: Graph, roots: dict[int, int]) -> set[int]:
    """Return the temporaries that patterns make, and phis of only such temporaries."""
    temps = set(roots)
    for index in reversed(postorder(graph)):
        for edge in graph.block(index).exit.edges():
            temps.update(phi for phi, arg in zip(graph.block(edge.target).phis, edge.args) if arg in temps)
    for block in graph.live():
        for edge in block.exit.edges():
            pairs = zip(graph.block(edge.target).phis, edge.args)
            temps.difference_update([phi for phi, arg in pairs if arg not in temps and phi not in roots])
    return temps


def _captured(graph: Graph) -> list[int]:
    """Return values that cases compare with others, if there is more evidence than the comparisons themselves.

    They are bound where they were found equal (`case 1 as one`), or stay on the stack on both paths (`1 | _`). Or they
    are compared again with the same target, in one case or in two.
    """
    subjects = []
    for block in graph.live():
        test = _comparison(block)
        if test is None:
            continue
        ways = [graph.block(edge.target) for edge in block.exit.edges()]
        leading = [inst for way in ways for inst in takewhile(_drops_or_binds, way.insts)]
        if any(inst.op != "POP" and inst.uses == test.uses[:1] for inst in leading):
            subjects.append(test.uses[0])
        elif ways[0] is ways[1] and test.uses[0] in ways[0].stack:
            subjects.append(test.uses[0])
        elif any(_tests_again(test, way, other) for way, other in (ways, ways[::-1])):
            subjects.append(test.uses[0])
    return subjects


def _comparison(block: Block) -> Inst | None:
    """Return the comparison at the end of a block."""
    test = block.insts[-1] if block.insts and isinstance(block.exit, Branch) else None
    if test is None or test.op not in ("COMPARE", "IS") or test.defs != block.exit.reads():
        return None
    return test


def _tests_again(test: Inst, way: Block, other: Block) -> bool:
    """Return whether one path of a comparison compares the same value again, and may reach the other path's target.

    The value has stayed on the stack: one in a variable would be loaded again.
    """
    again = _comparison(way)
    if again is None or again.uses[0] != test.uses[0] or test.uses[0] not in way.stack:
        return False
    return any(edge.target == other.index for edge in way.exit.edges())


def _drops_or_binds(inst: Inst) -> bool:
    return inst.op == "POP" or inst.op in STORES


def _derive(inst: Inst, roots: dict[int, int]) -> None:
    root = roots.get(inst.uses[0]) if inst.uses else None
    if inst.op in ("DICT_UPDATE", "COPY_DICT_WITHOUT_KEYS"):
        subject = inst.uses[1] if inst.op == "DICT_UPDATE" else inst.uses[0]
        derived = inst.uses[:1] if inst.op == "DICT_UPDATE" else inst.defs
        if subject in roots:
            roots.update(dict.fromkeys(derived, roots[subject]))
    elif root is not None and inst.op in PARTS:
        roots.update(dict.fromkeys(inst.defs, root))
        if inst.op == "MATCH_KEYS":
            roots[inst.uses[1]] = root
