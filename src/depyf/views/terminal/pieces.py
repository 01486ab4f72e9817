"""Pieces of text that several views in the terminal share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from rich.console import RenderableType
from rich.text import Text

from depyf.model.counts import counted
from depyf.model.names import resumed_function
from depyf.views.terminal.whole_words import Paragraph

Json: TypeAlias = dict[str, Any]

SEVERITY = {"high": "bold red", "medium": "yellow", "low": "dim"}
INDENT = 2
"""The indentation of lines that belong to the line above."""


def below(what: Text, indent: int, empty_lines: int = 0) -> RenderableType:
    """Return a paragraph with an indentation.

    Args:
        what: the text.
        indent: the indentation, in characters.
        empty_lines: the number of empty lines below it.
    """
    return Paragraph(what, indent, empty_lines)


def at(where: Json) -> str:
    """Return a place as file and line; the file alone if the line is not known."""
    return f"{where['file']}:{where['line']}" if where["line"] else str(where["file"])


def seconds_text(value: float) -> str:
    """Return a short duration; "" for 0."""
    if not value:
        return ""
    return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.0f} ms" if value >= 0.001 else "<1 ms"


def finding_text(item: Json, below_it: int = 1) -> Iterator[RenderableType]:
    """Yield a finding: its severity, kind and place, its cause, its fix, and its cost.

    Args:
        item: the finding.
        below_it: the number of empty lines below it.
    """
    head = Text(f"{item['severity']:<7}", SEVERITY[item["severity"]]).append(item["kind"], "bold")
    if item["where"]:
        head.append(f"  {at(item['where'])}", "cyan").append(f" in {_name(item['where']['function'])}", "dim")
    yield head
    yield below(Text(item["cause"]), INDENT)
    if item["fix"]:
        yield below(Text("fix: ", "green").append(item["fix"], "default"), INDENT)
    if item.get("tried"):
        yield below(Text("tried: ", "green").append(item["tried"], "default"), INDENT)
    yield below(Text(_cost(item["cost"]), "dim"), INDENT, below_it)


def _name(function: str) -> str:
    """Return the name of a function in the terminal. A resume function has the name of its function and its line."""
    rest = resumed_function(function)
    return f"{rest[0]} after :{rest[1]}" if rest else function


def _cost(cost: Json) -> str:
    parts = [counted(cost["compiles"], "compile"), seconds_text(cost["compile_seconds"])]
    if cost["eager_calls"] is not None:
        parts.append(counted(cost["eager_calls"], "eager call"))
    return ", ".join(part for part in parts if part)
