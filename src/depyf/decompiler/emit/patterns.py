"""Write the patterns of `match` statements."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from depyf.decompiler.structure.trampoline import Steps, run

if TYPE_CHECKING:
    from depyf.decompiler.emit.expressions import ExpressionWriter

ANY, OR, CLOSED = range(3)


def pattern_source(writer: ExpressionWriter, pattern: ast.pattern) -> str:
    """Return the source of a pattern."""
    return run(_source(writer, pattern, ANY))


def _source(writer: ExpressionWriter, pattern: ast.pattern, needed: int) -> Steps[str]:
    """Return the source of a pattern, in parentheses if it binds less tightly than `needed`: `as` least, then `|`."""
    match pattern:
        case ast.MatchValue(value=value):
            return writer.write(value)
        case ast.MatchSingleton(value=singleton):
            return repr(singleton)
        case ast.MatchAs(pattern=None):
            return pattern.name or "_"
        case ast.MatchAs(pattern=inner):
            assert inner is not None
            (before,) = yield _each(writer, [inner], OR)
            text = f"{before} as {pattern.name}"
            return f"({text})" if needed > ANY else text
        case ast.MatchStar():
            return f"*{pattern.name or '_'}"
        case ast.MatchOr(patterns=patterns):
            parts = yield _each(writer, patterns, CLOSED)
            return f"({' | '.join(parts)})" if needed > OR else " | ".join(parts)
        case ast.MatchSequence(patterns=patterns):
            parts = yield _each(writer, patterns, ANY)
            return f"[{', '.join(parts)}]"
        case ast.MatchMapping(keys=keys, patterns=patterns):
            parts = yield _each(writer, patterns, ANY)
            pairs = [f"{writer.write(key)}: {part}" for key, part in zip(keys, parts, strict=True)]
            pairs += [f"**{pattern.rest}"] if pattern.rest else []
            return f"{{{', '.join(pairs)}}}"
        case ast.MatchClass(patterns=patterns, kwd_attrs=names, kwd_patterns=named):
            parts = yield _each(writer, patterns, ANY)
            values = yield _each(writer, named, ANY)
            parts = [*parts, *(f"{name}={value}" for name, value in zip(names, values, strict=True))]
            return f"{writer.write(pattern.cls)}({', '.join(parts)})"
        case _:
            raise TypeError(f"{type(pattern).__name__} has no source form")


def _each(writer: ExpressionWriter, patterns: list[ast.pattern], needed: int) -> Steps[list[str]]:
    texts: list[str] = []
    for pattern in patterns:
        texts.append((yield _source(writer, pattern, needed)))
    return texts
