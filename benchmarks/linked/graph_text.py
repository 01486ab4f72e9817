"""The user's lines that each line of a graph may be linked to, read from the graph's text alone.

A node belongs to the place that the last comment above it names. A line without a place (an input, what is returned, a
node without a stack) may be linked to the places of what needs it, or, where nothing does, of what it is made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

Place: TypeAlias = tuple[str, int]
Places: TypeAlias = frozenset[Place]
NOWHERE: Places = frozenset()

_FILE = re.compile(r"# (?:\w+: .*? )?File: (.*?):(\d+) in ")
"""The comment above nodes; torch writes a note in front where there is one: `# Annotation: {...} File: f.py:3 in f`."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_IN_PLACE = re.compile(r"(\w+) (?:[-+*/%@&|^]|//|\*\*|<<|>>)= ")
"""A statement that changes a tensor: `x += y`."""
_STRING = re.compile(r"'[^']*'|\"[^\"]*\"")


@dataclass
class Row:
    """A line that sets, takes or returns names; `place` is where torch says it came from."""

    number: int
    sets: tuple[str, ...]
    uses: frozenset[str]
    place: Places = NOWHERE


@dataclass
class Section:
    """A function of the graph's text, in order: of the graph called `name`, `indent` columns to the right."""

    name: str = ""
    indent: int = 0
    rows: list[Row] = field(default_factory=list)

    def reached(self, row: Row, *, forward: bool) -> Places:
        """Return the places that are met first from a row, through rows without a place."""
        places: set[Place] = set()
        pending, seen = [row], {row.number}
        while pending:
            for neighbour in self._next(pending.pop(), forward=forward):
                if neighbour.place:
                    places |= neighbour.place
                elif neighbour.number not in seen:
                    seen.add(neighbour.number)
                    pending.append(neighbour)
        return frozenset(places)

    def _next(self, row: Row, *, forward: bool) -> Iterator[Row]:
        for other in self.rows:
            if other is not row and (set(other.uses) & set(row.sets) if forward else set(row.uses) & set(other.sets)):
                yield other


def sections(text: str) -> Iterator[Section]:
    """Yield the functions of a graph's text, with those rows that say something."""
    section, place, in_head, name = Section(), NOWHERE, False, ""
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped.startswith("#"):
            file = _FILE.search(stripped)
            place = frozenset({(file[1], int(file[2]))}) if file else NOWHERE if "No stacktrace" in line else place
        elif stripped.startswith("class "):
            name = _WORD.findall(stripped)[1]
        elif stripped.startswith("def forward("):
            yield section
            section, place, in_head = Section(name, len(line) - len(line.lstrip())), NOWHERE, True
            section.rows += _row_of_head(number, stripped)
        elif in_head and "=" not in stripped and not stripped.startswith("return"):
            section.rows += _row_of_head(number, stripped)
        elif stripped:
            section.rows += _rows_of(number, stripped, place)
        in_head = in_head and not stripped.endswith("):")
    yield section


def _row_of_head(number: int, stripped: str) -> Iterable[Row]:
    bare = _STRING.sub("", stripped.removeprefix("def forward("))
    names = tuple(name for name in _WORD.findall(bare) if name not in ("self", "in", "def"))
    return [Row(number, names, frozenset())] if names else []


def _rows_of(number: int, stripped: str, place: Places) -> Iterable[Row]:
    statement = stripped.partition(";  ")[0]
    bare = _STRING.sub("", statement)
    changed = _IN_PLACE.match(bare)
    if changed:
        return [Row(number, (changed[1],), frozenset(_WORD.findall(bare)), place)]
    left, equals, right = bare.partition(" = ")
    if bare.startswith(("class ", "import ", "from ")):
        return []
    if not equals or bare.startswith("return"):
        return [Row(number, (), frozenset(_WORD.findall(bare)) - {"return"})]
    name = left.partition(":")[0].strip()
    return [Row(number, (name,), frozenset(_WORD.findall(right)), place)]


def places_of_lines(text: str) -> dict[int, Places]:
    """Return for each line of a graph that says something the user's lines that it may be linked to."""
    places: dict[int, Places] = {}
    for section in sections(text):
        for row in section.rows:
            places[row.number] = row.place or section.reached(row, forward=True) or section.reached(row, forward=False)
            if row.place or row.sets:
                continue
            # What is returned came from what made it, and an input that is handed on is there for what needs it.
            makers = [other for other in section.rows if set(other.sets) & row.uses]
            places[row.number] = places[row.number].union(*(places.get(maker.number, NOWHERE) for maker in makers))
    return places


def graphs_inside(text: str) -> set[str]:
    """Return the names of the graphs inside of a graph: they are printed further to the right."""
    _, *all_sections = sections(text)
    return {section.name for section in all_sections if section.indent > min(nested.indent for nested in all_sections)}


def places_of_names(text: str) -> dict[str, Places]:
    """Return the place of each node of a graph, by its name; of a graph inside of it those of all its nodes."""
    _, *all_sections = sections(text)
    inside = graphs_inside(text)
    *_, outer = (section for section in (Section(), *all_sections) if section.name not in inside)
    places = {name: row.place for row in outer.rows for name in row.sets if row.place}
    for section in all_sections:
        if section.name in inside:
            nested_places = NOWHERE.union(*(row.place for row in section.rows))
            places[section.name] = places.get(section.name, NOWHERE) | nested_places
    return places
