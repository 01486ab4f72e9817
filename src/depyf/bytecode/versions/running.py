"""The version of the interpreter that depyf runs on, which made the live code objects that it reads."""

from __future__ import annotations

import sys

from depyf.bytecode.code import Version

RUNNING: Version = (sys.version_info[0], sys.version_info[1])


def is_running(version: Version) -> bool:
    """Return whether code of a version is code of this interpreter."""
    return version == RUNNING
