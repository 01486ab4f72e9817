"""Texts with gaps: fill them for a reader, evaluate them on values, and parse torch's own expressions."""

from __future__ import annotations

import builtins
import io
import keyword
import tokenize
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType

from depyf.torch.guards.clause import At, Piece, Text
from depyf.torch.guards.held import Held, hold_key
from depyf.torch.guards.literal import quoted

_MARK = "__node_"


@lru_cache(maxsize=4096)
def _compiled(text: str) -> tuple[CodeType, bool]:
    """Return the code of an expression, and whether it contains functions, which can read only globals."""
    code = compile(text, "<guard>", "eval")
    return code, any(isinstance(constant, CodeType) for constant in code.co_consts)


def fill(text: Text, value: Callable[[int], str], held: Callable[[Held], str]) -> str:
    """Return `text` with its gaps filled by the results of `value` and `held`."""
    # A model's guards have tens of thousands of pieces. Comparing classes is three times as fast as `match`.
    return "".join(
        [
            value(piece.node) if type(piece) is At else held(piece) if type(piece) is Held else str(piece)
            for piece in text
        ]
    )


def evaluate(text: Text, value: Callable[[int], object], scope: dict[str, object]) -> object:
    """Return the value of `text`, with `value(node)` in its gaps; Python's builtins are added to `scope`.

    Raises:
        Exception: whatever the expression raises.
    """
    names: dict[str, object] = {}
    parts: list[str] = []
    for piece in text:
        if isinstance(piece, str):
            parts.append(piece)
            continue
        if isinstance(piece, At):
            key, content = f"_at{len(names)}", value(piece.node)
        else:
            key, content = f"_held{len(names)}", piece.get()
        names[key] = content
        parts.append(key)
    code, has_functions = _compiled("".join(parts).strip())
    return eval(code, {**scope, **names}) if has_functions else eval(code, scope, names)


def torch_expression(text: str, scope: Mapping[str, object], known: Mapping[str, int]) -> Text | None:
    """Return torch's own expression `text` with the names of `scope` held and strings in double quotes.

    `known` maps sources of nodes (`L['x']`) to the nodes that replace them. Return None if `text` is not an expression
    over `L`, `G`, builtins and `scope`.
    """
    for source, node in known.items():
        text = text.replace(source, f"{_MARK}{node}", 1)
    tokens = _tokens(text)
    if tokens is None:
        return None
    pieces: list[Piece] = []
    end, previous = 0, ""
    for token in tokens:
        piece = _token(token, previous, scope)
        if piece is None:
            return None
        pieces += [" " * (token.start[1] - end), piece]
        end, previous = token.end[1], token.string
    return tuple(pieces)


@lru_cache(maxsize=512)
def _tokens(text: str) -> tuple[tokenize.TokenInfo, ...] | None:
    """Return the tokens of an expression, or None. They are cached: entries of a function share expressions."""
    try:
        compile(text, "<guard>", "eval")
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, ValueError, tokenize.TokenError):
        return None
    return tuple(token for token in tokens if token.type not in (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER))


def _token(token: tokenize.TokenInfo, previous: str, scope: Mapping[str, object]) -> Piece | None:
    text = token.string
    if text.startswith(_MARK):
        return At(int(text.removeprefix(_MARK)))
    if token.type == tokenize.STRING and text.startswith("'"):
        value = eval(text)
        return hold_key(value) or quoted(value)
    plain = token.type != tokenize.NAME or previous == "." or keyword.iskeyword(text)
    if plain or text in ("L", "G", "torch"):
        return text
    if text in scope:
        return Held(text, scope[text], weak=False)
    return text if hasattr(builtins, text) else None
