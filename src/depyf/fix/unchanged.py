"""Check that an edit changes no other function: a function whose text is the same must have the same bytecode.

Its bytecode also depends on what is around it. An edit that makes a variable local, or adds `global`, changes functions
that it does not show in the patch.
"""

from __future__ import annotations

import ast
import difflib
import types
from collections.abc import Iterator

Key = tuple[str, int]
"""The name of a function, and its number among the functions with this name."""


def changed_elsewhere(old: str, new: str) -> list[str]:
    """Return the functions whose text is the same in two texts of a file, and whose bytecode differs."""
    before, after = _functions(old), _functions(new)
    return [
        name
        for (name, number), (text, code) in before.items()
        if (name, number) in after and after[name, number][0] == text and after[name, number][1] != code
    ]


def line_before(old: str, new: str, line: int) -> int:
    """Return the number in the old text of a line of the new one, or 0 for a line that the old text does not have."""
    matcher = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        if start < line <= end:
            return first + line - start if tag == "equal" or last - first == end - start else 0
    return 0


def line_replaced(old: str, new: str, line: int) -> int:
    """Return the first of the old lines that a new line and those around it replace, or 0 if they replace none."""
    matcher = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    for tag, first, _, start, end in matcher.get_opcodes():
        if tag == "replace" and start < line <= end:
            return first + 1
    return 0


def _functions(text: str) -> dict[Key, tuple[str, object]]:
    """Return the text and the bytecode of each function."""
    lines = text.splitlines()
    codes = {(code.co_name, code.co_firstlineno): code for code in _nested(compile(text, "<text>", "exec"))}
    functions: dict[Key, tuple[str, object]] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min((decorator.lineno for decorator in node.decorator_list), default=node.lineno)
            code = codes.get((node.name, first))
            if code is not None:
                number = sum(name == node.name for name, _ in functions)
                content = [_content(nested) for nested in (code, *_nested(code))]
                functions[node.name, number] = "\n".join(lines[first - 1 : node.end_lineno]), content
    return functions


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code objects inside another one, at any depth."""
    waiting = [code]
    while waiting:
        inner = [constant for constant in waiting.pop().co_consts if isinstance(constant, types.CodeType)]
        yield from inner
        waiting += inner


def _content(code: types.CodeType) -> object:
    """Return all of a code object that running it depends on, without its lines and its nested code."""
    constants = [_constant(constant) for constant in code.co_consts if not isinstance(constant, types.CodeType)]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_code, names, constants, code.co_flags, code.co_argcount, code.co_kwonlyargcount


def _constant(value: object) -> object:
    """Return a constant in a form in which 1, 1.0 and True differ."""
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)
