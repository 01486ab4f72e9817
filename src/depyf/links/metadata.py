"""Link the lines of AOTAutograd's metadata that describe one input or one output of the graph.

before: line 13 uses the second input of a graph
    ViewAndMutationMeta(input_info=[InputAliasInfo(is_leaf=True,
                                                   mutates_data=False),
                                    InputAliasInfo(is_leaf=True,
                                                   mutates_data=True)],
                        num_intermediate_bases=0)
after: the third and the fourth line, which describe the second input, are linked to line 13
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from depyf.links.origins import Links, Origins
from depyf.links.transformed import GraphPlaces

NOTE = "it describes the whole graph, or something that is neither an input nor an output of it"

_LIST = re.compile(r"\b(?P<field>\w+)=\[(?P<element>\w+\()")
_OF_INPUTS = frozenset({"input_info", "subclass_inp_meta"})
_OF_OUTPUTS = frozenset({"output_info"})


def metadata_links(text: str, graph: GraphPlaces) -> Links:
    """Return the origin of each line of the metadata; `graph` has inputs and outputs in the order of its lists."""
    lines: dict[int, Origins] = {}
    for field, elements in _lists(text.splitlines()):
        places = graph.inputs if field in _OF_INPUTS else graph.outputs if field in _OF_OUTPUTS else ()
        if len(places) == len(elements):
            pairs = zip(elements, places, strict=True)
            lines.update((number, origins) for spanned, origins in pairs if origins for number in spanned)
    return Links(lines, NOTE)


def _lists(rows: list[str]) -> Iterator[tuple[str, list[list[int]]]]:
    """Yield each list of records: the name of its field, and the line numbers of each record."""
    for begin, row in enumerate(rows, start=1):
        head = _LIST.search(row)
        if head is None:
            continue
        column = head.start("element")
        elements = [[begin]]
        for number in range(begin + 1, len(rows) + 1):
            indent = len(rows[number - 1]) - len(rows[number - 1].lstrip())
            # Python's printer aligns the records after the first with the bracket or with the first record.
            if indent < column - 1:
                break
            if indent <= column and rows[number - 1].lstrip().startswith(head["element"]):
                elements.append([])
            elements[-1].append(number)
        yield head["field"], elements
