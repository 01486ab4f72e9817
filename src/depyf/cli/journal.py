"""The journal of the runs over a tree: a run that was stopped goes on where it ended.

The journal is a file beside the folder of sources, with one line of JSON for each file: its path, level, reason,
seconds, and a digest of its content and of the options. A file that failed is tried again.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from depyf.cli.folder import FAILED, Job, Report
from depyf.version import __version__

SUFFIX = ".levels.jsonl"


class Journal:
    """The journal of a folder of sources.

    Args:
        folder: the folder of the files.
        out: the folder of their sources.
    """

    def __init__(self, folder: Path, out: Path) -> None:
        whole = out.resolve()
        self.path = whole.with_name(whole.name + SUFFIX)
        self.folder = folder
        self.digests: dict[Path, str] = {}
        self.known = _read(self.path)

    def earlier(self, job: Job) -> Report | None:
        """Return the report of an earlier run on the same content with the same options; None if there is none."""
        row = self.known.get(self._name(job.path))
        if row is None or row["level"] == FAILED or row["digest"] != self._digest(job) or not job.out.is_file():
            return None
        return Report(job.path, str(row["level"]), str(row["reason"]), float(str(row["seconds"])))

    def note(self, job: Job, report: Report) -> None:
        """Add the report of a file.

        Raises:
            OSError: the journal cannot be written.
        """
        row = {
            "file": self._name(job.path),
            "level": report.level,
            "reason": report.reason,
            "seconds": round(report.seconds, 4),
            "digest": self._digest(job),
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def _name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def _digest(self, job: Job) -> str:
        """Return a digest of a file's content and of the options; of the options alone if it cannot be read."""
        if job.path not in self.digests:
            options = (__version__, job.prove, sorted(job.without), job.as_written)
            digest = hashlib.sha256(repr(options).encode())
            try:
                digest.update(job.path.read_bytes())
            except OSError:
                digest.update(b"unreadable")  # Its job reports why.
            self.digests[job.path] = digest.hexdigest()
        return self.digests[job.path]


def _read(path: Path) -> dict[str, dict[str, object]]:
    """Return the rows of a journal by file, the last one of each; a row that was cut short does not count."""
    rows: dict[str, dict[str, object]] = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                row = json.loads(line)
                rows[row["file"]] = {key: row[key] for key in ("level", "reason", "seconds", "digest")}
            except (ValueError, KeyError, TypeError):
                continue  # The run was stopped while it wrote this row.
    return rows
