"""Parse items and statements from the text of `show/tree.py`, so that a test is text in, text out.

The pipeline's own lines become Python with a mark, the text is parsed, and the marked nodes become the pipeline's:

    loop 4:                 while __own__('loop', 4):
    except <v3>:            with __own__('except', v3):
    goto 7                  __own__('goto', 7)

A filled jump (`# 7`) takes the rest of its sequence. The text has neither source locations nor offsets.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from depyf.bytecode.code import CO_OPTIMIZED, Code
from depyf.decompiler.lift import nodes
from depyf.decompiler.structure.labels import ForStmt, TryStmt, WithStmt
from depyf.decompiler.structure.tree import Enter, For, If, Item, Jump, Label, Loop, ReraiseStmt, Try, WithBody

OWN = "__own__"
_RULES: tuple[tuple[str, str], ...] = (
    (r"(goto|label) (\d+):?", r"__own__('\1', \2)"),
    (r"# (\d+)", r"__own__('filled', \1)"),
    (r"reraise (v\d+)", r"__own__('reraise', \1)"),
    (r"enter (async )?(.+) -> exit (v\d+), value (v\d+)", r"__own__('enter\1', \2, \3, \4)"),
    (r"loop (\d+):", r"while __own__('loop', \1):"),
    (r"loop (\d+) while (.+):", r"while __own__('loop', \1, \2):"),
    (r"loop (\d+) (async )?for (v\d+) in (v\d+):", r"for \3 in __own__('for\2', \1, \4):"),
    (r"(async )?for (v\d+) in (.+):", r"for \2 in __own__('each\1', \3):"),
    (r"done:", "else:"),
    (r"(except\*?|finally) <(v\d+)>:", r"with __own__('\1', \2):"),
    (r"with <exit (v\d+)>:", r"with __own__('with', \1):"),
    (r"suppressed:", "with __own__('suppressed'):"),
)
_CODE = re.compile(r"<\w+ code=")
_NODE = re.compile(r"<([A-Z]\w*)((?: \w+=[^<>]*?)*)>")
_FIELD = re.compile(r" (\w+)=((?:(?! \w+=).)*)")
_NO_NAME = re.compile(r"(?<![\w\])])\.\d")
"""The variable for the first iterator of a comprehension: `.0`."""
_TEMP = re.compile(r"v(\d+)$")


class NoTree(ValueError):
    """A text that is not a tree; the message contains the line."""


def read_tree(text: str, code: Code, *, are_items: bool = False) -> list[Item]:
    """Return the items or statements in a text.

    Args:
        text: the text, as `show` prints it.
        code: the code of the tree; it determines the scope of variables.
        are_items: the text is the output of `build`: `if` and `try` are items.

    Raises:
        NoTree: the text contains an unknown function or name, or is not a tree.
    """
    lines = text.splitlines()
    for number, line in enumerate(lines):
        lines[number] = _line(line, lines, number)
    try:
        module = ast.parse("\n".join(lines))
    except SyntaxError as error:
        raise NoTree(f"this is no tree: {error.text!r}") from error
    reader = _Reader(code, are_items)
    for node in reversed(list(ast.walk(module))):
        reader.convert(node)
    return list(module.body)


def _line(line: str, lines: Sequence[str], number: int) -> str:
    """Return a line as Python with marks."""
    if _NO_NAME.search(line) or _CODE.search(line):
        raise NoTree(f"a function or a name cannot be read: {line!r}")
    body = line.lstrip(" ")
    indent = line[: len(line) - len(body)]
    if body == "try:" and _is_own_try(indent, lines[number + 1 :]):
        return f"{indent}with __own__('try'):"
    if body == "else:" and _head(indent, lines[:number]).endswith("__own__('try'):"):
        return f"{indent}with __own__('else'):"
    for pattern, replacement in _RULES:
        if re.fullmatch(pattern, body):
            body = re.sub(pattern, replacement, body)
            break
    while (changed := _NODE.sub(lambda parsed: _marked(parsed[1], parsed[2]), body)) != body:
        body = changed
    return indent + body


def _marked(name: str, fields: str) -> str:
    return f"{OWN}('{name}', {', '.join(f'{field}={value}' for field, value in _FIELD.findall(fields))})"


def _is_own_try(indent: str, following: Sequence[str]) -> bool:
    """Return whether the clause of a `try` is one that is not split yet."""
    heads = (line[len(indent) :] for line in following if line.startswith(indent) and line[len(indent)] != " ")
    return any(re.match(r"(except\*?|finally) <v\d+>:", head) for head in _until_next(heads))


def _until_next(heads: Iterable[str]) -> Iterator[str]:
    for head in heads:
        if not head.startswith(("else:", "except", "finally")):
            return
        yield head


def _head(indent: str, before: Sequence[str]) -> str:
    """Return the last line before a clause with the same indentation."""
    return next((line for line in reversed(before) if not line.startswith(f"{indent} ")), "")


class _Reader:
    """Converts marked nodes to the pipeline's, inner ones first."""

    def __init__(self, code: Code, are_items: bool) -> None:
        self.code = code
        self.are_items = are_items

    def convert(self, node: ast.AST) -> None:
        """Replace the marked fields of a node whose children are converted."""
        if isinstance(node, ast.stmt):
            node.lineno = 0
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                value[:] = self.statements(value) if value and isinstance(value[0], ast.stmt) else map(self.one, value)
            elif isinstance(value, ast.expr):
                setattr(node, name, self.one(value))

    def one(self, node: object) -> object:
        """Return the node for an expression."""
        if isinstance(node, ast.Name) and type(node) is ast.Name and node.id != OWN:
            temp = _TEMP.match(node.id)
            return nodes.Temp(temp=int(temp[1])) if temp else self.variable(node)
        word, args, fields = _own(node)
        if word[:1].isupper():
            kind = getattr(nodes, word)
            return kind(**{name: _field(kind, name, value) for name, value in fields.items()})
        return node

    def variable(self, node: ast.Name) -> ast.expr:
        """Return a variable; a name that is not in the code is a builtin of the compiler's."""
        code = self.code
        if node.id in code.varnames:
            return nodes.Var(node.id, node.ctx, "fast")
        if node.id in (*code.cellvars, *code.freevars):
            return nodes.Var(node.id, node.ctx, "deref")
        if node.id in code.names:
            return nodes.Var(node.id, node.ctx, "global" if code.flags & CO_OPTIMIZED else "name")
        return nodes.Common(id=node.id, ctx=node.ctx)

    def statements(self, body: list[ast.stmt]) -> list[Item]:
        """Return a sequence with the pipeline's items."""
        filled: list[Item] = []
        end = len(body)
        for place in reversed(range(len(body))):
            stmt = body[place]
            word, args, _ = _own(stmt.value if isinstance(stmt, ast.Expr) else None)
            if word == "filled":
                filled = [Jump(_number(args[0]), [*self.grouped(body[place + 1 : end]), *filled])]
                end = place
        return [*self.grouped(body[:end]), *filled]

    def grouped(self, body: list[ast.stmt]) -> list[Item]:
        """Return a sequence with each clause in the item before it."""
        items: list[Item] = []
        for stmt in body:
            if isinstance(stmt, ast.With):
                self.clause(items, stmt)
            else:
                items.append(self.statement(stmt))
        return [] if self.are_items and len(items) == 1 and isinstance(items[0], ast.Pass) else items

    def clause(self, items: list[Item], stmt: ast.With) -> None:
        """Append the item of a marked `with`, or move its body into the item to which it belongs."""
        word, args, _ = _own(stmt.items[0].context_expr)
        body: list[Item] = list(stmt.body)
        last = items[-1] if items else None
        if word == "with":
            exit_ = _number(args[0])
            with_item = WithBody(body, exit_, [], False) if self.are_items else _stmt(WithStmt, body=body, exit=exit_)
            items.append(with_item)
        elif word == "try":
            held = {"body": body, "handler": [], "orelse": [], "exc": -1, "is_finally": False}
            items.append(Try(**held) if self.are_items else _stmt(TryStmt, **held))  # type: ignore[arg-type]
        elif word == "else" and isinstance(last, Try | TryStmt):
            last.orelse = body
        elif word == "suppressed" and isinstance(last, WithBody):
            last.suppressed = body
        elif isinstance(last, Try | TryStmt):
            last.handler, last.exc, last.is_finally = body, _number(args[0]), word == "finally"
            if word == "except*":
                setattr(last, "is_star", True)  # noqa: B010  a TryStmt has it only then
        else:
            items.append(stmt)

    def statement(self, stmt: ast.stmt) -> Item:
        """Return the item for a statement."""
        match stmt:
            case ast.If() if self.are_items:
                return If(stmt.test, list(stmt.body), list(stmt.orelse), 0)
            case ast.While(test=test) if _own(test)[0] == "loop":
                header, *rest = _own(test)[1]
                return Loop(_number(header), rest[0] if rest else None, list(stmt.body), orelse=list(stmt.orelse))
            case ast.For(iter=iterator) if _own(iterator)[0]:
                return self.loop(stmt)
            case ast.Expr(value=value) if _own(value)[0] in SIMPLE:
                word, args, _ = _own(value)
                return SIMPLE[word](args)
        return stmt

    def loop(self, stmt: ast.For) -> Item:
        """Return a `for` over a temporary."""
        word, args, _ = _own(stmt.iter)
        body: list[Item] = list(stmt.body)
        orelse: list[Item] = list(stmt.orelse)
        is_async = word.endswith("async ")
        if word.startswith("each"):
            held = {"iterator": args[0], "value": stmt.target, "body": body, "orelse": orelse, "is_async": is_async}
            return _stmt(ForStmt, **held)
        header, iterator = args
        assert isinstance(iterator, nodes.Temp) and isinstance(stmt.target, nodes.Temp)
        return For(_number(header), iterator, stmt.target, body, -1, orelse, is_async=is_async)


def _stmt(kind: type[ast.stmt], **fields: object) -> ast.stmt:
    return kind(lineno=0, **fields)  # type: ignore[arg-type]


def _own(node: object) -> tuple[str, list[ast.expr], dict[str, ast.expr]]:
    """Return the word of a mark, its operands and its fields; the word is empty for unmarked nodes."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != OWN:
        return "", [], {}
    word, *args = node.args
    assert isinstance(word, ast.Constant)
    return str(word.value), args, {field.arg: field.value for field in node.keywords if field.arg is not None}


def _number(node: ast.expr) -> int:
    return node.temp if isinstance(node, nodes.Temp) else int(ast.literal_eval(node))


def _field(kind: type[ast.AST], name: str, value: ast.expr) -> object:
    return value if name in kind._fields or not isinstance(value, ast.Constant) else value.value


SIMPLE: dict[str, Callable[[list[ast.expr]], Item]] = {
    "goto": lambda args: Jump(_number(args[0])),
    "label": lambda args: Label(_number(args[0])),
    "reraise": lambda args: _stmt(ReraiseStmt, exc=_number(args[0])),
    "enter": lambda args: _enter(args, is_async=False),
    "enterasync ": lambda args: _enter(args, is_async=True),
}


def _enter(args: list[ast.expr], *, is_async: bool) -> Item:
    manager, exit_, value = args
    return _stmt(Enter, manager=manager, exit=_number(exit_), value=_number(value), is_async=is_async)
