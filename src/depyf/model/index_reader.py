"""Read `index.json` back into the model, for views of a finished or killed run of another process.

A value that the index does not have keeps its default. The user's files have the short names of the index.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import dropwhile, islice, takewhile
from pathlib import Path
from typing import BinaryIO, TypeAlias

from depyf.bytecode.records import dataclass
from depyf.model.archive import archived
from depyf.model.codec import Json
from depyf.model.finding import FINDING_ROWS, Finding
from depyf.model.index_json import SCHEMA
from depyf.model.run import (
    COMPILE_ROWS,
    OTHER_ROWS,
    RESUME_ROWS,
    SESSION_ROWS,
    TRACE,
    Compile,
    Function,
    Recompile,
    Session,
)
from depyf.model.running_compile import LOG, RUNNING_ROWS
from depyf.model.running_log import has_log, read_log
from depyf.model.user_source import function_in
from depyf.model.writer import INDEX

Order = dict[str, list[int]]
"""The positions of each compile id in the order of all compiles. After a reset torch reuses ids."""

Family: TypeAlias = list[tuple[Function, Compile]]
"""The compiles of a function and of its resume functions, each with its function, in the order in which they began."""


@dataclass(frozen=True, slots=True)
class Run:
    """A dump and the run that it describes.

    names: the index's names for the files that graphs name by path. The keys of `session.sources` are these names.
    texts: the texts of files that are in no directory.
    """

    directory: Path
    session: Session
    names: dict[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)

    def families(self) -> dict[str, Family]:
        """Return the compiles of each root function and of its resume functions, by the root's key, in order."""
        by_root: dict[str, Family] = {root.key: [] for root in self.session.roots()}
        for function, compiled in self.session.compiles():
            by_root[function.root].append((function, compiled))
        return by_root

    def source_of(self, function: Function) -> str:
        """Return the source of a function, or of the function that it resumes; "" without a file."""
        root = self.session.functions[function.root]
        text = self.text(self.session.sources.get(root.filename, ""))
        return function_in(text.splitlines(keepends=True), root.first_line)

    def text(self, file: str) -> str:
        """Return the text of a file of the dump, or ""."""
        if file in self.texts:
            return self.texts[file]
        path = self.directory / file
        if file and path.is_file():
            return path.read_text(encoding="utf-8", errors="replace")
        return archived(self.directory).get(file, "") if file in self.session.packed else ""


def read_run(directory: Path) -> Run:
    """Return the run that a dump describes.

    Raises:
        OSError: the directory has no index.
        ValueError: the index is not depyf's.
    """
    if has_log(directory):
        return _run_of(directory, load_index(directory))
    # Read the file twice through one handle, because another file may replace it in the meantime.
    with open(directory / INDEX, "rb") as file:
        return _run_of(directory, _read_on_demand(file))


def _run_of(directory: Path, index: Json) -> Run:
    try:
        names = {source["path"]: source["file"] for source in index.get("sources", ())}
        run = Run(directory, session_of(index), names)
    except KeyError as error:
        raise ValueError(f"{directory / INDEX} is no index of depyf's: it has no {error}") from error
    except (TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{directory / INDEX} is no index of depyf's: {error}") from error
    for function in run.session.functions.values():
        # Explanations of recompiles and breaks need the source. A long run has thousands of functions.
        if any(isinstance(compiled.trigger, Recompile) or compiled.breaks for compiled in function.compiles):
            root = run.session.functions[function.root]
            root.source = root.source or run.source_of(root)
    return run


def has_index(directory: Path) -> bool:
    """Return whether a directory has the index of a finished or running run."""
    return has_log(directory) or (directory / INDEX).is_file()


def index_file(directory: Path) -> Path:
    """Return the file of a directory that has the index. For a running or killed run, that is the log."""
    return directory / (LOG if has_log(directory) else INDEX)


def changed_at(directory: Path) -> float:
    """Return when the index of a directory was last written, in seconds since the epoch."""
    return index_file(directory).stat().st_mtime


def load_index(directory: Path) -> Json:
    """Return the index of a run. For a running or killed run, read it from the log.

    Raises:
        OSError: the directory has no index.
        ValueError: the index is damaged.
    """
    if has_log(directory):
        return read_log(directory)
    try:
        content: Json = json.loads((directory / INDEX).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{directory / INDEX} is damaged: {error}") from error
    return content


def read_session(directory: Path) -> Session:
    """Return the session in the index of a directory.

    Raises:
        OSError: there is none in the directory.
        ValueError: it is damaged.
    """
    return session_of(load_index(directory))


def _read_on_demand(file: BinaryIO) -> Json:
    """Return an index whose functions are parsed on demand: as data, 10,000 compiles are much larger than as text.

    Raises:
        ValueError: the index is damaged.
    """
    kept: list[bytes] = []
    is_inside = is_ours = False
    for line in file:
        is_inside = (is_inside or line.startswith(_FUNCTIONS)) and not line.startswith(_ORDER)
        is_ours = is_ours or is_inside
        if not is_inside:
            kept.append(line)
    file.seek(0)
    try:
        index: Json = json.loads(file.read() if is_inside else b"".join(kept))
    except ValueError as error:
        raise ValueError(f"{file.name} is damaged: {error}") from error
    if is_ours and not is_inside:
        index["functions"] = _functions(file)
    return index


# JSON strings contain no line breaks, so the indentation of a line shows its depth.
_FUNCTIONS, _ORDER = b' "functions": [', b' "order": ['
_LAST = b"  }"
"""The last line of a function."""


def _functions(file: BinaryIO) -> Iterator[Json]:
    rows: list[bytes] = []
    lines = dropwhile(lambda line: not line.startswith(_FUNCTIONS), file)
    for line in islice(takewhile(lambda line: not line.startswith(_ORDER), lines), 1, None):
        rows.append(line)
        if line.startswith(_LAST):
            try:
                yield json.loads(b"".join(rows).rstrip(b",\n"))
            except ValueError as error:
                raise ValueError(f"{file.name} is damaged: {error}") from error
            rows.clear()


def session_of(index: Json) -> Session:
    """Return the session that an index describes."""
    others = {row.argument_name: row.read(index) for row in (*OTHER_ROWS.rows, TRACE)}
    session: Session = SESSION_ROWS.read(index, **others)
    order: Order = {}
    for number, text in enumerate(index["order"]):
        order.setdefault(text, []).append(number)
    for root in index["functions"]:
        key = f"{len(session.functions)}"
        session.functions[key] = _function(root, key, key, order)
        for resume in root["resume_functions"]:
            resume_key = f"{len(session.functions)}"
            session.functions[resume_key] = _function(resume, resume_key, key, order)
    session.now = tuple(map(RUNNING_ROWS.read, index.get("now", ())))
    if session.ended and index["schema"] == SCHEMA:
        session.findings = tuple(findings_of(index))
    session.installed = {skip["file"] for skip in index["skipped"] if skip.get("installed")}
    return session


def findings_of(index: Json) -> list[Finding]:
    """Return the findings in an index; none if depyf had no findings yet when it wrote the index."""
    return [FINDING_ROWS.read(row) for row in index.get("findings", ())]


def _function(written: Json, key: str, root: str, order: Order) -> Function:
    function: Function = RESUME_ROWS.read(written, key=key, source="", root=root)
    place = {"name": function.name, "filename": function.filename, "first_line": function.first_line}
    function.compiles = [
        COMPILE_ROWS.read(compile_row, **place, order=order[compile_row["id"]].pop(0))
        for compile_row in written["compiles"]
    ]
    return function
