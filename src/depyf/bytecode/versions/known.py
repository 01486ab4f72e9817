"""The versions that can be read."""

from __future__ import annotations

import platform

from depyf.bytecode.code import Version
from depyf.bytecode.versions import v3_7, v3_8, v3_9, v3_10, v3_11, v3_12, v3_13, v3_14, v3_15
from depyf.bytecode.versions.facts import Facts
from depyf.errors import DecompilationError

FACTS: dict[Version, Facts] = {
    module.FACTS.table.version: module.FACTS for module in (v3_7, v3_8, v3_9, v3_10, v3_11, v3_12, v3_13, v3_14, v3_15)
}


def facts_of(version: Version, code: str) -> Facts:
    """Return the facts of a version. `code` says what was to be read; raises `DecompilationError` for unknown ones."""
    facts = FACTS.get(version)
    if facts is None:
        known = sorted(FACTS)
        raise DecompilationError(
            "Python {}.{} is not known, only {}.{} to {}.{}".format(*version, *known[0], *known[-1]), code=code
        )
    return facts


def running() -> str:
    """Return what runs this: the implementation and its version, e.g. `CPython 3.11.7`."""
    return f"{platform.python_implementation()} {platform.python_version()}"
