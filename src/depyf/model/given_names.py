"""The meaning of names in AOTAutograd's wrappers, as plain data."""

from __future__ import annotations

from depyf.bytecode.records import dataclass


@dataclass(frozen=True, slots=True)
class GivenName:
    """A name that a wrapper reads but does not define: its meaning, and the place of its definition in the dump.

    leads_to: functions of other wrappers, each with its file; if `is_itself`, the one that the name stands for.
    part: `forward` or `backward` if the name stands for the graph itself.
    """

    name: str
    what: str
    leads_to: tuple[tuple[str, str], ...] = ()
    part: str = ""
    is_itself: bool = False


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A function that AOTAutograd wrote around a graph: its callers, and the meaning of its names."""

    name: str
    called_by: str
    given: tuple[GivenName, ...]
