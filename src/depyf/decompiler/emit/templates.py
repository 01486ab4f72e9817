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
            one, two = (compile(PROGRAM.format(source), "", "exec", dont_inherit=True) for source in (text, written))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return "".join(text.split()) == "".join(written.split())
    return _content(one) == _content(two)


def _content(code: types.CodeType) -> list[object]:
    """Return the parts of a code object that equivalent codes share."""
    found: list[object] = []
    for one in codes_in_order(code):
        found += [one.co_code, one.co_names, one.co_varnames, one.co_freevars, one.co_cellvars]
        found += [(type(const), repr(const)) for const in one.co_consts if not isinstance(const, types.CodeType)]
    return found
