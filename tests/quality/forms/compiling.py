"""Sources of cases as a version of Python compiles them: this one, or another that is on this machine."""

from __future__ import annotations

import functools
import sys

import pytest

from depyf.bytecode.code import Code, Version
from depyf.errors import DecompilationError
from depyf.verify.candidate.oracle import NotCompiled
from tests.oracles import compiled
from tests.quality.forms.around import code_of, piece_of
from tests.quality.forms.changes import MARK as CHANGES
from tests.quality.forms.changes import put_changes
from tests.quality.forms.operations import MARK, put_in


@functools.cache
def compiled_piece(source: str, version: Version) -> Code:
    """Return the code of the only definition in a source, else of the module; with its operations and changes.

    Skips the test that asks where there is no such Python.
    """
    source, mark, rows = source.partition(CHANGES)
    if mark:
        return put_changes(compiled_piece(source, version), rows)
    source, mark, rows = source.partition(MARK)
    if mark:
        return put_in(compiled_piece(source, version), rows)
    if version == sys.version_info[:2]:
        return code_of(source)
    return piece_of(compiled(source, version), source)


def compiled_or_none(source: str, version: Version) -> Code | None:
    """Return the code of a source, or None where that Python does not take it."""
    try:
        return compiled_piece(source, version)
    except (DecompilationError, NotCompiled, SyntaxError, RuntimeError, ValueError, pytest.skip.Exception):
        return None
