"""The settings that `--set NAME=VALUE` gives."""

from __future__ import annotations

import ast
from typing import Any


def parsed_setting(text: str) -> tuple[str, Any]:
    """Return the name and the value of a setting.

    Raises:
        ValueError: the text has no name or no `=`.
    """
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ValueError(f"--set needs NAME=VALUE, not {text!r}")
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, value
