"""The functions and classes around the user's lines, and the lines' texts, from the dump's copies of the files."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from depyf.links.origins import Origin
from depyf.links.profile.tables import Row
from depyf.model.index_reader import Run

_OUTSIDE = "<module>"


class _File:
    """One source file: its lines, and the function and class around each."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.splitlines()

    @cached_property
    def owners(self) -> list[tuple[int, int, str, str]]:
        """Return the first and last line of each function, its name, and its class; outer ones first."""
        try:
            tree: ast.AST = ast.parse(self.text)
        except (SyntaxError, ValueError):
            return []
        definitions = []
        waiting: list[tuple[ast.AST, str, str]] = [(tree, "", "")]
        while waiting:
            node, path, owner = waiting.pop(0)
            for child in ast.iter_child_nodes(node):
                own_path, own_class = path, owner
                if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    own_path = f"{path}.{child.name}" if path else child.name
                    own_class = own_path if isinstance(child, ast.ClassDef) else owner
                    definitions.append((child.lineno, child.end_lineno or child.lineno, own_path, own_class))
                waiting.append((child, own_path, own_class))
        return definitions

    def owner(self, line: int) -> tuple[str, str]:
        """Return the function and the class around a line."""
        around = [(name, owner) for first, last, name, owner in self.owners if first <= line <= last]
        return around[-1] if around else (_OUTSIDE, "")


class Sources:
    """The user's files: the copies in a dump, and files that still exist."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._files: dict[str, _File] = {}

    def text(self, file: str) -> str:
        """Return the text of a file, or ""."""
        return self._file(file).text

    def text_at(self, line: Origin) -> str:
        """Return the text of a line, or ""."""
        lines = self._file(line[0]).lines
        return lines[line[1] - 1].strip() if 0 < line[1] <= len(lines) else ""

    def function_at(self, line: Origin) -> str:
        """Return the qualified name of the function around a line."""
        return self._file(line[0]).owner(line[1])[0]

    def modules(self, rows: Iterable[Row]) -> dict[str, float]:
        """Return seconds by the class around the lines; a set counts for all its classes."""
        seconds: dict[str, float] = defaultdict(float)
        for row in rows:
            names = sorted({self._file(file).owner(line)[1] for file, line in row.lines})
            if any(names):
                seconds[" + ".join(name or _OUTSIDE for name in names)] += row.seconds
        return dict(sorted(seconds.items(), key=lambda pair: -pair[1]))

    def _file(self, name: str) -> _File:
        if name not in self._files:
            text = self._run.text(self._run.session.sources.get(name, ""))
            path = Path(name)
            if not text and path.is_file():
                text = path.read_text(encoding="utf-8", errors="replace")
            self._files[name] = _File(text)
        return self._files[name]
