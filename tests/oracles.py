"""One oracle for all tests: an interpreter of each version is started once."""

from __future__ import annotations

import atexit
import functools
from pathlib import Path

from depyf.bytecode.code import Code
from depyf.verify.candidate.oracle import Oracle
from tests import interpreters


@functools.cache
def oracle(version: tuple[int, int]) -> Oracle:
    """Return an oracle that finds a version; skips the test without one."""
    oracle_ = Oracle(folders=(str(Path(interpreters.need(version)).parent),))
    atexit.register(oracle_.close)
    return oracle_


def compiled(source: str, version: tuple[int, int]) -> Code:
    """Return a source as a version compiles it; skips the test without one."""
    return oracle(version).compile(source, version)
