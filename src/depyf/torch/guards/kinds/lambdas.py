"""Guards that torch evaluates in Python. Their text is used only if it is known to be complete."""

from __future__ import annotations

import re
from dataclasses import replace

from depyf.bytecode.patterns import pattern
from depyf.model.guard_failure import Check
from depyf.torch.guards.clause import Clause, Leaf
from depyf.torch.guards.expression import torch_expression
from depyf.torch.guards.kinds import ambient
from depyf.torch.guards.kinds.identity import named
from depyf.torch.guards.kinds.place import Place
from depyf.torch.guards.words import expression, user_line

_FUNCTORCH = "torch._functorch.pyfunctorch.compare_functorch_state([])"
_BASE_VALUE = pattern(r"(int|float|complex|str|bytes|tuple|list|set|frozenset|dict)\(.*\) == .*$", re.DOTALL)
_COUNT = "___normalize_count_iter("


def lambda_guard(leaf: Leaf, at: Place) -> list[Clause] | None:
    """Return the clauses of a lambda guard on one value, if its text is known to be complete."""
    if not leaf.parts:
        return None
    if ambient.is_saved_tensors_hooks(leaf):
        return ambient.saved_tensors_hooks(leaf, at)
    text = expression(leaf.parts[0])
    if text == _FUNCTORCH:
        return at.clause(leaf, text, expected="no functorch transform is active", actual=('"another one"',))
    known = {at.source: at.node} if at.source else {}
    if text.startswith(_COUNT) and at.cls is not None:
        condition = torch_expression(text, at.scope, known)
        if condition is None:
            return None
        return at.clause(leaf, "type(", at.at, ") is ", named(at.cls), " and ", *condition, expected=text)
    if _BASE_VALUE.match(text):
        condition = torch_expression(text, at.scope, known)
        return None if condition is None else at.clause(leaf, *condition, expected=text.rpartition(" == ")[2])
    return None


def epilogue(leaf: Leaf, at: Place) -> list[Clause] | None:
    """Return the clauses of the checks that torch makes last, in Python: relations of sizes, and same objects."""
    clauses: list[Clause] = []
    for part in leaf.parts:
        text = torch_expression(expression(part), at.scope, {})
        if text is None:
            return None
        (clause,) = at.clause(leaf, *text, about=Check.CONDITION, actual=(*_shown(expression(part)),))
        clauses.append(replace(clause, line=user_line(part, at.filename), torch_text=part, check=None))
    return clauses


_VALUE = pattern(r"[LG]\[[^\]]*\](?:\.\w+(?:\(\))?|\[[^\]]*\])*")


def _shown(text: str) -> tuple[str, ...]:
    """Return an expression for the values in the shape expression `text`, for example `{"L['x'].size()[0]": 3}`."""
    sources = dict.fromkeys(_VALUE.findall(text))
    return ("{" + ", ".join(f"{source!r}: {source}" for source in sources) + "}",)
