"""Lines of Inductor's module: it says beside each call of a kernel which nodes of the graph the kernel computes.

before:
    # [Provenance debug handles] cpp_fused_add_0:1
    cpp_fused_add_0(arg1_1, buf0)
with the mapping {"cpp_fused_add_0:1": ["add"]}, and node `add` of the graph from line 12
after: the call, and the text of the kernel, came from line 12
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from depyf.report.links.origins import NOWHERE, Links, Origins, joined

NOTE = "Inductor ties no line of yours to it: allocations, imports, and what calls the kernels"
UNTOLD = "Inductor was not asked which nodes a kernel computes: set INDUCTOR_PROVENANCE=1, as `depyf run` does"

_HANDLE = re.compile(r"^\s*(?:#|//) \[Provenance debug handles\] (?P<handle>\S+:\d+)\s*$")
_DEFINED = re.compile(r"^(?P<name>[A-Za-z_]\w*) = async_compile\.\w+\(")
_ENDS = re.compile(r"^'''")


def kernel_links(text: str, mapping: Mapping[str, list[str]] | None, nodes: Mapping[str, Origins]) -> Links:
    """Return where each line of Inductor's module came from.

    `mapping` gives the nodes of the graph that was lowered by the handle of each call, None where Inductor did not
    write it; `nodes` where each of them came from.
    """
    if mapping is None:
        return Links({}, UNTOLD)
    rows = text.splitlines()
    handles = {handle: joined(nodes.get(name, NOWHERE) for name in names) for handle, names in mapping.items()}
    kernels: dict[str, Origins] = {}
    for handle, origins in handles.items():
        name = handle.rpartition(":")[0]
        kernels[name] = joined((kernels.get(name, NOWHERE), origins))
    lines = {number: origins for number, origins in _calls(rows, handles) if origins}
    lines.update((number, origins) for number, origins in _definitions(rows, kernels) if origins)
    return Links(lines, NOTE)


def node_mapping(stack_traces: str, mappings: str) -> dict[str, list[str]] | None:
    """Return the nodes of the graph that each call of a kernel computes, from the two texts that Inductor writes."""
    for text, read in ((stack_traces, _of_stack_traces), (mappings, _of_mappings)):
        try:
            found = read(json.loads(text)) if text.strip() else None
        except (ValueError, AttributeError, TypeError):
            found = None
        if found:
            return found
    return None


def _of_stack_traces(found: Mapping[str, Mapping[str, list[str]]]) -> dict[str, list[str]]:
    return {handle: list(each["post_grad_nodes"]) for handle, each in found.items() if "post_grad_nodes" in each}


def _of_mappings(found: Mapping[str, Mapping[str, list[str]]]) -> dict[str, list[str]]:
    return {handle: list(names) for handle, names in found.get("cppCodeToPost", {}).items()}


def _calls(rows: list[str], handles: Mapping[str, Origins]) -> Iterator[tuple[int, Origins]]:
    """Yield the lines of the calls that follow a note of Inductor's, from the note to the end of the statement."""
    number = 0
    while number < len(rows):
        found = _HANDLE.match(rows[number])
        number += 1
        if found is None:
            continue
        origins = handles.get(found["handle"], NOWHERE)
        yield number, origins
        depth, is_call = 0, False
        while number < len(rows):
            row = rows[number]
            number += 1
            yield number, origins
            depth += row.count("(") - row.count(")")
            is_call = is_call or "(" in row
            # A comment may stand between the note and the call, which begins with the first bracket.
            if is_call and depth <= 0:
                break


def _definitions(rows: list[str], kernels: Mapping[str, Origins]) -> Iterator[tuple[int, Origins]]:
    """Yield the lines of each kernel's own text."""
    origins = NOWHERE
    for number, row in enumerate(rows, start=1):
        found = _DEFINED.match(row)
        if found is not None:
            origins = kernels.get(found["name"], NOWHERE)
        if origins:
            yield number, origins
        if _ENDS.match(row):
            origins = NOWHERE
