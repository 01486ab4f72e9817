"""The file of a transformed function: its source, with comments that link it to the user's lines.

Only comments are added. The file has the same syntax tree as the source; this is checked where it is not obvious.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import field

from depyf.bytecode.patterns import pattern
from depyf.bytecode.records import dataclass
from depyf.model.artifacts.effects import effect_lines
from depyf.model.names import COMPILED_FN, compiled_fn_number, resume_offset
from depyf.model.run import GraphBreak, SideEffect
from depyf.model.syntax import children, statements_below
from depyf.model.user_line import UserLine

WIDTH = 120
MOST_USER_LINES = 4
"""For a graph from more lines than this, the comment only summarises them. The graph's own file has all lines."""

_PACKAGES = pattern(r"(?<![\w/])/[^\s'\"]*?/(?:site|dist)-packages/")
"""The start of the path of an installed file, which does not help the reader of a comment."""

_INTRICATE = pattern(r"""'''|\"\"\"|\\\n|\b[rR]?[fFtT][rR]?['"]""")
"""Strings that span several lines or contain expressions."""
_STRING_OR_COMMENT = r"""'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|#[^\n]*"""



@dataclass(frozen=True, slots=True)
class Notes:
    """The comments of one transformed function.

    header: comes first.
    graphs: the user's lines of each graph, by its number.
    resumes: the code with which a resume function continues, by its global name.
    breaks: where the graph ended.
    effects: the side effects.

    Lines of a file other than `filename`, the function's, are written with their file.
    """

    header: tuple[str, ...]
    graphs: Mapping[int, tuple[UserLine, ...]] = field(default_factory=dict)
    resumes: Mapping[str, str] = field(default_factory=dict)
    breaks: tuple[GraphBreak, ...] = ()
    effects: tuple[SideEffect, ...] = ()
    filename: str = ""


def renamed(source: str, names: Mapping[str, str]) -> str:
    """Return `source` with names replaced, except in strings and comments."""
    held = [re.escape(name) for name in names if name.isidentifier() and name in source]
    if not held:
        return source
    if _INTRICATE.search(source):
        return _renamed_tokens(source, names)
    # Tokenizing takes long. A string that is not intricate ends on its line, at the quote that it began with.
    names_in_code = re.compile(rf"{_STRING_OR_COMMENT}|\b(?:{'|'.join(held)})\b")
    return names_in_code.sub(lambda match: names.get(match[0], match[0]), source)


def _renamed_tokens(source: str, names: Mapping[str, str]) -> str:
    lines = source.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(source).readline))):
        if token.type == tokenize.NAME and token.string in names:
            row, column = token.start
            line = lines[row - 1]
            lines[row - 1] = line[:column] + names[token.string] + line[column + len(token.string) :]
    return "".join(lines)


def annotated(source: str, notes: Notes) -> str:
    """Return `source` with the comments of `notes`; without comments inside it if they would change its meaning."""
    tree = ast.parse(source)
    lines = source.rstrip("\n").split("\n")
    header = comment_lines(notes.header)
    above, beside = _comments(tree, lines, notes)
    text = header + "\n".join(_placed(lines, above, beside)) + "\n"
    # If no string spans several lines, a comment can follow at the end of each line.
    if _INTRICATE.search(source) is None or ast.dump(ast.parse(text)) == ast.dump(tree):
        return text
    return header + source


def comment_lines(texts: Iterable[str]) -> str:
    """Return texts as comments, with each line of each text on its own line."""
    return "".join(f"# {line}".rstrip() + "\n" for text in texts for line in text.splitlines())


def _comments(tree: ast.Module, lines: list[str], notes: Notes) -> tuple[dict[int, list[str]], dict[int, str]]:
    """Return the comments above lines and beside lines, by line number."""
    calls = [COMPILED_FN in line or any(name in line for name in notes.resumes) for line in lines]
    above: dict[int, list[str]] = {}
    beside: dict[int, str] = {}
    break_is_told = False
    statements = _statements(tree)
    by_hand = _entered_by_hand(statements)
    effects = effect_lines(statements, notes.effects)
    for index, statement in enumerate(statements):
        # Comment a compound statement only for the calls in its own line, not for those in its body.
        names = _own_names(statement) if any(calls[statement.lineno - 1 : _last_own_line(statement)]) else []
        comment = _graph_comment(names, notes)
        resumed = [notes.resumes[name] for name in names if name in notes.resumes]
        note = comment or (f"continues {resumed[0]}" if resumed else "")
        if not note and index in effects:
            note = user_lines_comment(effects[index], notes.filename)
        if note:
            if statement.lineno == _last_own_line(statement):
                beside[statement.lineno] = note
            else:
                above.setdefault(statement.lineno, []).append(note)
        if id(statement) in by_hand:
            above.setdefault(statement.lineno, []).append(BY_HAND)
        if not break_is_told and notes.breaks and _ends_graph(statement):
            above.setdefault(statement.lineno, []).extend(
                break_comment(graph_break, notes.filename) for graph_break in notes.breaks
            )
            break_is_told = True
    return above, beside


BY_HAND = "like `with`, but by hand: `__exit__` does not receive exceptions, as it would from `with`"


def _entered_by_hand(statements: list[ast.stmt]) -> set[int]:
    """Return the ids of the statements that enter a manager whose exit does not receive exceptions."""
    entered: dict[str, list[int]] = {}
    left: set[str] = set()
    for node in statements:
        call = node.value if isinstance(node, (ast.Expr, ast.Assign)) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        manager = ast.dump(call.func.value)
        if call.func.attr == "__enter__":
            entered.setdefault(manager, []).append(id(node))
        elif call.func.attr == "__exit__" and all(_is_none(argument) for argument in call.args):
            left.add(manager)
    return {statement for manager in left for statement in entered.get(manager, ())}


def _is_none(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Constant) and expr.value is None


def break_comment(graph_break: GraphBreak, filename: str) -> str:
    """Return one line about a graph break in a function of the file `filename`, or in one of its callees."""
    where = f" at {_place(graph_break.where, filename)}, `{graph_break.where.text}`" if graph_break.where else ""
    code = f" ({graph_break.code})" if graph_break.code else ""
    return f"graph break{where}: {_PACKAGES.sub('', _one_line(graph_break.reason))}{code}"


def _graph_comment(names: list[str], notes: Notes) -> str:
    for name in names:
        number = compiled_fn_number(name)
        if number is not None and number in notes.graphs:
            return user_lines_comment(notes.graphs[number], notes.filename)
    return ""


def user_lines_comment(lines: tuple[UserLine, ...], filename: str) -> str:
    """Return the user's lines that a graph or a change is linked to, in one line, with the names of other files."""
    if len(lines) <= MOST_USER_LINES:
        return "   ".join(f"{_place(line, filename)} {_one_line(line.text)}" for line in lines)
    files = list(dict.fromkeys(line.filename for line in lines))
    if files == [filename]:
        return f":{min(line.line for line in lines)} to :{max(line.line for line in lines)}, {len(lines)} lines"
    where = f"of {len(files)} files" if len(files) > 1 else f"of {_file_name(files[0])}"
    return f"{len(lines)} lines {where}, from {_place(lines[0], filename)} {_one_line(lines[0].text)}"


def _place(line: UserLine, filename: str) -> str:
    """Return the number of a line, after the name of its file if that is not `filename`."""
    return f"{'' if line.filename == filename else _file_name(line.filename)}:{line.line}"


def _file_name(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _statements(tree: ast.Module) -> list[ast.stmt]:
    """Return all statements in the order of their lines."""
    return sorted(statements_below(tree), key=lambda node: (node.lineno, node.col_offset))


def _own_names(statement: ast.stmt) -> list[str]:
    """Return the names that a statement reads, without those of nested statements."""
    names: list[str] = []
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            names.append(node.id)
        pending += [child for child in reversed(children(node)) if not isinstance(child, (ast.stmt, ast.excepthandler))]
    return names


def _last_own_line(statement: ast.stmt) -> int:
    body = getattr(statement, "body", None)
    if isinstance(body, list) and body:
        return int(statement.lineno)
    return int(statement.end_lineno or statement.lineno)


def _ends_graph(statement: ast.stmt) -> bool:
    """Return whether a statement calls a resume function, itself or in one of its branches."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return False
    return any(isinstance(node, ast.Name) and resume_offset(node.id) is not None for node in ast.walk(statement))


def _placed(lines: list[str], above: Mapping[int, list[str]], beside: Mapping[int, str]) -> list[str]:
    placed: list[str] = []
    for number, line in enumerate(lines, start=1):
        indent = line[: len(line) - len(line.lstrip())]
        comments = list(above.get(number, ()))
        note = beside.get(number)
        if note is not None:
            together = f"{line}  # {note}"
            if len(together) <= WIDTH:
                line = together
            else:
                comments.append(note)
        placed += [_fitting(f"{indent}# {comment}") for comment in comments]
        placed.append(line)
    return placed


def _fitting(comment: str) -> str:
    return comment if len(comment) <= WIDTH else comment[: WIDTH - 4] + " ..."
