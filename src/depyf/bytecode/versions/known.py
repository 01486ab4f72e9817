"""The versions that can be read."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from importlib import import_module

from depyf.bytecode.code import Version
from depyf.bytecode.versions.facts import Facts
from depyf.errors import DecompilationError

OLDEST, NEWEST = 7, 15


class _Known(Mapping[Version, Facts]):
    """Facts by version, each read on first use."""

    def __init__(self) -> None:
        self._read: dict[Version, Facts] = {}

    def get(self, version: Version, default: Facts | None = None) -> Facts | None:  # type: ignore[override]
        """Return the facts of a version, or the default for an unknown one."""
        return self._read.get(version) or super().get(version, default)

    def __getitem__(self, version: Version) -> Facts:
        if version[0] != 3 or not OLDEST <= version[1] <= NEWEST:
            raise KeyError(version)
        facts = import_module(f"depyf.bytecode.versions.v3_{version[1]}").FACTS
        assert isinstance(facts, Facts)
        self._read[version] = facts
        return facts

    def __iter__(self) -> Iterator[Version]:
        return ((3, minor) for minor in range(OLDEST, NEWEST + 1))

    def __len__(self) -> int:
        return NEWEST - OLDEST + 1


FACTS = _Known()


def facts_of(version: Version, code: str) -> Facts:
    """Return the facts of a version. Raises `DecompilationError` for unknown versions; `code` names the input."""
    facts = FACTS.get(version)
    if facts is None:
        known = sorted(FACTS)
        raise DecompilationError(
            "Python {}.{} is not known, only {}.{} to {}.{}".format(*version, *known[0], *known[-1]), code=code
        )
    return facts


def running() -> str:
    """Return the running implementation and its version, e.g. `CPython 3.11.7`."""
    return f"{platform.python_implementation()} {platform.python_version()}"
