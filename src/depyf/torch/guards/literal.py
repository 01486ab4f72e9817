"""Values that a guard can write as literals: `7`, `"gelu"`, `(1, 2)`, `torch.float32`."""

from __future__ import annotations

import json
import math

import torch

MAX_LENGTH = 400
_DEPTH = 8
_TORCH_CONSTANTS = (torch.dtype, torch.layout, torch.memory_format)


def literal(value: object, depth: int = _DEPTH) -> str | None:
    """Return an expression for an equal value of exactly the same type, or None if there is no short one."""
    text = quoted(value) if type(value) is str else _scalar(value)
    if text is None and depth:
        text = _collection(value, depth - 1)
    return text if text is not None and len(text) <= MAX_LENGTH else None


def quoted(text: str) -> str:
    """Return `text` as a string literal, in double quotes unless single quotes need fewer escapes."""
    plain = repr(text)
    if plain.startswith("'") and '"' not in plain and "\\" not in plain:
        return f'"{plain[1:-1]}"'
    return json.dumps(text) if plain.isascii() and text.isprintable() else plain


def plain_string(text: str) -> str | None:
    """Return the string whose repr is `text`, if it has no escapes and quotes; None for any other text."""
    inner = text[1:-1]
    is_plain = len(text) > 1 and text[0] == text[-1] == "'" and "'" not in inner and "\\" not in inner
    return inner if is_plain and inner.isprintable() else None


def _scalar(value: object) -> str | None:
    kind = type(value)
    if value is None or value is ... or kind in (bool, int, bytes):
        return repr(value)
    if isinstance(value, float) and kind is float:
        return repr(value) if math.isfinite(value) else None if math.isnan(value) else f'float("{value}")'
    if isinstance(value, complex) and kind is complex:
        return repr(value) if math.isfinite(value.real) and math.isfinite(value.imag) else None
    if kind in _TORCH_CONSTANTS:
        return str(value)
    if isinstance(value, torch.device):
        return f"torch.device({quoted(str(value))})"
    return None


def _collection(value: object, depth: int) -> str | None:
    match value:
        case range() | slice():
            parts = [value.start, value.stop, value.step]
            return _call(type(value).__name__, parts, depth)
        case torch.Size():
            return f"torch.Size({list(value)})"
        case tuple() if type(value) is tuple:
            inner = _items(value, depth)
            return None if inner is None else f"({inner},)" if len(value) == 1 else f"({inner})"
        case list() if type(value) is list:
            inner = _items(value, depth)
            return None if inner is None else f"[{inner}]"
        case set() | frozenset() if type(value) in (set, frozenset):
            name = type(value).__name__
            inner = _items(sorted(value, key=repr), depth)
            if not value or inner is None:
                return None if inner is None else f"{name}()"
            return f"{{{inner}}}" if type(value) is set else f"frozenset({{{inner}}})"
    return None


def _call(name: str, arguments: list[object], depth: int) -> str | None:
    inner = _items(arguments, depth)
    return None if inner is None else f"{name}({inner})"


def _items(values: tuple[object, ...] | list[object], depth: int) -> str | None:
    texts = [literal(item, depth) for item in values]
    return None if None in texts else ", ".join(text for text in texts if text is not None)
