"""Link the lines of Inductor's module, which names beside each kernel call the graph nodes that the kernel computes.

before:
    # [Provenance debug handles] cpp_fused_add_0:1
    cpp_fused_add_0(arg1_1, buf0)
with the mapping {"cpp_fused_add_0:1": ["add"]}, and node `add` of the graph from line 12
after: the call, the text of the kernel, and the allocation of `buf0`, which the call uses, are linked to line 12
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.links.graphs import STALE
from depyf.links.kernel_inputs import input_lines
from depyf.links.origins import NOWHERE, Links, Origin, Origins, joined

NOTE = "Inductor links no line of yours to it, and no linked kernel uses it; much of it is the same for every graph"
UNTOLD = "Inductor did not record which nodes a kernel computes: set INDUCTOR_PROVENANCE=1, as `depyf run` does"

_HANDLE = re.compile(r"^\s*(?:#|//) \[Provenance debug handles\] (?P<handle>\S+:\d+)\s*$")
_DEFINED = re.compile(r"^(?P<name>[A-Za-z_]\w*) = async_compile\.\w+\(")
_FRAME = re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>\d+)')
_STREAM = " = get_raw_stream("
_ENDS = re.compile(r"^'''")
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
_FUNCTION = re.compile(r"^\s*def \w+\(")
_BUFFER = re.compile(r"^\s+(?:(?:del |assert_size_stride\(|assert_alignment\()(?P<used>\w+)\b|(?P<made>\w+) = )")


@dataclass(frozen=True, slots=True)
class Computed:
    """Inductor's record of one kernel call: the graph nodes that it computes, and their stacks."""

    nodes: tuple[str, ...] = ()
    stacks: tuple[str, ...] = ()

    def origins(
        self, nodes: Mapping[str, Origins], names: Mapping[str, str], moved: Mapping[Origin, Origin]
    ) -> Origins:
        """Return its origins: by its nodes, else by the innermost line of each stack, moved to its current place.

        Args:
            nodes: the origins of the lowered graph's nodes.
            names: the index's names of files.
            moved: the current places for the places in a cache.
        """
        by_nodes = joined(nodes.get(name, NOWHERE) for name in self.nodes)
        innermost = (_innermost(stack, names) for stack in self.stacks if _FRAME.search(stack))
        return by_nodes or frozenset(moved.get(place, place) for place in innermost)


def kernel_links(
    text: str,
    computed: Mapping[str, Computed] | None,
    nodes: Mapping[str, Origins],
    names: Mapping[str, str],
    captured: Origins | None = None,
    moved: Mapping[Origin, Origin] = MappingProxyType({}),
    inside: Mapping[int, Origins] | None = None,
) -> Links:
    """Return the origin of each line of Inductor's module.

    Args:
        text: Inductor's module.
        computed: the record of each call by its handle; None if Inductor did not write it.
        nodes: the origins of the nodes of the lowered graph.
        names: the index's names of files.
        captured: the places of the captured graph. Other places come from a cache.
        moved: the current places for the places in the cache.
        inside: the lines inside kernels for which more is known than the links of their kernel.
    """
    if computed is None:
        return Links({}, UNTOLD)
    rows = text.splitlines()
    # Inductor's record of a backward may also contain the previous one.
    called = {match["handle"] for match in map(_HANDLE.match, rows) if match is not None}
    handles = {handle: call.origins(nodes, names, moved) for handle, call in computed.items() if handle in called}
    if captured and not joined(handles.values()) <= captured:
        return Links({}, STALE)
    kernels: dict[str, Origins] = {}
    for handle, origins in handles.items():
        name = handle.rpartition(":")[0]
        kernels[name] = joined((kernels.get(name, NOWHERE), origins))
    lines = {number: origins for number, origins in _calls(rows, handles) if origins}
    for number, origins in _buffers(rows, lines):
        lines.setdefault(number, origins)
    lines.update((number, origins) for number, origins in input_lines(rows, lines) if origins)
    lines.update((number, origins) for number, origins in _definitions(rows, kernels) if origins)
    for number, origins in (inside or {}).items():
        # A statement of a kernel with several lines belongs to one of them, but it is unknown which.
        if origins or len(lines.get(number, NOWHERE)) > 1:
            lines[number] = origins
    lines = {number: origins for number, origins in lines.items() if origins}
    return Links(lines, NOTE)


def computed_by(stack_traces: str, mappings: str) -> dict[str, Computed] | None:
    """Return what each kernel call computes, from the two texts that Inductor writes; None if it wrote none."""
    stacks, nodes = _loaded(stack_traces), _loaded(mappings)
    computed: dict[str, Computed] = {}
    for handle, recorded in stacks.items():
        # One release writes only the stacks, another one also the nodes.
        if isinstance(recorded, dict):
            computed[handle] = Computed(
                tuple(recorded.get("post_grad_nodes", ())), tuple(recorded.get("stack_traces", ()))
            )
        elif isinstance(recorded, list):
            computed[handle] = Computed((), tuple(recorded))
    by_handle = nodes.get("cppCodeToPost", {})
    for handle, names in by_handle.items() if isinstance(by_handle, dict) else ():
        computed[handle] = Computed(tuple(names), computed.get(handle, Computed()).stacks)
    return computed or None


def _loaded(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text) if text.strip() else {}
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _innermost(stack: str, names: Mapping[str, str]) -> Origin:
    frame = list(_FRAME.finditer(stack))[-1]
    return names.get(frame["file"], frame["file"]), int(frame["line"])


def _calls(rows: list[str], handles: Mapping[str, Origins]) -> Iterator[tuple[int, Origins]]:
    """Yield the lines of the calls that follow a note of Inductor's, from the note to the end of the statement."""
    number = 0
    while number < len(rows):
        handle = _HANDLE.match(rows[number])
        number += 1
        if handle is None:
            continue
        origins = handles.get(handle["handle"], NOWHERE)
        yield number, origins
        depth, is_call = 0, False
        while number < len(rows):
            row = rows[number]
            number += 1
            yield number, origins
            depth += row.count("(") - row.count(")")
            # A comment or a stream may stand between the note and the call, which begins with the first bracket.
            is_call = is_call or ("(" in row and _STREAM not in row)
            if is_call and depth <= 0:
                break


def _buffers(rows: list[str], called: Mapping[int, Origins]) -> Iterator[tuple[int, Origins]]:
    """Yield the lines that allocate, check or free a buffer, with the origins of the calls that use it.

    before: `buf0 = empty_strided_cpu(...)`, `assert_size_stride(primals_1, ...)`, `del buf0`
    """
    needed: dict[str, Origins] = {}
    for number in called:
        for name in _NAME.findall(rows[number - 1]) if not rows[number - 1].lstrip().startswith("#") else ():
            needed[name] = joined((needed.get(name, NOWHERE), called[number]))
    functions = list(itertools.accumulate(bool(_FUNCTION.match(row)) for row in rows))
    calling = {functions[number - 1] for number in called}
    for number in range(len(rows), 0, -1):
        buffer = _BUFFER.match(rows[number - 1])
        if buffer is None or number in called or functions[number - 1] not in calling:
            continue
        origins = needed.get(buffer["used"] or buffer["made"], NOWHERE)
        if origins:
            yield number, origins
        for name in _NAME.findall(rows[number - 1].partition(" = ")[2]) if buffer["made"] else ():
            # A view belongs to the calls that use it, and so does its base.
            needed[name] = joined((needed.get(name, NOWHERE), origins))


def _definitions(rows: list[str], kernels: Mapping[str, Origins]) -> Iterator[tuple[int, Origins]]:
    """Yield the lines of each kernel's own text."""
    origins = NOWHERE
    for number, row in enumerate(rows, start=1):
        definition = _DEFINED.match(row)
        if definition is not None:
            origins = kernels.get(definition["name"], NOWHERE)
        if origins:
            yield number, origins
        if _ENDS.match(row):
            origins = NOWHERE
