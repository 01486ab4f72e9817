"""The task of one child process: which program to run, with which texts, and what to record of it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

PYTEST = "pytest"
"""The module whose runs read test files as other modules are read, and whose times are not compared."""


@dataclass(frozen=True)
class Plan:
    """A run of the program.

    target: the script, or with `is_module` the name of a module.
    texts: the edited text of each file by its path; the program reads them instead of the files.
    folder: where the dump and the record of the results go.
    directory: the working directory of the run.
    calls: the number of calls of compiled code whose results are recorded. The run stops after these if `stops`.
    is_eager: whether torch compiles nothing.
    backend: the backend to use instead of the program's; empty for the program's own.
    """

    target: str
    arguments: tuple[str, ...]
    folder: str
    directory: str
    is_module: bool = False
    texts: dict[str, str] = field(default_factory=dict)
    calls: int = 50
    stops: bool = False
    is_eager: bool = False
    backend: str = ""

    @property
    def is_pytest(self) -> bool:
        """Return whether the program is pytest."""
        return self.is_module and self.target == PYTEST

    @property
    def dump(self) -> Path:
        """Return the directory of the dump."""
        return Path(self.folder) / "dump"

    @property
    def record(self) -> Path:
        """Return the file with the results of the calls."""
        return Path(self.folder) / "results.pt"

    @property
    def streams(self) -> tuple[tuple[str, int], ...]:
        """Return the paths and the flags to open them of standard input, output and error."""
        written = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        folder = Path(self.folder)
        return (os.devnull, os.O_RDONLY), (str(folder / "stdout"), written), (str(folder / "stderr"), written)

    def write(self) -> Path:
        """Write the plan into its folder, and return its file."""
        file = Path(self.folder) / "plan.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(self)), encoding="utf-8")
        return file


def read_plan(file: Path) -> Plan:
    """Return the plan in a file."""
    fields = json.loads(file.read_text(encoding="utf-8"))
    return Plan(**{**fields, "arguments": tuple(fields["arguments"])})
