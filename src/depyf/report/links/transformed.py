"""Lines of a transformed function: the calls in it say which graph runs, and where it goes on.

before:
    lt, x = __compiled_fn_1(a, b)
    # graph break at :13, ...
    return __resume_at_102_2([], [], b, x)  # continues in the user's line 14
after: the first line came from every line of graph 1, the second from line 13, the third from line 14
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from depyf.report.links.origins import Links, Origin, Origins, joined
from depyf.report.names import compiled_fn_number

NOTE = "it only fetches what the graphs take, or brings back what they changed"

_BREAK = re.compile(r"^\s*# graph break at :(\d+)")
_CONTINUES = re.compile(r"# continues in the user's line (\d+)$")


def transformed_links(text: str, graphs: Mapping[int, Origins], breaks: Origins, own_file: str) -> Links:
    """Return where each line of a transformed function's file came from.

    `graphs` has the user's lines of each graph by its number, `breaks` the lines that ended a graph. The lines that
    comments name are of `own_file`.
    """
    rows = text.splitlines()
    found: dict[int, list[Origin]] = {}
    for number, row in enumerate(rows, start=1):
        broke, continues = _BREAK.match(row), _CONTINUES.search(row)
        if broke is not None:
            at = int(broke[1])
            found[number] = [place for place in breaks if place[1] == at] or [(own_file, at)]
        elif continues is not None:
            found[number] = [(own_file, int(continues[1]))]
    lines = {number: frozenset(places) for number, places in found.items()}
    for first, last, origins in _calls(text, graphs):
        for number in range(first, last + 1):
            lines[number] = joined((lines.get(number, frozenset()), origins))
    return Links(lines, NOTE)


def _calls(text: str, graphs: Mapping[int, Origins]) -> Iterator[tuple[int, int, Origins]]:
    """Yield first line, last line and origins of each name that is a graph's, with the call around it."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        name = node.func if isinstance(node, ast.Call) else node
        if isinstance(node, ast.expr) and isinstance(name, ast.Name):
            graph = compiled_fn_number(name.id)
            if graph is not None and graph in graphs:
                yield node.lineno, node.end_lineno or node.lineno, graphs[graph]
