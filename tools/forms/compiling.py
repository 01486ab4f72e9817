"""Sources of cases as a version of Python compiles them: this one, or another that is on this machine."""

from __future__ import annotations

import functools
import sys

from depyf.bytecode.code import Code, Version
from tests.oracles import compiled
from tools.forms.around import code_of, piece_of


@functools.cache
def compiled_piece(source: str, version: Version) -> Code:
    """Return the code of the only definition in a source, else of the module.

    Skips the test that asks where there is no such Python.
    """
    if version == sys.version_info[:2]:
        return code_of(source)
    return piece_of(compiled(source, version), source)
