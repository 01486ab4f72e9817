"""Write f-strings.

Before 3.12 a field may contain neither the quotes of its f-string nor a backslash. So the outer quotes are ones that no
field uses, and strings in the fields have literal characters instead of escapes. An f-string without such a form is
written with `%` or `format` (`emit/formats.py`).
"""

from __future__ import annotations

import ast

from depyf.decompiler.emit.precedence import TUPLE, Writer
from depyf.decompiler.lift.nodes import Interpolation

QUOTES = ("'", '"', "'''", '"""')


def f_string(writer: Writer, node: ast.JoinedStr, nested_quotes: bool = False) -> str | None:
    """Return the source of an f-string, or None if these fields have no valid form.

    Args:
        writer: writes the expressions in the fields.
        node: the f-string.
        nested_quotes: whether the fields may contain the quotes of the f-string, and backslashes (3.12).
    """
    parts = _parts(writer, node, in_spec=False)
    fields = [text for is_field, text in parts if is_field]
    several_lines = any("\n" in field for field in fields)
    literal = "".join(text for is_field, text in parts if not is_field)
    # As in `repr`: double quotes around text that contains only single quotes.
    quotes = ('"', *QUOTES) if "'" in literal and '"' not in literal else QUOTES
    for quote in quotes:
        if (nested_quotes or _may_stand_in(fields, quote)) and not (several_lines and len(quote) == 1):
            text = "".join(text if is_field else escape(text, quote) for is_field, text in parts)
            if not (len(quote) == 3 and text.endswith(quote[0])):
                return f"f{quote}{text}{quote}"
    return None


def _may_stand_in(fields: list[str], quote: str) -> bool:
    return not any(quote in field or "\\" in field for field in fields)


def without_backslash(text: str) -> str | None:
    """Return a string's literal with literal characters instead of escapes, or None if there is none."""
    if "\\" in text or "\r" in text or "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        return None
    for quote in QUOTES:
        if quote not in text and not text.endswith(quote[0]) and ("\n" not in text or len(quote) == 3):
            return f"{quote}{text}{quote}"
    return None


def _parts(writer: Writer, node: ast.JoinedStr, in_spec: bool) -> list[tuple[bool, str]]:
    """Return literal text (False) and fields (True), in order."""
    parts: list[tuple[bool, str]] = []
    for value in node.values:
        if isinstance(value, ast.Constant):
            parts.append((False, str(value.value).replace("{", "{{").replace("}", "}}")))
        elif isinstance(value, ast.FormattedValue):
            parts.extend(_field(writer, value))
        else:
            raise TypeError(f"{type(value).__name__} in an f-string")
    return parts


def _field(writer: Writer, node: ast.FormattedValue) -> list[tuple[bool, str]]:
    text = writer.write(node.value, TUPLE + 2)
    if _needs_parentheses(node.value):
        text = f"({text})"
    start = "{ " if text.startswith("{") else "{"
    return [(True, start + text), *_closing(writer, node)]


def _closing(writer: Writer, node: ast.FormattedValue | Interpolation) -> list[tuple[bool, str]]:
    """Return the parts after the expression of a field."""
    conversion = f"!{chr(node.conversion)}" if node.conversion != -1 else ""
    parts = [(True, conversion)]
    if node.format_spec is not None:
        assert isinstance(node.format_spec, ast.JoinedStr)
        parts.append((True, ":"))
        parts.extend(_parts(writer, node.format_spec, in_spec=True))
    parts.append((True, "}"))
    return parts


def closing(writer: Writer, node: Interpolation, quote: str) -> list[str]:
    """Return the pieces of text after the expression of an interpolation.

    Args:
        writer: writes the expressions in the format specification.
        node: the interpolation of a template string.
        quote: the quotes of the whole string, which the text must escape.
    """
    return [text if is_field else escape(text, quote) for is_field, text in _closing(writer, node)]


def _needs_parentheses(value: ast.expr) -> bool:
    """Return whether a value contains a lambda, whose colon would be read as the end of the expression."""
    return any(isinstance(part, ast.Lambda) for part in ast.walk(value))


def escape(text: str, quote: str) -> str:
    """Escape literal text for a string in these quotes."""
    body = repr(text + '"')[1:-2] if "'" in text else repr(text)[1:-1]
    body = body.replace("\\'", "'")
    if len(quote) == 1:
        return body.replace(quote, "\\" + quote)
    return body.replace(quote, "\\" + quote)
