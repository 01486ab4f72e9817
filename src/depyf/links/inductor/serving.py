"""Make lines of a kernel's statements, and find the nodes that each line serves."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from depyf.links.inductor.line import Line, pointers_in
from depyf.links.inductor.statements import Statement
from depyf.model.syntax import names_in

_ACCUMULATOR = re.compile(r"tmp_acc\d+")


def linked(
    followed: list[tuple[Statement, int | None]],
    aliases: Mapping[str, str],
    computes: list[tuple[str, ...]],
    in_parts: frozenset[str],
    likely: Mapping[int, str],
    doubts: Mapping[int, set[str]],
    before: Callable[[Iterable[str], Collection[str]], set[str]],
) -> list[Line]:
    """Return the lines. A line that gives no whole result serves its `likely` node, or the nodes that need its value.

    Args:
        followed: the statements of the kernel in order, each with its term.
        aliases: the variables that stand for another one.
        computes: the nodes whose result each statement gives.
        in_parts: the nodes that several statements compute together.
        likely: the node that a statement with an unknown value serves, by its index.
        doubts: nodes that a statement may compute instead, by its index.
        before: returns those of some nodes that other nodes need.
    """
    needed: dict[str, dict[str, None]] = {}
    doubted: dict[str, set[str]] = {}
    lines: list[Line] = []
    for index, ((statement, term), computed) in reversed(list(enumerate(zip(followed, computes)))):
        served: dict[str, None] = dict.fromkeys((likely[index],)) if index in likely else {}
        stored = pointers_in(statement.place) if statement.place is not None else statement.targets
        maybe = set[str]()
        for name in (aliases.get(name, name) for name in stored):
            served.update(needed.get(name, {}) if index not in likely else {})
            maybe |= doubted.get(name, set()) if index not in likely and not computed else set()
            if not name.startswith(("_tmp", "tmp_acc")) and statement.place is None:
                needed.pop(name, None)
                doubted.pop(name, None)
        maybe |= before(served, doubts[index]) if index in doubts else set()
        nodes = computed or tuple(served)
        for name in statement.names:
            needed.setdefault(aliases.get(name, name), {}).update(dict.fromkeys(nodes))
            doubted.setdefault(aliases.get(name, name), set()).update(maybe)
        whole = tuple(name for name in computed if name not in in_parts)
        serves, parts = ((), ()) if whole else (computed or tuple(served), computed)
        lines.append(Line(statement, term, whole, serves, tuple(sorted(maybe)), parts=parts))
    return _with_accumulators(lines[::-1])


def _with_accumulators(lines: list[Line]) -> list[Line]:
    """Return lines so that all lines with one accumulator serve the node that it gathers, if there is only one."""
    of_line = [{match[0] for name in _all_names(line) if (match := _ACCUMULATOR.match(name))} for line in lines]
    gathered: dict[str, set[str]] = {}
    for line, names in zip(lines, of_line):
        for name in names:
            gathered.setdefault(name, set()).update(line.computes)
    gathering = []
    for line, names in zip(lines, of_line):
        nodes = {node for name in names for node in gathered[name]}
        is_whole = not line.computes and len(names) == len(nodes) == 1
        gathering.append(replace(line, serves=tuple(nodes)) if is_whole else line)
    return gathering


def _all_names(line: Line) -> list[str]:
    place = line.statement.place
    return [*line.targets, *line.names, *(names_in(place) if place is not None else ())]
