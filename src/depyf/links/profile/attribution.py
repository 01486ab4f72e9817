"""Charge every moment of a step once: to the work of the device, or else to the innermost event of the host.

before: the host launches kernel `k` from 0 to 2 and checks guards from 2 to 4; the device runs `k` from 1 to 3
after: 0 to 1 is charged to the launch, 1 to 3 to `k`, 3 to 4 to the guards
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median, quantiles

from depyf.links.origins import Origin
from depyf.links.profile.charges import PYTHON, REST, WAITING, Charge, Charges
from depyf.links.profile.events import (
    CALL,
    Event,
    Period,
    Recording,
    leading_mark,
    pays_for_a_compile,
    periods,
)
from depyf.links.profile.lines import Usual, lines_of_operations, operations_with_lines, placed
from depyf.links.profile.model import Cost, Piece, Profile
from depyf.links.profile.overhead import overhead, without_overhead
from depyf.links.profile.programs import Programs
from depyf.links.profile.tree import spans, trees
from depyf.model.user_source import short_path

COMPILED = "contained a compile"
OUTLIER = "took much longer or shorter than the others"


def profile_of(recording: Recording, programs: Programs, names: Mapping[str, str]) -> Profile:
    """Return where the time of a step went.

    Args:
        recording: the events of the profiler, and the times of bare steps.
        programs: the compiled texts that the events ran.
        names: the index's names for the files in the marks of lines.
    """
    mark = leading_mark(recording.windows)
    steady, left_out = _steady(recording.windows, mark)
    bare = _bare(recording, mark)
    # The same fences for both kinds, because a slow second of the machine would otherwise drop steps of only one kind.
    low, high = _fences([*(step.seconds for step in steady), *bare])
    kept = [step for step in steady if low <= step.seconds <= high]
    if len(kept) < len(steady):
        left_out[OUTLIER] = len(steady) - len(kept)
    profile = Profile(
        each_step=tuple(step.seconds for step in kept),
        bare=tuple(seconds for seconds in bare if low <= seconds <= high),
        left_out=left_out,
        notes=list(recording.notes),
        begins_at=_begin(recording, mark, names),
    )
    if not kept:
        return profile
    usual = lines_of_operations(recording.lined, mark, names)
    pieces = [pieces_of(step, programs, usual) for step in kept]
    measured = costs(pieces)
    events = fmean(len(step.events) for step in kept)
    profile.profiler = overhead(profile.seconds, profile.bare_seconds, events, measured)
    profile.costs = without_overhead(measured, profile.profiler)
    profile.on_device = any(event.is_device for step in kept for event in step.events)
    profile.eager = _eager_lines(recording.eager, mark, names)
    if len(recording.eager_bare) > 1:
        profile.eager_step = median(b - a for a, b in zip(recording.eager_bare, recording.eager_bare[1:]))
    shown = _typical(kept)
    profile.timeline = _joined(pieces[shown])
    return profile


def _begin(recording: Recording, mark: str, names: Mapping[str, str]) -> tuple[str, str, int] | None:
    """Return the compiled function whose call begins each step, or None if the program marks its steps."""
    if not mark.startswith(CALL):
        return None
    number = int(mark.removeprefix(CALL))
    if number >= len(recording.codes):
        return None
    name, file, line = recording.codes[number]
    return name, names.get(file) or short_path(file), line


def _steady(windows: Sequence[Sequence[Event]], mark: str) -> tuple[list[Period], dict[str, int]]:
    steps = [period for window in windows for period in periods(window, mark)] if mark else []
    steady = [step for step in steps if not pays_for_a_compile(step)]
    compiling = len(steps) - len(steady)
    return steady, {COMPILED: compiling} if compiling else {}


def _fences(seconds: Sequence[float]) -> tuple[float, float]:
    """Return the fences of Tukey's box plot. Steps outside them were disturbed, or are other steps."""
    if len(seconds) < 4:
        return 0.0, math.inf
    low, _, high = quantiles(seconds, n=4)
    fence = 1.5 * (high - low)
    return low - fence, high + fence


def _typical(kept: list[Period]) -> int:
    middle = median(period.seconds for period in kept)
    return min(range(len(kept)), key=lambda index: abs(kept[index].seconds - middle))


def _bare(recording: Recording, mark: str) -> list[float]:
    """Return the seconds of the steps without the profiler."""
    code = int(mark.removeprefix(CALL)) if mark.startswith(CALL) else None
    durations: list[float] = []
    for stretch in recording.bare if mark else ():
        begins = [at for number, at in stretch if number == code]
        durations += [second - first for first, second in zip(begins, begins[1:])]
    return durations


def pieces_of(period: Period, programs: Programs, usual: Usual) -> list[Piece]:
    """Return the charge for each moment of a step, in order, without gaps or overlaps.

    Args:
        period: the events of the step.
        programs: the compiled texts that the events ran.
        usual: the operations of a step, each with the user's line; empty if unknown.
    """
    host = [event for event in period.events if not event.is_device and not event.is_mark]
    threads = defaultdict(list)
    for event in host:
        threads[event.thread].append(event)
    # The stepping thread is the one with most time in torch's events, because backward threads wait for it.
    order = sorted(threads, key=lambda thread: not _has_regions(threads[thread]))
    launched_by = {event.launched_by for event in period.events if event.is_device}
    by_number: dict[int, Charge] = {}
    forwards: dict[int, Charge] = {}
    layers: list[list[Piece]] = []
    for thread in order:
        roots = trees(threads[thread])
        charges = Charges(programs, roots, placed(usual, roots) if usual else {}, forwards, launched_by)
        pieces = []
        for span in spans(roots, period.start, period.end):
            charge = charges.of_span(span)
            pieces.append(_piece(period, span.start, span.end, charge))
        by_number.update(charges.by_number())
        layers.append(pieces)
    layers = [_device(period, by_number), *layers]
    if len(layers) == 1:
        return [*_over(layers[0], [Piece(0.0, period.seconds, Charge(PYTHON))])]
    pieces_below = layers[-1]
    for layer in layers[-2::-1]:
        pieces_below = _over(layer, pieces_below)
    return pieces_below


def _eager_lines(events: Sequence[Event], mark: str, names: Mapping[str, str]) -> dict[Origin, tuple[float, ...]]:
    """Return the seconds of each line's operations, including backward, in each step without compiled code."""
    marked = periods(events, mark)
    steps = [pieces_of(period, Programs(), operations_with_lines(period, names)) for period in marked]
    alone = [cost for cost in costs(steps) if len(cost.charge.lines) == 1] if steps else []
    seconds: dict[Origin, tuple[float, ...]] = {}
    for cost in alone:
        (line,) = cost.charge.lines
        before = seconds.get(line, (0.0,) * len(cost.each_step))
        seconds[line] = tuple(a + b for a, b in zip(before, cost.each_step, strict=True))
    return seconds


def _has_regions(events: Sequence[Event]) -> bool:
    return any(event.name.startswith(("Torch-Compiled Region", "TorchDynamo Cache Lookup")) for event in events)


def _piece(period: Period, start: int, end: int, charge: Charge) -> Piece:
    return Piece((start - period.start) / 1e9, (end - period.start) / 1e9, charge)


def _device(period: Period, by_number: Mapping[int, Charge]) -> list[Piece]:
    """Return when the device works, and the charges. If streams overlap, the one that began first counts."""
    pieces: list[Piece] = []
    at = period.start
    for event in sorted((event for event in period.events if event.is_device), key=lambda event: event.start):
        start, end = max(event.start, at), min(event.end, period.end)
        if end > start:
            charge = replace(by_number.get(event.launched_by, Charge(REST)), name=event.name)
            pieces.append(_piece(period, start, end, charge))
            at = end
    return pieces


def _over(upper: list[Piece], lower: list[Piece]) -> list[Piece]:
    """Merge two layers: the upper one counts, except where it has nothing, or only Python or waiting."""
    pieces: list[Piece] = []
    index = 0
    covering = [piece for piece in upper if piece.charge.kind not in (PYTHON, WAITING)]
    for piece in lower:
        at = piece.start
        while index < len(covering) and covering[index].end <= at:
            index += 1
        ahead = index
        while ahead < len(covering) and covering[ahead].start < piece.end:
            over = covering[ahead]
            if over.start > at:
                pieces.append(Piece(at, over.start, piece.charge))
            begin = max(at, over.start)
            pieces.append(Piece(begin, min(over.end, piece.end), over.charge))
            at = min(over.end, piece.end)
            ahead += 1
        if at < piece.end:
            pieces.append(Piece(at, piece.end, piece.charge))
    return pieces


def costs(steps: Sequence[Sequence[Piece]]) -> list[Cost]:
    """Return the cost of each charge, most expensive first."""
    seconds: dict[Charge, list[float]] = {}
    times: dict[Charge, int] = defaultdict(int)
    for number, pieces in enumerate(steps):
        last = None
        for piece in pieces:
            row = seconds.setdefault(piece.charge, [0.0] * len(steps))
            row[number] += piece.end - piece.start
            times[piece.charge] += piece.charge != last
            last = piece.charge
    all_costs = [Cost(charge, tuple(row), times[charge] / len(steps)) for charge, row in seconds.items()]
    return sorted(all_costs, key=lambda cost: -cost.seconds)


def _joined(pieces: Sequence[Piece]) -> list[Piece]:
    """Return pieces, with consecutive pieces of the same charge merged."""
    merged: list[Piece] = []
    for piece in pieces:
        if merged and merged[-1].charge == piece.charge:
            merged[-1] = Piece(merged[-1].start, piece.end, piece.charge)
        else:
            merged.append(piece)
    return merged
