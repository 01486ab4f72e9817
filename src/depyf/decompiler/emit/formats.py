"""Write formatted text without f-strings, for places where the grammar does not allow one.

Some compilers turn `'%s and %5r' % (a, b)` into the same instructions as `f'{a!s} and {b!r:>5}'`. `'{} and
{!r:{}}'.format(a, b, '>5')` is possible for every f-string: it calls a method, and gives the same text.
"""

from __future__ import annotations

import ast
import re

SIMPLE_SPEC = re.compile(r"(?P<right>>?)(?P<width>[1-9][0-9]{0,2})?(?P<precision>\.[0-9]{1,3})?")
"""A width and a precision that the compiler can convert."""
FOLDED = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.unaryop, ast.operator, ast.expr_context)
"""The nodes of an expression that the compiler may fold."""
FIELD = re.compile(r"%(?:%|[-+ #0]*[0-9]*(?:\.[0-9]*)?(?P<letter>[sra]))|%|[^%]+", re.DOTALL)
"""A field that the compiler can convert to one of an f-string, the percent sign of another field, or text."""


def percent(node: ast.JoinedStr) -> ast.BinOp | None:
    """Return the `%` operation that compiles to the same code as an f-string, or None.

    A tuple of constants only is folded to one constant before the compiler looks at the operation.
    """
    template, values = "", []
    for part in node.values:
        if isinstance(part, ast.Constant):
            template += str(part.value).replace("%", "%%")
        elif isinstance(part, ast.FormattedValue) and not isinstance(part.value, ast.Starred):
            letter = _percent_field(part)
            if letter is None:
                return None
            template += letter
            values.append(part.value)
    if all(isinstance(part, FOLDED) for value in values for part in ast.walk(value)):
        return None
    right = ast.Tuple(elts=values, ctx=ast.Load())
    return ast.BinOp(left=ast.Constant(value=template), op=ast.Mod(), right=right)


def becomes_f_string(node: ast.BinOp) -> bool:
    """Return whether the compiler turns a `%` operation into an f-string.

    If it did not do so, the source was different.
    """
    template, values = node.left, node.right
    if not isinstance(node.op, ast.Mod) or not isinstance(template, ast.Constant) or not isinstance(values, ast.Tuple):
        return False
    if not isinstance(template.value, str) or any(isinstance(value, ast.Starred) for value in values.elts):
        return False
    fields = list(FIELD.finditer(template.value))
    count = sum(field["letter"] is not None for field in fields)
    return count == len(values.elts) and not any(field.group() == "%" for field in fields)


def converts_to_text(node: ast.JoinedStr) -> bool:
    """Return whether a field is converted by `str`.

    `%s` implies that, but nobody writes `!s` if `{a}` does the same.
    """
    return any(isinstance(part, ast.FormattedValue) and part.conversion == ord("s") for part in node.values)


def _percent_field(field: ast.FormattedValue) -> str | None:
    if field.conversion == -1:
        return None
    spec = _constant_spec(field.format_spec)
    spec_match = SIMPLE_SPEC.fullmatch(spec)
    is_empty = field.format_spec is not None and not spec
    if spec_match is None or is_empty or (spec_match["right"] and not spec_match["width"]):
        return None
    sign = "-" if spec_match["width"] and not spec_match["right"] else ""
    return f"%{sign}{spec_match['width'] or ''}{spec_match['precision'] or ''}{chr(field.conversion)}"


def _constant_spec(spec: ast.expr | None) -> str:
    """Return a specification that is only text; for a computed one, return a text that is never valid."""
    if not isinstance(spec, ast.JoinedStr):
        return ""
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{" for part in spec.values)


def format_call(node: ast.JoinedStr) -> ast.Call:
    """Return a call of `str.format` that returns the text of an f-string."""
    template, values = "", []
    for part in node.values:
        if isinstance(part, ast.Constant):
            template += str(part.value).replace("{", "{{").replace("}", "}}")
        elif isinstance(part, ast.FormattedValue):
            conversion = f"!{chr(part.conversion)}" if part.conversion != -1 else ""
            template += "{" + conversion + (":{}" if part.format_spec is not None else "") + "}"
            values += [part.value] if part.format_spec is None else [part.value, part.format_spec]
    method = ast.Attribute(value=ast.Constant(value=template), attr="format", ctx=ast.Load())
    return ast.Call(func=method, args=values, keywords=[])
