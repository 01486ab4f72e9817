"""Lines of a listing of bytecode: Python begins a block, with the number of the line, where the source line changes.

before:
     12           2 LOAD_FAST                0 (a)
                  4 LOAD_GLOBAL              1 (NULL + torch)
after: both instructions came from line 12
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from depyf.report.links.origins import NOWHERE, Links, Origins

OF_DYNAMO = "Dynamo wrote this instruction and gave it no line of yours"

_HEADER = re.compile(r"^\S.*, line \d+$")
_NUMBER = re.compile(r"^\s*(\d+)\s")
_GRAPH = re.compile(r"\b__compiled_fn_(\d+)\b")


def bytecode_links(text: str, origin: Callable[[int], Origins], note: str) -> Links:
    """Return where each instruction of a listing came from; `origin` says what a line number in it stands for."""
    lines: dict[int, Origins] = {}
    current, begins = NOWHERE, False
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or _HEADER.match(line):
            begins = True
            continue
        if begins:
            found = _NUMBER.match(line)
            current = origin(int(found[1])) if found else NOWHERE
            begins = False
        if current:
            lines[number] = current
    return Links(lines, note)


def dynamo_links(text: str, origin: Callable[[int], Origins], graphs: Mapping[int, Origins], first_line: int) -> Links:
    """Return where each instruction of Dynamo's code came from.

    Only the first instruction of a block is known to be the user's: those that Dynamo writes after it have no line, and
    Python's table of lines carries the last one on to them. What loads a graph came from all lines of that graph.
    """
    lines: dict[int, Origins] = {}
    begins = False
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or _HEADER.match(line):
            begins = True
            continue
        found, graph = _NUMBER.match(line) if begins else None, _GRAPH.search(line)
        begins = False
        if graph is not None and int(graph[1]) in graphs:
            lines[number] = graphs[int(graph[1])]
        elif found is not None and int(found[1]) != first_line:
            lines[number] = origin(int(found[1]))
    return Links(lines, OF_DYNAMO)
