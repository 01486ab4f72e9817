"""The line of the program that changes a value between calls, where the source has exactly one.

model.tau = 1.0 - epoch / 10      # in the loop: the only line outside of compiled code that assigns `tau`
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from depyf.bytecode.records import dataclass
from depyf.findings.callers import compiled_lines
from depyf.findings.catalogue.classify import place_of
from depyf.findings.catalogue.kind import Place
from depyf.findings.causes import Cause
from depyf.model.guard_failure import Check
from depyf.model.run import Session
from depyf.model.spelling import root_name
from depyf.model.syntax import children, parsed, parsed_line
from depyf.model.user_line import UserLine
from depyf.model.user_source import file_text, is_foreign, line_at

_HELD = (Place.MODULE, Place.OBJECT, Place.GLOBAL)
_CHECKS = (Check.VALUE, Check.CLASS, Check.TYPE)
_MAKERS = ("__init__", "__post_init__", "__new__")
"""The methods that set the first value of an attribute."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """The surroundings of a statement: its innermost function, the global names of that, and whether a loop runs it."""

    function: str = ""
    globals: frozenset[str] = frozenset()
    is_in_loop: bool = False


def writing_line(session: Session, cause: Cause) -> UserLine | None:
    """Return the only line outside of compiled code that assigns the value of a cause, or None.

    The line that sets the first value does not count: in `__init__`, or at the top of a module outside of loops.

    Args:
        session: the run.
        cause: a cause of recompiles, whose value is an attribute or a global variable.
    """
    failure = cause.failures[0]
    is_held = place_of(failure, cause.function.parameters) in _HELD
    if cause.is_changed or not is_held or failure.check not in _CHECKS or failure.is_mode:
        return None
    target = _as_target(failure.subject)
    if target is None:
        return None
    inside = compiled_lines(session)
    written = {
        (filename, line)
        for filename in _files(session, cause)
        for line in _writes(file_text(filename), target, root_name(failure.source))
        if (filename, line) not in inside
    }
    return line_at(*next(iter(written))) if len(written) == 1 else None


def _files(session: Session, cause: Cause) -> set[str]:
    """Return the files of the user's that the recompiles of a cause ran through."""
    lines = (line for compiled in cause.compiles for line in compiled.user_stack)
    files = {cause.function.filename, session.functions[cause.function.root].filename}
    return {filename for filename in files.union(line.filename for line in lines) if not is_foreign(filename)}


def _as_target(subject: str) -> ast.expr | None:
    """Return a value as an expression that a statement can assign: a name, an attribute, or an item."""
    body = parsed_line(subject).body
    value = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    return value if isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)) else None


def _writes(text: str, value: ast.expr, root: str) -> Iterator[int]:
    """Yield the lines of a file that assign a value after its first one."""
    waiting: list[tuple[ast.AST, _Scope]] = [(parsed(text), _Scope())]
    while waiting:
        node, scope = waiting.pop()
        inner = _scope_below(node, scope)
        for target in _targets(node):
            if _is_same(target, value, root) and _is_later(target, inner):
                yield target.lineno
        waiting += [(child, inner) for child in children(node)]


def _scope_below(node: ast.AST, scope: _Scope) -> _Scope:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        names = {name for child in node.body if isinstance(child, ast.Global) for name in child.names}
        return _Scope(node.name, frozenset(names))
    if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        return _Scope(scope.function, scope.globals, is_in_loop=True)
    return scope


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that a statement assigns; those of `a, b = ...` one by one."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, (ast.AugAssign, ast.For, ast.AsyncFor)):
        targets = [node.target]
    for target in targets:
        yield from target.elts if isinstance(target, (ast.Tuple, ast.List)) else (target,)


def _is_same(target: ast.expr, value: ast.expr, root: str) -> bool:
    """Return whether a target may be the value: the same name, attribute or key. The object may have another name."""
    if isinstance(target, ast.Name):
        return isinstance(value, ast.Name) and target.id == value.id == root
    if isinstance(target, ast.Attribute):
        return isinstance(value, ast.Attribute) and target.attr == value.attr
    if not isinstance(target, ast.Subscript) or not isinstance(value, ast.Subscript):
        return False
    return ast.unparse(target.slice) == ast.unparse(value.slice) and _last(target.value) == _last(value.value)


def _last(value: ast.expr) -> str:
    return value.attr if isinstance(value, ast.Attribute) else ast.unparse(value)


def _is_later(target: ast.expr, scope: _Scope) -> bool:
    """Return whether an assignment may give a value a second time."""
    if isinstance(target, ast.Attribute):
        return scope.function not in _MAKERS
    if not scope.function:
        return scope.is_in_loop
    return target.id in scope.globals if isinstance(target, ast.Name) else True
