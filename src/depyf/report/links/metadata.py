"""Lines of AOTAutograd's metadata that tell of one input or one output of the graph.

before: a graph whose second input is needed by line 13
    ViewAndMutationMeta(input_info=[InputAliasInfo(is_leaf=True,
                                                   mutates_data=False),
                                    InputAliasInfo(is_leaf=True,
                                                   mutates_data=True)],
                        num_intermediate_bases=0)
after: the third and the fourth line, which tell of the second input, are there for line 13
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from depyf.report.links.origins import Links, Origins
from depyf.report.links.transformed import GraphPlaces

NOTE = "it is about the whole graph, or about something that is neither an input nor an output of it"

_LIST = re.compile(r"\b(?P<field>\w+)=\[(?P<element>\w+\()")
_OF_INPUTS = frozenset({"input_info", "subclass_inp_meta"})
_OF_OUTPUTS = frozenset({"output_info"})


def metadata_links(text: str, graph: GraphPlaces) -> Links:
    """Return where each line of the metadata came from; `graph` has inputs and outputs in the order of its lists."""
    lines: dict[int, Origins] = {}
    for field, elements in _lists(text.splitlines()):
        places = graph.inputs if field in _OF_INPUTS else graph.outputs if field in _OF_OUTPUTS else ()
        if len(places) == len(elements):
            told = zip(elements, places, strict=True)
            lines.update((number, origins) for spanned, origins in told if origins for number in spanned)
    return Links(lines, NOTE)


def _lists(rows: list[str]) -> Iterator[tuple[str, list[list[int]]]]:
    """Yield each list of records: the name of its field, and the numbers of the lines of each record."""
    for begin, row in enumerate(rows, start=1):
        found = _LIST.search(row)
        if found is None:
            continue
        column = found.start("element")
        elements = [[begin]]
        for number in range(begin + 1, len(rows) + 1):
            indent = len(rows[number - 1]) - len(rows[number - 1].lstrip())
            # Python's printer puts the records after the first under the bracket or under the first.
            if indent < column - 1:
                break
            if indent <= column and rows[number - 1].lstrip().startswith(found["element"]):
                elements.append([])
            elements[-1].append(number)
        yield found["field"], elements
