"""Find and change statements of a module by their line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider

from depyf.fix.edit import RefusedError

Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
Change = Callable[[Statement], Sequence[Statement]]


def parsed(path: str | Path) -> cst.Module:
    """Return the syntax tree of a file. Its code is the text of the file, byte for byte.

    LibCST 1.9 loses form feeds, and the last line end of a file with `\\r` line ends. An edit of such a file would
    drop them, and its patch would not fit.

    Raises:
        RefusedError: the file cannot be read, is not UTF-8 or no Python, or LibCST does not keep its text.
    """
    try:
        source = Path(path).read_bytes()
        module = cst.parse_module(source.decode("utf-8"))
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, cst.ParserSyntaxError) as error:
        raise RefusedError("LibCST cannot parse the file") from error
    if module.code.encode("utf-8") != source:
        raise RefusedError("LibCST does not keep the text of the file, which has a form feed or `\\r` line ends")
    return module


class _AtLine(cst.CSTTransformer):
    """Replaces the innermost statement whose first line is the wanted one, or that contains it.

    An `elif` is a part of its `if`.
    """

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, line: int, change: Change) -> None:
        super().__init__()
        self._line, self._change = line, change
        self._elifs: set[cst.CSTNode] = set()
        self.found = False

    def visit_If(self, node: cst.If) -> bool:  # noqa: N802 - LibCST's name
        """Note the `elif` of an `if`."""
        if isinstance(node.orelse, cst.If):
            self._elifs.add(node.orelse)
        return True

    def _heads(self, original: cst.CSTNode) -> Iterator[tuple[int, int]]:
        """Yield the first and the last line of a statement; of a compound one, of each of its heads."""
        at: cst.CSTNode | None = original
        while at is not None:
            where = self.get_metadata(PositionProvider, at)
            last = where.end.line
            if isinstance(at, cst.BaseCompoundStatement):
                last = self.get_metadata(PositionProvider, at.body).start.line
            yield where.start.line, last
            at = at.orelse if isinstance(at, cst.If) and isinstance(at.orelse, cst.If) else None

    def _replaced(self, original: cst.CSTNode, updated: Statement) -> Statement | cst.FlattenSentinel[Statement]:
        is_there = any(first <= self._line <= last for first, last in self._heads(original))
        if self.found or original in self._elifs or not is_there:
            return updated
        self.found = True
        return cst.FlattenSentinel(self._change(updated))

    def leave_SimpleStatementLine(  # noqa: N802 - LibCST's name
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        return self._replaced(original_node, updated_node)

    def leave_If(
        self, original_node: cst.If, updated_node: cst.If
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:  # noqa: N802, E501
        return self._replaced(original_node, updated_node)

    def leave_For(
        self, original_node: cst.For, updated_node: cst.For
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:  # noqa: N802, E501
        return self._replaced(original_node, updated_node)


def replace_statement(module: cst.Module, line: int, change: Change) -> cst.Module:
    """Return the module with the statement at a line changed.

    Raises:
        RefusedError: no statement begins there, or the change refuses it.
    """
    visitor = _AtLine(line, change)
    changed = MetadataWrapper(module).visit(visitor)
    if not visitor.found:
        raise RefusedError(f"no statement that can be changed is at line {line}")
    return changed


def statement(text: str) -> cst.SimpleStatementLine:
    """Return a statement from its text."""
    parsed = cst.parse_statement(text)
    assert isinstance(parsed, cst.SimpleStatementLine)
    return parsed


def in_brackets(value: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression that an operator or an attribute may follow."""
    if isinstance(value, (cst.Name, cst.Integer, cst.Float, cst.Call, cst.Attribute, cst.Subscript)) or value.lpar:
        return value
    return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def without_item(value: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression without `.item()`, so that its numbers stay tensors."""
    plain = m.replace(value, _ITEM, lambda call, _: call.func.value)  # type: ignore[attr-defined]
    assert isinstance(plain, cst.BaseExpression)
    return plain


_ITEM = m.Call(func=m.Attribute(attr=m.Name("item")), args=[])


def after_import_of_torch(module: cst.Module, text: str) -> cst.Module:
    """Return the module with a statement after its first import of torch at the top level.

    Raises:
        RefusedError: it imports no `torch` by this name there.
    """
    for number, stmt in enumerate(module.body):
        if isinstance(stmt, cst.SimpleStatementLine) and any(map(_imports_torch, stmt.body)):
            # The statement comes after all imports that follow at once, as linters ask for.
            at = number + 1
            while at < len(module.body) and _is_import(module.body[at]):
                at += 1
            added = statement(text)
            if any(
                isinstance(existing, cst.SimpleStatementLine) and existing.deep_equals(added)
                for existing in module.body
            ):
                raise RefusedError("the statement is already there")
            return module.with_changes(body=[*module.body[:at], added, *module.body[at:]])
    raise RefusedError("the file has no `import torch` at its top level")


def _is_import(stmt: cst.CSTNode) -> bool:
    return isinstance(stmt, cst.SimpleStatementLine) and all(
        isinstance(small, (cst.Import, cst.ImportFrom)) for small in stmt.body
    )


def _imports_torch(stmt: cst.CSTNode) -> bool:
    return isinstance(stmt, cst.Import) and any(
        isinstance(name.name, cst.Name) and name.name.value == "torch" and name.asname is None for name in stmt.names
    )


def stored(target: cst.CSTNode) -> set[str]:
    """Return the names that an assignment to a target sets."""
    if isinstance(target, (cst.Attribute, cst.Subscript)):
        return set()
    return {node.value for node in m.findall(target, m.Name()) if isinstance(node, cst.Name)}


def names_of_module(module: cst.Module) -> set[str]:
    """Return the names that a module defines at its top level."""
    names: set[str] = set()
    for stmt in module.body:
        for small in stmt.body if isinstance(stmt, cst.SimpleStatementLine) else (stmt,):
            if isinstance(small, (cst.Import, cst.ImportFrom)) and not isinstance(small.names, cst.ImportStar):
                code = [(alias.asname.name if alias.asname is not None else alias.name) for alias in small.names]
                names |= {cst.Module([]).code_for_node(name).partition(".")[0] for name in code}
            elif isinstance(small, (cst.FunctionDef, cst.ClassDef)):
                names.add(small.name.value)
            elif isinstance(small, (cst.Assign, cst.AnnAssign)):
                targets = (
                    [target.target for target in small.targets] if isinstance(small, cst.Assign) else [small.target]
                )
                names |= {name for target in targets for name in stored(target)}
    return names


def after_definition_of(module: cst.Module, line: int, added: Sequence[cst.BaseStatement]) -> cst.Module:
    """Return the module with statements after the top-level definition that contains a line.

    Lines above it keep their numbers, so that edits there find theirs.

    Args:
        module: the syntax tree of the user's file.
        line: a line inside the definition.
        added: the new statements.

    Raises:
        RefusedError: the line is in no function or class.
    """
    where = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    at = max(number for number, stmt in enumerate(module.body) if where[stmt].start.line <= line)
    if not isinstance(module.body[at], (cst.FunctionDef, cst.ClassDef)):
        raise RefusedError("the line is in no function of the file")
    return module.with_changes(body=[*module.body[: at + 1], *added, *module.body[at + 1 :]])


def first_line_of_function(module: cst.Module, line: int) -> int:
    """Return the line at which the code of the innermost function begins that contains a line; 0 for none."""
    where = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    inside = [
        cst.ensure_type(node, cst.FunctionDef)
        for node in m.findall(module, m.FunctionDef())
        if where[node].start.line <= line <= where[node].end.line
    ]
    if not inside:
        return 0
    function = max(inside, key=lambda node: where[node].start.line)
    return min(where[node].start.line for node in (function, *function.decorators))


def enclosing_function(module: cst.Module, line: int) -> cst.FunctionDef:
    """Return the function at the top level of a module that contains a line.

    Raises:
        RefusedError: there is none.
    """
    where = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    for stmt in module.body:
        if isinstance(stmt, cst.FunctionDef) and where[stmt].start.line <= line <= where[stmt].end.line:
            return stmt
    raise RefusedError("the line is in no function at the top level of the file")


_COMPILE = m.Attribute(m.Name("torch"), m.Name("compile"))
COMPILING = _COMPILE | m.Call(_COMPILE)
"""`torch.compile` as a decorator, with or without options."""


def compiled_names(module: cst.Module, name: str) -> frozenset[str]:
    """Return the names by which a module calls the compiled form of one of its functions.

    Raises:
        RefusedError: it is neither decorated by `torch.compile` nor given to it in an assignment to a name.
    """
    for definition in m.findall(module, m.FunctionDef(m.Name(name))):
        assert isinstance(definition, cst.FunctionDef)
        if any(m.matches(decorator.decorator, COMPILING) for decorator in definition.decorators):
            return frozenset((name,))
    assignment = m.Assign(
        targets=[m.AssignTarget(m.Name())], value=m.Call(_COMPILE, [m.Arg(m.Name(name)), m.ZeroOrMore()])
    )
    targets = [cst.ensure_type(match, cst.Assign).targets[0].target for match in m.findall(module, assignment)]
    if not targets:
        raise RefusedError("the file does not give the function to `torch.compile` by its name")
    return frozenset(cst.ensure_type(target, cst.Name).value for target in targets)
