"""Which temporaries belong to which subject: the subject itself, and all that a pattern takes out of it."""

from __future__ import annotations

from depyf.decompiler.graph.orders import postorder
from depyf.decompiler.graph.tac import Graph, Inst

SUBJECT = frozenset({"MATCH_SEQUENCE", "MATCH_MAPPING", "MATCH_CLASS"})
"""Operations whose first operand is the subject of a pattern."""
PARTS = frozenset({"UNPACK_SEQUENCE", "UNPACK_EX", "MATCH_CLASS", "MATCH_KEYS", "GET_LEN", "LOAD_SUBSCR", "BINARY"})
"""Operations that take something out of a subject, or measure it, on behalf of a pattern."""


def find_roots(graph: Graph) -> dict[int, int]:
    """Return the subject of each temporary that patterns make; empty if the code matches no patterns but values."""
    roots = {inst.uses[0]: inst.uses[0] for block in graph.live() for inst in block.insts if inst.op in SUBJECT}
    if not roots:
        return roots
    for index in reversed(postorder(graph)):
        for inst in graph.block(index).insts:
            _derive(inst, roots)
    return roots


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
