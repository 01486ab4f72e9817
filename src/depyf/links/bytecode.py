"""Link the lines of a bytecode listing. Python starts a block, with the line number, where the source line changes.

before:
     12           2 LOAD_FAST                0 (a)
                  4 LOAD_GLOBAL              1 (NULL + torch)
after: both instructions came from line 12
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from depyf.links.origins import NOWHERE, Links, Origins, joined

OF_DYNAMO = "Dynamo gave this instruction no line of yours, and the proof links it to no line of the transformed code"
OF_ORIGINAL = "Python's line table has no line for this instruction"

ListedLines = Sequence[Sequence[Sequence[int]]]
"""For each code object in a listing: its instructions by their places in the listing, each with lines of the source."""

_HEADER = re.compile(r"^\S.*, line \d+$")
_NUMBER = re.compile(r"^\s*(\d+)\s")
_INSTRUCTION = re.compile(r"^\s*(?:(?:\d+|--|-->|>>|L\d+:)\s+)*[A-Z]{2}[A-Z0-9_]*(?:\s|$)")
_GRAPH = re.compile(r"\b__compiled_fn_(\d+)\b")


def bytecode_links(text: str, origin: Callable[[int], Origins], note: str) -> Links:
    """Return the origin of each instruction of a listing; `origin` translates a line number in it.

    Args:
        text: the listing, with a header line before each code object.
        origin: returns the origins of a line number of the listing's source.
        note: the note about the links.
    """
    lines: dict[int, Origins] = {}
    current, begins = NOWHERE, False
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or _HEADER.match(line):
            begins = True
            continue
        if begins:
            number_match = _NUMBER.match(line)
            current = origin(int(number_match[1])) if number_match else NOWHERE
            begins = False
        if current:
            lines[number] = current
    return Links(lines, note)


def dynamo_links(
    text: str, listed: ListedLines, transformed: Callable[[int], Origins], graphs: Mapping[int, Origins]
) -> Links:
    """Return the origin of each instruction of Dynamo's code.

    Dynamo gives its instructions no lines. Python's table shows the last line of the user's for them. But the proof
    walks the code and its source in step. An instruction that loads a graph has all lines of the graph.

    Args:
        text: the listing of Dynamo's bytecode.
        listed: the source lines of each instruction, by code object.
        transformed: returns the origins of a line of the source.
        graphs: the origins of each graph, by its number.
    """
    lines: dict[int, Origins] = {}
    section, position = -1, 0
    for number, line in enumerate(text.splitlines(), start=1):
        if _HEADER.match(line):
            section, position = section + 1, 0
            places = {place: rest for place, *rest in listed[section]} if section < len(listed) else {}
        elif section >= 0 and _INSTRUCTION.match(line):
            graph = _GRAPH.search(line)
            if graph is not None and int(graph[1]) in graphs:
                lines[number] = graphs[int(graph[1])]
            elif origins := joined(map(transformed, places.get(position, ()))):
                lines[number] = origins
            position += 1
    return Links(lines, OF_DYNAMO)
