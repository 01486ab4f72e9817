"""Runs of equal operations in a captured graph: the blocks of a model that are one graph up to names and parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from depyf.bytecode.patterns import pattern
from depyf.bytecode.records import dataclass
from depyf.model.codec import INTEGER, TEXT, Record, Row
from depyf.model.line_row import LINE
from depyf.model.user_line import UserLine

LEAST_BLOCKS, LEAST_OPERATIONS = 4, 5
"""The fewest equal blocks, and the fewest operations of each. A shorter run is a loop over a few tensors."""
MOST_RUNS = 4
"""The most runs of one graph."""
MOST_PERIODS = 12
"""The most lengths of a block that are tried, the most frequent distances of equal operations first."""

PLACE = pattern(r"^ *# File: (?P<file>.*):(?P<line>\d+) in (?P<function>[^,]*)(?:, code:.*)?$")
_NAME = pattern(r"(?<![.\w])[A-Za-z_]\w*\b(?![(=])")
"""A value; not an attribute, a function or the name of an argument."""
_MODULE = "_modules_"
"""In the name of an input, this comes before each part of the path of its module."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """A block of operations that a graph contains several times.

    first, last: the paths of the modules whose parameters the first and the last block use; "" without parameters.
    operations: those of one block. `whole` is the number of all operations of the graph.
    where: the line of the block's first operation.
    """

    first: str
    last: str
    blocks: int
    operations: int
    whole: int
    where: UserLine | None


REPEAT_ROWS = Record(
    Repeat,
    Row("first", TEXT, about="The path of the module of the first block, or empty."),
    Row("last", TEXT),
    Row("blocks", INTEGER),
    Row("operations", INTEGER, about="Operations of one block."),
    Row("whole", INTEGER, about="Operations of the graph."),
    Row("where", LINE),
)


class _Node(NamedTuple):
    name: str
    token: str
    """The operation with all names of values left out."""
    operands: tuple[str, ...]
    where: UserLine | None


def repeats_in(text: str) -> tuple[Repeat, ...]:
    """Return the runs of equal blocks in the text of a captured graph, the longest first."""
    nodes = _nodes(text)
    tokens = [node.token for node in nodes]
    repeats: list[Repeat] = []
    while len(repeats) < MOST_RUNS and len(nodes) >= LEAST_BLOCKS * LEAST_OPERATIONS:
        run = _longest_run(tokens)
        if run is None:
            break
        begin, slack, period, blocks = run
        starts = range(begin, begin + slack + 1)
        candidates = [repeat for start in starts if (repeat := _repeat(nodes, start, period, blocks)) is not None]
        repeats += sorted(candidates, key=lambda repeat: (-repeat.blocks, not repeat.first))[:1]
        for index in range(begin, begin + blocks * period):
            tokens[index] = str(index)  # it belongs to no other run
    return tuple(repeats)


def reads_an_input(text: str, repeat: Repeat) -> bool:
    """Return whether the first block of a run works on an input of the graph, and not on what an operation returns.

    Such an input needs no gradient where the results of the other blocks do.
    """
    nodes = _nodes(text)
    names = {node.name for node in nodes}
    first = next((node for node in nodes if node.where == repeat.where), None)
    return first is not None and names.isdisjoint(first.operands)


def _nodes(text: str) -> list[_Node]:
    """Return the operations of a graph in order. A copy of an input is none."""
    nodes: list[_Node] = []
    defined: set[str] = set()
    where, at = None, ""
    for line in text.splitlines():
        if "# File: " in line:
            place = PLACE.match(line)
            if place is not None:
                where = UserLine(place["file"], int(place["line"]), "", place["function"])
                at = f"{where.filename}:{where.line}"
            continue
        head, equals, rest = line.partition(" = ")
        if not equals or not head.startswith("        "):
            continue
        name, _, kind = head.strip().partition(": ")
        if not rest.isidentifier():
            value = rest.partition(";  ")[0]
            operands = tuple(name for name in _NAME.findall(value) if name in defined)
            token = _NAME.sub(lambda match: "%" if match[0] in defined else match[0], value)
            nodes.append(_Node(name, f"{at} {kind} {token}", operands, where))
        defined.add(name)
    return nodes


def _longest_run(tokens: Sequence[str]) -> tuple[int, int, int, int] | None:
    """Return where blocks of equal tokens begin, how much later they may, their length, and their number."""
    last: dict[str, int] = {}
    distances: Counter[int] = Counter()
    for index, token in enumerate(tokens):
        if token in last:
            distances[index - last[token]] += 1
        last[token] = index
    best: tuple[int, int, int, int] | None = None
    for period in sorted(distances, key=lambda distance: -distances[distance])[:MOST_PERIODS]:
        if period < LEAST_OPERATIONS:
            continue
        begin, length = max(_runs(tokens, period), key=lambda run: run[1])
        blocks = length // period + 1
        if blocks >= LEAST_BLOCKS and (best is None or (blocks * period, -period) > (best[2] * best[3], -best[2])):
            best = begin, length % period, period, blocks
    return best


def _runs(tokens: Sequence[str], period: int) -> Iterator[tuple[int, int]]:
    """Yield the beginning and the length of each stretch in which every token is the one a period later."""
    begin = 0
    for index in range(len(tokens) - period):
        if tokens[index] != tokens[index + period]:
            yield begin, index - begin
            begin = index + 1
    yield begin, len(tokens) - period - begin


def _repeat(nodes: Sequence[_Node], start: int, period: int, blocks: int) -> Repeat | None:
    """Return the longest run of blocks from a place on that are equal up to names and parameters."""
    parts = [nodes[start + number * period : start + (number + 1) * period] for number in range(blocks)]
    run = max((list(equal) for _, equal in groupby(parts, _flow)), key=len)
    if len(run) < LEAST_BLOCKS:
        return None
    first, last = _labels([_path(part) for part in run])
    return Repeat(first, last, len(run), period, len(nodes), run[0][0].where)


def _labels(paths: Sequence[Sequence[str]]) -> tuple[str, str]:
    """Return the paths of the first and the last block down to the part that differs, or "" if some are equal.

    >>> _labels([["layers", "0", "mlp"], ["layers", "1", "mlp"]])
    ('layers.0', 'layers.1')
    """
    shortest = min(map(len, paths))
    part = next((index for index in range(shortest) if len({path[index] for path in paths}) == len(paths)), None)
    if part is None:
        return "", ""
    return ".".join(paths[0][: part + 1]), ".".join(paths[-1][: part + 1])


def _flow(part: Sequence[_Node]) -> tuple[tuple[int, ...], ...]:
    """Return how values flow through a block, with each name replaced by the order of its first use."""
    numbers: dict[str, int] = {}
    rows = []
    for node in part:
        rows.append(tuple(numbers.setdefault(name, len(numbers)) for name in (*node.operands, node.name)))
    return tuple(rows)


def _path(part: Sequence[_Node]) -> list[str]:
    """Return the path of the module that holds all parameters of a block."""
    inputs = {name for node in part for name in node.operands if "_parameters_" in name and _MODULE in name}
    paths = [_module_path(name) for name in inputs] or [[]]
    shortest = min(map(len, paths))
    end = next((index for index in range(shortest) if len({path[index] for path in paths}) > 1), shortest)
    return paths[0][:end]


def _module_path(name: str) -> list[str]:
    """Return the path of the module that holds a parameter, from the name of an input.

    >>> _module_path("l_self_modules_layers_modules_3_modules_self_attn_parameters_weight_")
    ['layers', '3', 'self_attn']
    """
    return name.partition("_parameters_")[0].split(_MODULE)[1:]
