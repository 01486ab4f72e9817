"""Copies of the user's files in the dump, so that a later report shows what was compiled."""

from __future__ import annotations

import linecache
import os

from depyf.model.names import file_part
from depyf.model.run import Session
from depyf.trace.directory import Files

SOURCE = "source"
"""The subdirectory for the copies."""


def keep_source(session: Session, dump: Files, filename: str) -> None:
    """Copy a file with compiled code into the dump, once. A file that cannot be read is left out.

    Args:
        session: the run, which records the name of the copy.
        dump: takes the copy.
        filename: the path of the file.
    """
    if filename in session.sources:
        return
    lines = linecache.getlines(filename)
    if not lines:
        return
    stem = file_part(os.path.basename(filename).removesuffix(".py"))
    count = dump.numbers.next(f"{SOURCE}/{stem}")
    name = f"{SOURCE}/{stem}.py" if count == 0 else f"{SOURCE}/{stem}.{count}.py"
    # `linecache` ends every line with a line break, also the last one.
    if dump.write(name, "".join(lines)):
        session.sources[filename] = name
