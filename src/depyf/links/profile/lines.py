"""Find the user's line of each operation outside compiled code, from steps in which lines were marked.

before: a marked step has the events `depyf: line a.py:12`, `aten::relu`, `depyf: line a.py:13`, `aten::sum`
after: the first operation of a step belongs to line 12 and the second to line 13, also in steps without marks
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher

from depyf.links.origins import Origin
from depyf.links.profile.charges import operations
from depyf.links.profile.events import LINE, Event, Period, periods
from depyf.links.profile.tree import Node, trees
from depyf.model.user_source import short_path

Usual = list[tuple[str, Origin | None]]
"""The operations of a step by name, each with its line if known."""


def lines_of_operations(lined: Iterable[Event], mark: str, names: Mapping[str, str]) -> Usual:
    """Return the operations of a marked step and their lines. If steps differ, use the most frequent form.

    Args:
        lined: the events of the steps that ran with marks of lines.
        mark: the name of the mark that begins a step.
        names: the index's names of files.
    """
    forms = [tuple(operations_with_lines(period, names)) for period in periods(lined, mark)] if mark else []
    return list(Counter(forms).most_common(1)[0][0]) if forms else []


def placed(usual: Usual, roots: list[Node]) -> dict[Node, Origin]:
    """Return the line of each operation of a step, taken from the same operation in a marked step."""
    ran = operations(roots)
    names, known = [node.event.name for node in ran], [name for name, _ in usual]
    if names == known:
        pairs = list(zip(ran, usual, strict=True))
    else:
        blocks = SequenceMatcher(None, known, names, autojunk=False).get_matching_blocks()
        pairs = [(ran[block.b + at], usual[block.a + at]) for block in blocks for at in range(block.size)]
    return {node: line for node, (_, line) in pairs if line is not None}


def operations_with_lines(period: Period, names: Mapping[str, str]) -> Usual:
    """Return the operations of a marked step by name, each with its line."""
    return [(event.name, line) for event, line in with_lines(period, names)]


def with_lines(period: Period, names: Mapping[str, str]) -> list[tuple[Event, Origin | None]]:
    """Return the operations of a marked step, each with the last line marked before it."""
    marks = [event for event in period.events if event.name.startswith(LINE)]
    threads = {event.thread for event in marks}
    roots = trees(event for event in period.events if event.thread in threads and not event.is_mark)
    placed_operations: list[tuple[Event, Origin | None]] = []
    number, line = 0, None
    for node in operations(roots):
        while number < len(marks) and marks[number].start <= node.event.start:
            line = place_of(marks[number].name, names)
            number += 1
        placed_operations.append((node.event, line))
    return placed_operations


def place_of(mark: str, names: Mapping[str, str]) -> Origin:
    """Return the place that a line mark names."""
    file, _, line = mark.removeprefix(LINE).rpartition(":")
    return names.get(file) or short_path(file), int(line)
