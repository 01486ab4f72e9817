"""The source of a class from the code of its body alone, without a proof."""

from __future__ import annotations

import ast

from depyf.bytecode.code import Code
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.emit.statements import write
from depyf.decompiler.passes.class_body import class_body
from depyf.decompiler.passes.private_names import write_private_names
from depyf.decompiler.pipeline.run import decompile
from depyf.errors import faults_named


def class_source(code: Code) -> str:
    """Return the source of a class; its bases, keywords and decorators are in the code around it.

    Args:
        code: the body of the class.

    Raises:
        DecompilationError: the code cannot be decompiled.
    """
    with faults_named("decompiling", code):
        body, _ = decompile(code)
        write_private_names(body.stmts, code)
        definition = ast.ClassDef(
            name=code.name, bases=[], keywords=[], body=class_body(code, body.stmts), decorator_list=[], lineno=0
        )
        return write([definition], Grammar.of(code))
