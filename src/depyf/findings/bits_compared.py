"""Compare the hashes of two recorded runs, and find the first tensor that differs.

The calls of a module are counted in each run: its third call is compared with the third call of its partner. What the
first run did first counts as first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.findings.bits_alignment import Pair, Spot, aligned
from depyf.model.bits_log import BitsLog, CallRow, LaunchRow, ModuleRow, ResultRow

EQUAL, DIFFERENT, NOT_COMPARED = "equal", "different", "not compared"


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a module's call with other bits: its name, and the types in both runs."""

    name: str
    types: tuple[str, str]


@dataclass(frozen=True, slots=True)
class KernelDifference:
    """A launch with other bits: the position of the launch in both runs, and of its first result that differs.

    same_code: whether both kernels have the same text, apart from numbers in names; None for a library's kernel.
    """

    launches: tuple[LaunchRow, LaunchRow]
    positions: tuple[Spot, Spot]
    result: ResultRow
    types: tuple[str, str]
    same_code: bool | None


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first difference: in which call of which modules, counted from 0, and the inputs or the kernel.

    equal_before: the launches with equal bits before it. not_compared_before: those that could not be compared.
    inputs_compared: the number of inputs of the call that were compared.
    """

    modules: tuple[ModuleRow, ModuleRow]
    call: int
    equal_before: int
    not_compared_before: int
    inputs_compared: int
    inputs: tuple[Input, ...] = ()
    kernel: KernelDifference | None = None


@dataclass(slots=True)
class ChainLink:
    """A launch of a module in all calls: the number of calls by status, and the first call that differs, or -1."""

    module: ModuleRow
    position: int
    calls: Counter[str] = field(default_factory=Counter)
    first_call: int = -1

    @property
    def launch(self) -> LaunchRow:
        """Return the row of the launch."""
        return self.module.launches[self.position]

    @property
    def status(self) -> str:
        """Return the worst status of a call."""
        return next((status for status in (DIFFERENT, EQUAL) if self.calls[status]), NOT_COMPARED)


@dataclass(slots=True)
class BitsComparison:
    """The comparison of two recorded runs.

    facts: the facts by which the runs differ: the name, and the values in both. calls: the number of calls compared.
    not_compared: what could not be compared, in words.
    """

    logs: tuple[BitsLog, BitsLog]
    facts: dict[str, tuple[str, str]] = field(default_factory=dict)
    calls: int = 0
    chain: dict[tuple[int, int], ChainLink] = field(default_factory=dict)
    pairs: list[Pair] = field(default_factory=list)
    first: FirstDifference | None = None
    not_compared: list[str] = field(default_factory=list)

    def count(self, status: str) -> int:
        """Return the number of launches with a status, over all calls."""
        return sum(link.calls[status] for link in self.chain.values())

    @property
    def is_equal(self) -> bool:
        """Return whether some launches were compared, and all that were compared are equal."""
        return self.first is None and self.count(EQUAL) > 0


def compared(ours: BitsLog, theirs: BitsLog) -> BitsComparison:
    """Compare two recorded runs."""
    comparison = BitsComparison((ours, theirs), different_facts(ours, theirs))
    comparison.pairs = aligned(ours, theirs)
    if _device(ours) != _device(theirs):
        comparison.not_compared.append("every tensor: one run has hashes of a CPU, the other of a GPU")
        return comparison
    partners = {pair.ours.number: pair for pair in comparison.pairs}
    others = {(call.module, call.call): call for call in theirs.calls}
    shapes, lonely = Counter[str](), 0
    for call in ours.calls:
        pair = partners.get(call.module)
        other = others.get((pair.theirs.number, call.call)) if pair is not None else None
        if pair is None or other is None:
            lonely += 1
            continue
        comparison.calls += 1
        _compare_call(comparison, pair, call, other, shapes)
    comparison.not_compared += _lonely(comparison, lonely, len(theirs.calls) - comparison.calls, shapes)
    return comparison


def _device(log: BitsLog) -> bool:
    return bool(log.facts.get("device") == "cpu")


def _compare_call(comparison: BitsComparison, pair: Pair, call: CallRow, other: CallRow, shapes: Counter[str]) -> None:
    """Compare a call of a module with that of its partner.

    Args:
        comparison: what is known of the runs; it gets the statuses of the launches, and the first difference.
        pair: the two modules.
        call: the call of the first run.
        other: the call of the second run.
        shapes: counts the tensors that have another dtype or shape in the second run, by the name of the kernel.
    """
    if comparison.first is None:
        inputs = tuple(_different_inputs(pair, call, other))
        if inputs:
            comparison.first = _first(comparison, pair, call, inputs=inputs)
    for position, hashes in enumerate(call.launches):
        key = (pair.ours.number, position)
        if position >= len(pair.ours.launches):
            continue  # A call with other launches than the first: it raised an exception.
        link = comparison.chain.setdefault(key, ChainLink(pair.ours, position))
        status = NOT_COMPARED
        for index, token in enumerate(hashes):
            spot = pair.results.get((position, index))
            theirs = _token(other, spot)
            if spot is None or not theirs:
                continue
            if type_of(theirs) != type_of(token):
                shapes[link.launch.kernel] += 1
            elif theirs == token:
                status = status if status == DIFFERENT else EQUAL
            else:
                status = DIFFERENT
                if comparison.first is None:
                    kernel = _kernel_difference(pair, ((position, index), spot), (token, theirs))
                    comparison.first = _first(comparison, pair, call, kernel=kernel)
                if link.first_call < 0:
                    link.first_call = call.call
        link.calls[status] += 1


def _token(call: CallRow, spot: Spot | None) -> str:
    if spot is None or spot[0] >= len(call.launches) or spot[1] >= len(call.launches[spot[0]]):
        return ""
    return call.launches[spot[0]][spot[1]]


def token_at(log: BitsLog, module: int, call: int, spot: Spot) -> str:
    """Return the hash of a result, or "" if there is none.

    Args:
        log: the recorded run.
        module: the number of the module.
        call: the number of the call.
        spot: the place of the result in the module.
    """
    rows = (row for row in log.calls if (row.module, row.call) == (module, call))
    return next((_token(row, spot) for row in rows), "")


def type_of(token: str) -> str:
    """Return the dtype and shape of a hash."""
    return token.rpartition(":")[0]


def _different_inputs(pair: Pair, call: CallRow, other: CallRow) -> Iterator[Input]:
    for place, partner in pair.inputs.items():
        if place < len(call.inputs) and partner < len(other.inputs):
            ours, theirs = call.inputs[place], other.inputs[partner]
            if ours != theirs and ours and theirs:
                yield Input(pair.ours.inputs[place], (type_of(ours) or ours, type_of(theirs) or theirs))


def _kernel_difference(pair: Pair, spots: tuple[Spot, Spot], tokens: tuple[str, str]) -> KernelDifference:
    ours, theirs = pair.ours.launches[spots[0][0]], pair.theirs.launches[spots[1][0]]
    same = ours.text == theirs.text if ours.text and theirs.text else None
    types = (type_of(tokens[0]), type_of(tokens[1]))
    return KernelDifference((ours, theirs), spots, ours.results[spots[0][1]], types, same)


def _first(
    comparison: BitsComparison,
    pair: Pair,
    call: CallRow,
    *,
    inputs: tuple[Input, ...] = (),
    kernel: KernelDifference | None = None,
) -> FirstDifference:
    """Return the first difference, with the number of launches before it."""
    before = comparison.count(EQUAL), comparison.count(NOT_COMPARED)
    hashed = sum(bool(call.inputs[place]) for place in pair.inputs if place < len(call.inputs))
    return FirstDifference((pair.ours, pair.theirs), call.call, *before, hashed, inputs, kernel)


def _lonely(comparison: BitsComparison, ours: int, theirs: int, shapes: Counter[str]) -> Iterator[str]:
    """Yield what has no partner in the other run."""
    names = ("the first run", "the second run")
    for number, name in zip((ours, theirs), names, strict=True):
        if number:
            yield f"{number} {'call' if number == 1 else 'calls'} of {name}: the other run has no such call"
    if shapes:
        kernels = ", ".join(f"`{kernel}`" for kernel, _ in shapes.most_common(3))
        yield f"{sum(shapes.values())} tensors with another dtype or shape, such as results of {kernels}"
    for log, name in zip(comparison.logs, names, strict=True):
        if log.stopped:
            yield f"the rest of {name}: {log.stopped}"


def different_facts(ours: BitsLog, theirs: BitsLog) -> dict[str, tuple[str, str]]:
    """Return the facts by which two runs differ: releases, machines, threads, options of Inductor, variables."""
    left, right = dict(_facts(ours)), dict(_facts(theirs))
    names = [*left, *(name for name in right if name not in left)]
    pairs = {name: (left.get(name, _UNSET), right.get(name, _UNSET)) for name in names}
    return {name: values for name, values in pairs.items() if values[0] != values[1]}


_UNSET = "not set"
_PLACES = ("command", "directory", "kept", "set")


def _facts(log: BitsLog) -> Iterator[tuple[str, str]]:
    for name, value in log.facts.items():
        if name == "environment":
            yield from value.items()
        elif name not in _PLACES:
            yield name, str(value)
    options: dict[str, set[str]] = {}
    for module in log.modules.values():
        for name, text in module.options.items():
            options.setdefault(name, set()).add(text)
    yield from ((f"option {name}", ", ".join(sorted(texts))) for name, texts in options.items())
