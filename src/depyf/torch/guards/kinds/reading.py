"""Constants in torch's words."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from depyf.torch.difference import ABSENT


def constant(text: str, members: Iterable[object]) -> object:
    """Return the constant whose repr is `text`: one of `members` or a literal, `ABSENT` if it is neither."""
    found = next((member for member in members if repr(member) == text), ABSENT)
    if found is not ABSENT:
        return found
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return ABSENT
