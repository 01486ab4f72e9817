"""What the decompiler offers: functions and code objects in, source out."""

from __future__ import annotations

import ast
import types

from depyf.bytecode.code import CO_COROUTINE, CO_ASYNC_GENERATOR, Code
from depyf.bytecode.reader import read
from depyf.emit.grammar import Grammar
from depyf.emit.statements import write
from depyf.passes.body import Body
from depyf.passes.definitions import with_docstring
from depyf.passes.parameters import parameters
from depyf.pipeline import decompile as decompile_body


def decompile(x: object) -> str:
    """Return the source of a function."""
    assert isinstance(x, types.CodeType)
    body = decompile_body(read(x))
    return write([_definition(body)], Grammar())


def _definition(body: Body) -> ast.stmt:
    code: Code = body.code
    arguments, _ = parameters(code)
    kind = ast.AsyncFunctionDef if code.flags & (CO_COROUTINE | CO_ASYNC_GENERATOR) else ast.FunctionDef
    return kind(name=code.name, args=arguments, body=with_docstring(body), decorator_list=[], returns=None, lineno=0)
