"""The index of a running process: lines are appended as events happen, so that a killed run loses none.

Each line is JSON and is written at once; the last one may be truncated. The number of calls that each entry served
changes with each call. It is in a mapped file of numbers beside the log, which the kernel keeps when the process is
killed. Both files are removed when the complete index is written. `read_log` turns them into the form of `index.json`.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import struct
import time
from collections.abc import Iterable, Iterator
from dataclasses import field
from pathlib import Path

from depyf.bytecode.records import dataclass
from depyf.model.claims import is_running, own_process
from depyf.model.codec import Json, Log, OneLine
from depyf.model.index_json import SCHEMA, function_json
from depyf.model.parts import GuardLines
from depyf.model.run import COMPILE_ROWS, OTHER_ROWS, SESSION_ROWS, Compile, Function, Session
from depyf.model.running_compile import LOG, RUNNING_ROWS, SLOW, RunningCompile

COUNTS = "running.counts"
MOST_COUNTS = 8192
"""The most compiles whose calls are counted in the file. For later compiles the count appears only in the next line."""

_NUMBER = struct.Struct("q")

_UNKNOWN = object()
_ROWS = {how: [row for row in COMPILE_ROWS.rows if row.log is how] for how in Log}


@dataclass(slots=True)
class _Written:
    """The parts of a compile that are in the log."""

    number: int
    parts: dict[str, object] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


def _changed(written: _Written, compiled: Compile) -> Json:
    """Return the parts of a compile that differ from the log."""
    changed: Json = {}
    for row in _ROWS[Log.WHOLE]:
        value = row.get(compiled)
        state = row.form.state(value)
        known = written.parts.get(row.key, row.default if row.is_left_out else _UNKNOWN)
        if known is not state and known != state:
            written.parts[row.key] = state
            changed[row.key] = row.form.write(value)
    return changed


def _added(written: _Written, compiled: Compile, changed: Json, *, again: bool) -> Json:
    """Return the new items of the growing parts of a compile. A part that began again is put into `changed`."""
    added: Json = {}
    for row in _ROWS[Log.GROWS]:
        items = [item for item in row.get(compiled) if row.ready is None or row.ready(item)]
        before = 0 if again else written.counts.get(row.key, 0)
        if len(items) != before or again:
            written.counts[row.key] = len(items)
            is_more = len(items) > before
            into = added if is_more and not again else changed
            into[row.key] = row.form.write(items[before:] if is_more else items)
    return added


class RunningLog:
    """Appends the changes of a session to the log in a directory. Every method may be called from any thread."""

    def __init__(self, directory: Path, session: Session) -> None:
        self._session = session
        self._directory = directory
        self._file = os.open(directory / LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        self._functions: dict[str, Json] = {}
        self._compiles: dict[int, _Written] = {}
        self._other: dict[str, int] = {}
        with open(directory / COUNTS, "w+b") as numbers:
            numbers.truncate(MOST_COUNTS * _NUMBER.size)
            # Never closed: a thread may count a run while the log ends. It goes with the last who counts there.
            self._numbers = memoryview(mmap.mmap(numbers.fileno(), MOST_COUNTS * _NUMBER.size)).cast("q")
        head = SESSION_ROWS.write(session) | {"schema": SCHEMA, "process": own_process(), "ended": False}
        self._append([{"head": head, "clock": time.time(), "since": time.monotonic() - session.entered}])
        for function, compiled in session.compiles():
            self.changed(function, compiled)
            self.count(compiled)

    def changed(self, function: Function, compiled: Compile) -> None:
        """Write the changes of a compile and of its session."""
        lines = [line for line in (self._function(function), self._compile(function, compiled)) if line]
        self._append([*self._others(), *lines])

    def count(self, compiled: Compile) -> None:
        """Write how many calls a compile has served so far."""
        place = self.place_of_count(compiled)
        if place is not None:
            # Add one, because zero means that there is no number.
            self._numbers[place[1]] = (compiled.hits or 0) + 1

    def place_of_count(self, compiled: Compile) -> tuple[memoryview[int], int] | None:
        """Return the numbers that count the calls of a compile, and which of them is its own."""
        written = self._compiles.get(compiled.order)
        return (self._numbers, written.number) if written is not None and written.number < MOST_COUNTS else None

    def session_changed(self) -> None:
        """Write the changes of the session, except for its compiles."""
        self._append(self._others())

    def end(self) -> None:
        """Remove the log, because the complete index exists."""
        os.close(self._file)
        remove_log(self._directory)

    def _append(self, lines: list[Json]) -> None:
        if lines:
            text = "".join(f"{json.dumps(line, default=_content)}\n" for line in lines)
            os.write(self._file, text.encode("utf-8", "backslashreplace"))

    def _function(self, function: Function) -> Json | None:
        content = function_json(function) | {"key": function.key, "root": function.root}
        if self._functions.get(function.key) == content:
            return None
        self._functions[function.key] = content
        return {"function": content}

    def _compile(self, function: Function, compiled: Compile) -> Json | None:
        written = self._compiles.get(compiled.order)
        line: Json = {"compile": compiled.order}
        if written is None:
            written = self._compiles[compiled.order] = _Written(len(self._compiles))
            line |= {"of": function.key, "id": str(compiled.id), "slot": written.number}
        again = written.parts.get("attempts") not in (None, compiled.attempts)
        changed = _changed(written, compiled)
        added = _added(written, compiled, changed, again=again)
        if not changed and not added:
            return None
        return line | {"set": changed, "add": added}

    def _others(self) -> list[Json]:
        lines = []
        for row in OTHER_ROWS.rows:
            value = row.get(self._session)
            if self._other.get(row.key, 0) != len(value):
                self._other[row.key] = len(value)
                lines.append({"session": row.key, "value": row.form.write(value)})
        return lines


def _content(value: object) -> object:
    if isinstance(value, (OneLine, GuardLines)):
        return value.content
    raise TypeError(f"{type(value).__name__} is not JSON")


def remove_log(directory: Path) -> None:
    """Remove the log in a directory, also that of an earlier run."""
    for name in (LOG, COUNTS):
        with contextlib.suppress(FileNotFoundError):
            (directory / name).unlink()


def has_log(directory: Path) -> bool:
    """Return whether a directory has the log of a running or killed run."""
    return (directory / LOG).is_file()


def read_log(directory: Path) -> Json:
    """Return the index of a running or killed run, as far as it has been written.

    Raises:
        OSError: there is no log.
        ValueError: the log is not depyf's.
    """
    path = directory / LOG
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = list(_whole_lines(file))
    if not lines or "head" not in lines[0]:
        raise ValueError(f"{path} is not a log of depyf")
    index: Json = {**lines[0]["head"], "functions": [], "order": [], "findings": [], "trace": None}
    index |= {row.key: {} if row.schema["type"] == "object" else [] for row in OTHER_ROWS.rows}
    functions: dict[str, Json] = {}
    compiles: dict[int, Json] = {}
    for line in lines[1:]:
        _take(line, index, functions, compiles)
    _fill_counts(directory / COUNTS, compiles)
    ordered = sorted(compiles.items())
    index["order"] = [compiled["id"] for _, compiled in ordered]
    index["now"] = _now(lines[0], path, index, functions, [compiled for _, compiled in ordered])
    for _, compiled in ordered:
        functions[compiled.pop("of")]["compiles"].append(compiled)
        compiled.pop("slot")
    _nest(index, functions)
    return index


def _whole_lines(file: Iterable[str]) -> Iterator[Json]:
    """Yield the lines of a log, without a truncated last line."""
    for line in file:
        try:
            yield json.loads(line)
        except ValueError:
            return


def _take(line: Json, index: Json, functions: dict[str, Json], compiles: dict[int, Json]) -> None:
    """Add a line to the index."""
    if "session" in line:
        index[line["session"]] = line["value"]
    elif "function" in line:
        function = line["function"]
        functions[function["key"]] = {**function, "compiles": functions.get(function["key"], {}).get("compiles", [])}
    else:
        compiled = compiles.setdefault(line["compile"], {row.key: [] for row in _ROWS[Log.GROWS]} | {"hits": None})
        compiled |= {name: line[name] for name in ("of", "id", "slot") if name in line} | line["set"]
        for name, items in line["add"].items():
            compiled[name] = [*compiled[name], *items]


def _fill_counts(path: Path, compiles: dict[int, Json]) -> None:
    """Set how many calls each compile has served, or 0 for a finished compile without a number."""
    numbers = path.read_bytes() if path.is_file() else b""
    for compiled in compiles.values():
        at = compiled["slot"] * _NUMBER.size
        count = _NUMBER.unpack_from(numbers, at)[0] if at + _NUMBER.size <= len(numbers) else 0
        compiled["hits"] = count - 1 if count else None


def _now(head: Json, path: Path, index: Json, functions: dict[str, Json], compiles: list[Json]) -> list[Json]:
    """Return the unfinished compiles, with the time that they have run so far or until the last record."""
    alive = is_running(index["process"])
    heard = [
        path_of_record.stat().st_mtime for path_of_record in (path, path.with_name(SLOW)) if path_of_record.is_file()
    ]
    until = time.time() if alive else max(heard)
    return [
        RUNNING_ROWS.write(
            RunningCompile(
                compiled["id"],
                functions[compiled["of"]]["qualname"] or functions[compiled["of"]]["name"],
                compiled["phase"],
                round(max(0.0, until - head["clock"] + head["since"] - (compiled["began"] or 0.0)), 1),
                alive,
            )
        )
        for compiled in compiles
        if compiled.get("phase")
    ]


def _nest(index: Json, functions: dict[str, Json]) -> None:
    """Put resume functions below the functions that they resume."""
    for key, function in functions.items():
        if function["root"] == key or function["root"] not in functions:
            function["resume_functions"] = []
            index["functions"].append(function)
    for key, function in functions.items():
        root = functions.get(function["root"])
        if root is not None and function["root"] != key:
            root["resume_functions"].append(function)
    for function in functions.values():
        del function["key"], function["root"]
