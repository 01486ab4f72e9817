"""The version of the running interpreter, which made the live code objects."""

from __future__ import annotations

import sys

from depyf.bytecode.code import Version

RUNNING: Version = (sys.version_info[0], sys.version_info[1])


def is_running(version: Version) -> bool:
    """Return whether code of a version is code of this interpreter."""
    return version == RUNNING
