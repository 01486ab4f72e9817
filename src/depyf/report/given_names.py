"""What the names in AOTAutograd's wrappers stand for. Plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GivenName:
    """A name that a wrapper reads and does not make: what it stands for, and where in the dump it goes on.

    `leads_to` are functions of other wrappers, each with its file: where `is_itself`, the one that it stands for.
    `part` is `forward` or `backward` where what is called is the graph itself.
    """

    name: str
    what: str
    leads_to: tuple[tuple[str, str], ...] = ()
    part: str = ""
    is_itself: bool = False


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A function that AOTAutograd wrote around a graph: who calls it, and what it is given."""

    name: str
    called_by: str
    given: tuple[GivenName, ...]
