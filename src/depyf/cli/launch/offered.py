"""The line at the end of a run that says what `depyf fix` would try."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from depyf.cli.launch.settings import Settings
from depyf.cli.launch.summary import summarised
from depyf.model.counts import counted

DEFAULT = "depyf_output"
"""The directory of a dump if no other was given."""


def offered(directory: Path, called: Path, began: float, settings: Settings, command: Sequence[str]) -> Iterator[str]:
    """Yield a line with the command of `depyf fix` for this run, if it has an edit to try.

    Without LibCST there is none.

    Args:
        directory: the dump.
        called: the dump as the user wrote it.
        began: when the run began, in seconds since the epoch.
        settings: the options of the run.
        command: `-m` if the target is a module, the target, and its arguments.
    """
    summary = summarised(directory, began)
    if command[0] == "-" or not any(finding.severity != "low" for finding in summary.findings):
        return
    try:
        from depyf.fix.offer import offer
    except ImportError:
        return
    beside = [Path.cwd(), *([] if command[0] == "-m" else [Path(command[0]).parent])]
    available = offer(summary.places, beside)
    if available.edits:
        options = ["--backend", settings.backend] if settings.backend else []
        options += [] if str(called) == DEFAULT else ["-o", str(called)]
        typed = shlex.join(["depyf", "fix", *options, *command])
        edits, findings = counted(available.edits, "edit"), counted(available.findings, "finding")
        yield f"depyf: `{typed}` would try {edits} for {findings}"
