"""Parse constants in torch's text."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import lru_cache

from depyf.torch.guards.verdicts.difference import ABSENT


def argument(text: str, position: int) -> object:
    """Return the literal at `position` of a call in torch's text, or its negation; `ABSENT` if there is none."""
    try:
        called = ast.parse(text, mode="eval").body
        if isinstance(called, ast.UnaryOp):
            called = called.operand
        return ast.literal_eval(called.args[position]) if isinstance(called, ast.Call) else ABSENT
    except (ValueError, SyntaxError, IndexError):
        return ABSENT


def constant(text: str, members: Iterable[object]) -> object:
    """Return the constant whose repr is `text`: one of `members` or a literal; otherwise `ABSENT`."""
    known_member = next((member for member in members if repr(member) == text), ABSENT)
    if known_member is not ABSENT:
        return known_member
    try:
        return _literal(text)
    except (ValueError, SyntaxError):
        return ABSENT


@lru_cache(maxsize=1024)
def _literal(text: str) -> object:
    """Return the value of a literal. Cached, because a model repeats the same few; the value must not be changed."""
    return ast.literal_eval(text)
