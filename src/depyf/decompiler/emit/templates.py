"""Write template strings.

A template stores the text of each of its expressions. The text is used if it compiles to the value's code.
"""

from __future__ import annotations

import types

from depyf.bytecode.host import codes_in_order, without_compiler_warnings
from depyf.decompiler.emit.precedence import TUPLE, Writer
from depyf.decompiler.emit.strings import closing, escape
from depyf.decompiler.lift.nodes import Interpolation, Template

QUOTE = "'"
PROGRAM = "async def f():\n _ = (\n{}\n)"


def template(writer: Writer, node: Template) -> str:
    """Return the source of a template string."""
    pieces = [_literal(node.strings[0])]
    for interpolation, text in zip(node.interpolations, node.strings[1:], strict=True):
        assert isinstance(interpolation, Interpolation)
        pieces += ["{", _expression(writer, interpolation), *closing(writer, interpolation, QUOTE), _literal(text)]
    return f"t{QUOTE}{''.join(pieces)}{QUOTE}"


def _literal(text: str) -> str:
    return escape(text.replace("{", "{{").replace("}", "}}"), QUOTE)


def _expression(writer: Writer, node: Interpolation) -> str:
    written = writer.write(node.value, TUPLE + 2)
    return node.text if isinstance(node.text, str) and _is_same(node.text, written) else f" {written}"


def _is_same(text: str, written: str) -> bool:
    """Return whether two texts compile to the same code. Syntax unknown to this Python is compared as text."""
    try:
        with without_compiler_warnings():
            text_code, written_code = (
                compile(PROGRAM.format(source), "", "exec", dont_inherit=True) for source in (text, written)
            )
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return "".join(text.split()) == "".join(written.split())
    return _content(text_code) == _content(written_code)


def _content(code: types.CodeType) -> list[object]:
    """Return the parts of a code object that equivalent codes share."""
    parts: list[object] = []
    for nested in codes_in_order(code):
        parts += [nested.co_code, nested.co_names, nested.co_varnames, nested.co_freevars, nested.co_cellvars]
        parts += [(type(const), repr(const)) for const in nested.co_consts if not isinstance(const, types.CodeType)]
    return parts
