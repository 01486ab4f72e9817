"""Which temporaries belong to which subject: the subject itself, and all that a pattern takes out of it."""

from __future__ import annotations

from itertools import takewhile

from depyf.decompiler.graph.orders import postorder
from depyf.decompiler.graph.tac import Branch, Graph, Inst

SUBJECT = frozenset({"MATCH_SEQUENCE", "MATCH_MAPPING", "MATCH_CLASS"})
"""Operations whose first operand is the subject of a pattern."""
STORES = frozenset({"STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"})
PARTS = frozenset({"UNPACK_SEQUENCE", "UNPACK_EX", "MATCH_CLASS", "MATCH_KEYS", "GET_LEN", "LOAD_SUBSCR", "BINARY"})
"""Operations that take something out of a subject, or measure it, on behalf of a pattern."""


def find_roots(graph: Graph) -> dict[int, int]:
    """Return the subject of each temporary that patterns make; empty if code matches values alone and binds none."""
    roots = {inst.uses[0]: inst.uses[0] for block in graph.live() for inst in block.insts if inst.op in SUBJECT}
    roots.update({temp: temp for temp in _captured(graph)})
    if not roots:
        return roots
    for index in reversed(postorder(graph)):
        for inst in graph.block(index).insts:
            _derive(inst, roots)
    return roots


def parts(graph: Graph, roots: dict[int, int]) -> set[int]:
    """Return the temporaries that patterns make, and those that take nothing else where ways meet."""
    found = set(roots)
    for index in reversed(postorder(graph)):
        for edge in graph.block(index).exit.edges():
            found.update(phi for phi, arg in zip(graph.block(edge.target).phis, edge.args) if arg in found)
    for block in graph.live():
        for edge in block.exit.edges():
            pairs = zip(graph.block(edge.target).phis, edge.args)
            found.difference_update([phi for phi, arg in pairs if arg not in found])
    return found


def _captured(graph: Graph) -> list[int]:
    """Return the values that are bound where they were found equal to another: `case 1 as one`."""
    found = []
    for block in graph.live():
        test = block.insts[-1] if block.insts and isinstance(block.exit, Branch) else None
        if test is None or test.op not in ("COMPARE", "IS") or test.defs != block.exit.reads():
            continue
        for edge in block.exit.edges():
            leading = takewhile(_drops_or_binds, graph.block(edge.target).insts)
            if any(inst.op != "POP" and inst.uses == test.uses[:1] for inst in leading):
                found.append(test.uses[0])
    return found


def _drops_or_binds(inst: Inst) -> bool:
    return inst.op == "POP" or inst.op in STORES


def _derive(inst: Inst, roots: dict[int, int]) -> None:
    root = roots.get(inst.uses[0]) if inst.uses else None
    if inst.op in ("DICT_UPDATE", "COPY_DICT_WITHOUT_KEYS"):
        subject = inst.uses[1] if inst.op == "DICT_UPDATE" else inst.uses[0]
        made = inst.uses[:1] if inst.op == "DICT_UPDATE" else inst.defs
        if subject in roots:
            roots.update(dict.fromkeys(made, roots[subject]))
    elif root is not None and inst.op in PARTS:
        roots.update(dict.fromkeys(inst.defs, root))
        if inst.op == "MATCH_KEYS":
            roots[inst.uses[1]] = root
