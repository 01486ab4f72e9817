"""The ids by which a reader asks for more: of findings, compiles, guards, and files, whole or from a line on."""

from __future__ import annotations

import re

from depyf.bytecode.records import dataclass
from depyf.findings import Finding
from depyf.views.sarif import fingerprint

_LENGTH = 8
_SECTION = re.compile(r"(?P<name>.+?)(?::(?P<first>\d+)(?:-(?P<last>\d*))?)?$", re.DOTALL)
GUARDS = ":guards"
"""The end of the id of a compile's guards."""
FINDINGS, COMPILES = "findings", "compiles"
"""The ids of the two lists."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of something with lines: its name, its first line from 1, and its last line, or None for the rest."""

    name: str
    first: int = 1
    last: int | None = None


def finding_id(finding: Finding) -> str:
    """Return the id of a finding. It is the same in every run, also after the line has moved.

    SARIF results have the same identity, in full.
    """
    return f"f-{fingerprint(finding)[:_LENGTH]}"


def section_of(text: str) -> Section:
    """Return the part that an id names.

    >>> section_of("index.md:12-20"), section_of("0/0:guards:51-")
    (Section(name='index.md', first=12, last=20), Section(name='0/0:guards', first=51, last=None))
    >>> section_of("train.py:7")
    Section(name='train.py', first=7, last=7)
    """
    section = _SECTION.match(text)
    if section is None or section["first"] is None:
        return Section(text)
    first = int(section["first"])
    ends_there = "-" not in text[section.end("first") :]
    return Section(section["name"], first, first if ends_there else int(section["last"]) if section["last"] else None)


def rest_id(name: str, first: int) -> str:
    """Return the id of the rest of something, from a line on."""
    return f"{name}:{first}-"
