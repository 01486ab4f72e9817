"""The directory of one context: names of files, and files that could not be written."""

from __future__ import annotations

import json
import os
import symtable
import threading
from collections import Counter
from pathlib import Path
from typing import Protocol

from depyf.model.names import file_part
from depyf.model.run import Artefact, Dialect
from depyf.model.writer import write_whole

OTHER = "other"
"""The subdirectory for artefacts that are neither graphs nor code."""

LOOSE = 0
"""The number in the names of files that belong to no compiled graph; torch counts its graphs from 1."""


class Problems(Protocol):
    """Receives errors."""

    def add(self, where: str, error: BaseException) -> None:
        """Record an error, and what it was about."""


class Numbers:
    """Counts the files of each series of names in one directory."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def next(self, series: str) -> int:
        """Return 0, 1, 2, ... for each call with the same series."""
        with self._lock:
            self._counts[series] += 1
            return self._counts[series] - 1


class Files(Protocol):
    """The destination of a recorder's artefacts."""

    directory: Path
    numbers: Numbers

    def write(self, name: str, text: str) -> bool:
        """Write a file; return whether it exists now."""

    def without_directory(self, text: str) -> str:
        """Return a text in which the dump's files have relative names, wherever the dump is."""

    def remove(self, name: str) -> None:
        """Remove a file that turned out to describe nothing that runs."""

    def artefact_name(self, artefact: Artefact, owner: str, text: str) -> str:
        """Return the file name of an artefact of `owner`, for example `__compiled_fn_1`, and record its number.

        Args:
            artefact: the artefact.
            owner: the prefix of the name.
            text: the text of the file, which decides its extension.
        """


class Dump:
    """Assigns the names of files and writes them. A file that cannot be written becomes a problem, not an error."""

    def __init__(self, directory: Path, problems: Problems, numbers: Numbers) -> None:
        self.directory = directory
        self.numbers = numbers
        self._problems = problems

    def write(self, name: str, text: str) -> bool:
        """Write a file; return whether it exists now."""
        try:
            write_whole(os.path.join(self.directory, name), text)
        except OSError as error:
            self._problems.add(f"writing {name}", error)
            return False
        return True

    def without_directory(self, text: str) -> str:
        """Return a text in which the dump's files have relative names, wherever the dump is."""
        return text.replace(f"{self.directory}{os.sep}", "")

    def remove(self, name: str) -> None:
        """Remove a file that turned out to describe nothing that runs."""
        try:
            (self.directory / name).unlink(missing_ok=True)
        except OSError as error:
            self._problems.add(f"removing {name}", error)

    def artefact_name(self, artefact: Artefact, owner: str, text: str) -> str:
        """Return the file name of an artefact of `owner`, for example `__compiled_fn_1`, and record its number.

        Args:
            artefact: the artefact.
            owner: the prefix of the name.
            text: the text of the file, which decides its extension.
        """
        stem = f"{owner}.{file_part(artefact.stage)}"
        artefact.number = self.numbers.next(stem)
        extension = _extension(artefact.dialect, text, artefact.origin)
        if artefact.dialect is Dialect.KERNEL:
            return f"{stem}_{artefact.number}.{extension}"
        name = f"{stem}.{artefact.number}.{extension}"
        return f"{OTHER}/{name}" if artefact.dialect in (Dialect.TEXT, Dialect.JSON) else name


def _extension(dialect: Dialect, text: str, origin: str) -> str:
    """Return the extension of a file. `.py` promises Python, which the output code of some backends is not.

    depyf trusts the extension of the file that torch wrote: parsing a long text takes long.
    """
    match dialect:
        case Dialect.GRAPH:
            return "py"
        case Dialect.JSON:
            return "json"
        case Dialect.CPP:
            return "cpp"
        case Dialect.KERNEL | Dialect.PYTHON | Dialect.TEXT:
            return "py" if origin.endswith(".py") or _is_python(text, dialect) else "txt"


def _is_python(text: str, dialect: Dialect) -> bool:
    if dialect is Dialect.TEXT and "import " not in text:
        return False
    try:
        # The table of a text's names is made in half the time of a syntax tree.
        symtable.symtable(text, "<artefact>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def readable_json(text: str) -> str:
    """Return JSON with one key per line, in order; a text that is no JSON stays as it is."""
    try:
        return json.dumps(json.loads(text), indent=1, sort_keys=True) + "\n"
    except ValueError:
        return text
