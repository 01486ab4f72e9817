"""The file `bits.jsonl` of a run that was recorded with `--bits`: the hashes of all tensors at the edges of kernels.

Each line is a JSON object. The first has the facts of the run. A module of Inductor's has a line before its first call.
Each call has a line with the hashes of its inputs and results. A process that was killed leaves whole lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.model.user_line import UserLine

FILE = "bits.jsonl"
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A result of a launch: the parameter of the kernel, the node of the lowered graph, and the user's line.

    parameter: "" for a library's kernel. node: "" if it is not known.
    origin: the node of the captured graph, or the operation, from which the node comes.
    """

    parameter: str
    node: str
    origin: str = ""
    where: UserLine | None = None


@dataclass(frozen=True, slots=True)
class LaunchRow:
    """A launch: the kernel, a hash of the kernel's text without names ("" for a library's), and its results."""

    kernel: str
    text: str
    results: tuple[ResultRow, ...]


@dataclass(frozen=True, slots=True)
class ModuleRow:
    """A module of Inductor's: a number, torch's compile id, the user's function, and what it runs.

    part: "forward" or "backward". inputs: the names of its inputs, as the program spells them where that is known.
    options: the options of Inductor that were not the default, as text.
    """

    number: int
    compile_id: str
    function: str
    part: str
    inputs: tuple[str, ...]
    launches: tuple[LaunchRow, ...]
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call of a module, counted from 0 for each module: the hashes of its inputs and of the results of each launch.

    An input that is no tensor has its text in place of a hash, and one that has no hash "".
    """

    module: int
    call: int
    inputs: tuple[str, ...]
    launches: tuple[tuple[str, ...], ...]


@dataclass(slots=True)
class BitsLog:
    """The recorded bits of one process: the facts of the run, its modules, and its calls in order.

    facts: see `docs/bits.schema.json`. stopped: why the recording ended before the process did, or "".
    """

    directory: Path
    facts: dict[str, Any] = field(default_factory=dict)
    modules: dict[int, ModuleRow] = field(default_factory=dict)
    calls: list[CallRow] = field(default_factory=list)
    stopped: str = ""


def line_of(row: ModuleRow | CallRow) -> str:
    """Return the line of a module or a call."""
    kind = "module" if isinstance(row, ModuleRow) else "call"
    return json.dumps({"kind": kind, **asdict(row)}, separators=(",", ":")) + "\n"


def facts_line(facts: dict[str, Any]) -> str:
    """Return the first line of a file."""
    return json.dumps({"kind": "run", "schema": SCHEMA, **facts}, separators=(",", ":"), default=str) + "\n"


def stop_line(reason: str) -> str:
    """Return the line that says why nothing more is recorded."""
    return json.dumps({"kind": "stop", "reason": reason}) + "\n"


def read_bits(directory: Path) -> BitsLog:
    """Return the recorded bits of a dump's folder.

    Raises:
        FileNotFoundError: the folder has no recorded bits.
        ValueError: the file has another schema, or no facts.
    """
    log = BitsLog(directory)
    for row in _rows(directory / FILE):
        kind = row.pop("kind")
        if kind == "run":
            if row.pop("schema") != SCHEMA:
                raise ValueError(f"{directory / FILE} was written by another version of depyf")
            log.facts = row
        elif kind == "module":
            log.modules[row["number"]] = _module(row)
        elif kind == "call":
            launches = tuple(tuple(hashes) for hashes in row["launches"])
            log.calls.append(CallRow(row["module"], row["call"], tuple(row["inputs"]), launches))
        elif kind == "stop":
            log.stopped = row["reason"]
    if not log.facts:
        raise ValueError(f"{directory / FILE} has no facts of the run")
    return log


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file. The last line of a process that was killed may be cut off."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.endswith("\n"):
                yield json.loads(line)


def _module(row: dict[str, Any]) -> ModuleRow:
    launches = tuple(
        LaunchRow(launch["kernel"], launch["text"], tuple(map(_result, launch["results"])))
        for launch in row["launches"]
    )
    return ModuleRow(**{**row, "inputs": tuple(row["inputs"]), "launches": launches})


def _result(row: dict[str, Any]) -> ResultRow:
    where = row["where"]
    return ResultRow(**{**row, "where": None if where is None else UserLine(**where)})


def recorded_folders(directory: Path) -> dict[str, Path]:
    """Return the folders of a dump that have recorded bits, by name: `""` for the dump itself, else `rank_0`."""
    paths = [directory / FILE, *sorted(directory.glob(f"*/{FILE}"))]
    folders = (path.parent for path in paths if path.is_file())
    return {"" if folder == directory else folder.name: folder for folder in folders}
