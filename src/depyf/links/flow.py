"""Link the lines of a graph that torch gives no place: inputs by the nodes that use them, outputs by their nodes.

before:
    def forward(self, L_a_):
        l_a_ = L_a_
        # File: toy.py:12 in toy, code: x = torch.abs(a)
        x = torch.abs(l_a_)
        return (x,)
after: `l_a_` and the output are linked to line 12
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from depyf.bytecode.records import dataclass
from depyf.links.origins import NOWHERE, Origins, joined

_NAME = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*(?!\w*\s*=[^=])(?![\w\"'(])")
_ASSIGNED = re.compile(r"^\s+(?P<name>[A-Za-z_]\w*)(?P<kind>: \"[^\"]*\")? = (?P<value>.*?)(?:;  .*)?$")
_LISTED = re.compile(r"^\s+(?P<name>[A-Za-z_]\w*)(?:: \"[^\"]*\")?,\s*(?:#.*)?$")
_DECLARED = re.compile(r"^\s+(?P<name>[A-Za-z_]\w*): \"[^\"]*\"\s*(?:#.*)?$")
_SIGNATURE = re.compile(r"^\s+def forward\((?:self)?(?P<parameters>.*?)(?P<end>\):)?\s*$")
_RETURN = re.compile(r"^\s+return (?P<value>.*)$")
_ANNOTATION = re.compile(r": \"[^\"]*\"")


@dataclass(frozen=True, slots=True)
class Flow:
    """The links of a graph: `lines` by number, and the places of each input and each output, in order."""

    lines: Mapping[int, Origins]
    inputs: tuple[Origins, ...]
    outputs: tuple[Origins, ...]


def flow(text: str, recorded: Mapping[int, Origins]) -> Flow:
    """Follow the names of a graph; `recorded` has the places that torch records for its lines."""
    rows = text.splitlines()
    needed: dict[str, Origins] = {}
    lines: dict[int, Origins] = {}
    for number in range(len(rows), 0, -1):
        assigned = _ASSIGNED.match(rows[number - 1])
        if assigned is None:
            continue
        origins = recorded.get(number, NOWHERE)
        if not origins and assigned["name"] in needed:
            origins = lines[number] = needed[assigned["name"]]
        for name in _NAME.findall(assigned["value"]) if origins else ():
            needed[name] = joined((needed.get(name, NOWHERE), origins))
    parameters = _parameters(rows)
    lines.update((number, needed[name]) for name, number in parameters if number and name in needed)
    # An input that is passed on to the outputs, for example for a backward, belongs to the lines that use it.
    handed_on = {name: needed[name] for name, _ in parameters if name in needed}
    outputs = _outputs(rows, recorded, lines, handed_on)
    return Flow(lines, tuple(needed.get(name, NOWHERE) for name, _ in parameters), outputs)


def _parameters(rows: list[str]) -> list[tuple[str, int]]:
    """Return the parameters of the graph, each with its own line or 0."""
    parameters: list[tuple[str, int]] = []
    inside = False
    for number, row in enumerate(rows, start=1):
        signature = _SIGNATURE.match(row)
        if signature is not None:
            # The graph itself comes last. Nested graphs are defined before it, with more indentation.
            parameters = [(name, 0) for name in _names(signature["parameters"])]
            inside = signature["end"] is None
            continue
        # A joint graph takes its inputs as two lists and declares them in its body.
        parameter = _LISTED.match(row) if inside else _DECLARED.match(row)
        if parameter is not None and parameter["name"] != "self":
            parameters.append((parameter["name"], number))
        inside = inside and "):" not in row
    return parameters


def _names(parameters: str) -> list[str]:
    return [part.strip() for part in _ANNOTATION.sub("", parameters).split(",") if part.strip()]


def _outputs(
    rows: list[str], recorded: Mapping[int, Origins], lines: dict[int, Origins], handed_on: Mapping[str, Origins]
) -> tuple[Origins, ...]:
    """Return the origins of each output. Record them for the line that returns it, if it has its own line."""
    origins = dict(handed_on)
    outputs: tuple[Origins, ...] = ()
    inside = False
    for number, row in enumerate(rows, start=1):
        assigned, returned, listed = _ASSIGNED.match(row), _RETURN.match(row), _LISTED.match(row)
        if assigned is not None and number in recorded:
            origins[assigned["name"]] = recorded[number]
        elif inside:
            outputs = (*outputs, origins.get(listed["name"], NOWHERE) if listed else NOWHERE)
            inside = listed is not None
            if listed is not None and listed["name"] in origins:
                lines[number] = origins[listed["name"]]
        elif returned is not None and returned["value"].rstrip().endswith(("(", "[")):
            inside, outputs = True, ()
        elif returned is not None:
            values = [part.strip() for part in returned["value"].strip("()[]").split(",")]
            outputs = tuple(origins.get(value, NOWHERE) for value in values if value)
            if joined(outputs):
                lines[number] = joined(outputs)
    return outputs
