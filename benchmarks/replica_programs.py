"""The replica beside torch over every program of `dynamo_code`: the same entry, the same values and effects.

Each program is loaded twice. The calls of it compile both; then torch serves the calls of the one, and the replica
those of the other, over and over with changed arguments. What torch ran is torch's own word (its callback before
compiled code runs); nothing is compiled meanwhile, and what no entry fits runs as it was written.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree

from benchmarks.bar import Bar, none_of, report
from benchmarks.dynamo_code import MODULES, bits, load
from corpus.dynamo_programs.program import Program
from depyf.model.run import Unavailable
from depyf.torch.adapters import seams
from depyf.torch.adapters.runs import watch_runs
from depyf.torch.capture.live import root_function
from depyf.torch.replica.replica import Replica

ROUNDS = 4
CALLS_AT_LEAST = 1000
NO_ENTRY = "no entry"


@dataclass
class Found:
    """What the calls of a program gave."""

    calls: int = 0
    other_entry: list[str] = field(default_factory=list)
    other_values: list[str] = field(default_factory=list)
    replica: str = ""
    served: int = 0


def _changed(value: object, number: int) -> object:
    """Return an argument for a round: the same, of the other sign, of another size, of another dtype."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    match number % 4:
        case 1:
            return -value
        case 2:
            return torch.cat([value, value]) if value.dim() else value + 1
        case 3:
            return value.double()
    return value.clone()


def calls_of(program: Program) -> Iterator[tuple[object, ...]]:
    """Yield the arguments of all calls, each made anew."""
    for number in range(ROUNDS):
        for arguments in program.calls():
            yield _pytree.tree_map(lambda value, number=number: _changed(value, number), arguments)


def seen(run: Callable[..., object], arguments: tuple[object, ...], program: Program) -> list[object]:
    """Return everything that a call shows."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            value = bits(run(*arguments))
        except Exception as error:  # noqa: BLE001 - an exception is a result like others
            value = [type(error).__name__]
    torch.set_grad_enabled(True)
    return [value, bits(list(arguments)), bits(program.effects()), printed.getvalue()]


def _compile_both(first: Program, second: Program) -> tuple[Callable[..., object], Callable[..., object]]:
    compiled_functions = []
    for program in (first, second):
        # Torch remembers by file and line which sizes have changed; both copies are to begin with none.
        torch._dynamo.pgo.reset_code_state()
        compiled = torch.compile(program.function, backend="eager")
        for arguments in program.calls():
            seen(compiled, arguments, program)
        compiled_functions.append(compiled)
    return compiled_functions[0], compiled_functions[1]


def _number(compile_id: str | None) -> str:
    """Return which entry of its function it is: the functions of the two copies have other frame numbers."""
    return NO_ENTRY if compile_id is None else compile_id.rpartition("/")[2]


def compared(first: Program, second: Program) -> Found:
    """Serve the calls of `first` by torch and those of `second`, its other copy, by the replica."""
    torch._dynamo.reset()
    comparison = Found()
    by_torch, compiled = _compile_both(first, second)
    function, _ = root_function(first.function)
    try:
        replica = Replica(second.function)
    except ValueError as nothing:
        comparison.replica = str(nothing)
        return comparison
    ran: list[types.CodeType] = []
    end = watch_runs(ran.append)
    if isinstance(end, Unavailable):
        raise RuntimeError(end.reason)
    try:
        with seams.without_compiling():
            for ours, theirs in zip(calls_of(first), calls_of(second), strict=True):
                ran.clear()
                expected = seen(by_torch, ours, first)
                entry = _entry_that_ran(function.__code__, list(ran))
                served: list[Any] = []
                result = seen(lambda *args, served=served: _served(replica, args, served), theirs, second)
                comparison.calls += 1
                comparison.served += entry != NO_ENTRY
                if served != [entry]:
                    comparison.other_entry.append(f"call {comparison.calls}: {served} instead of {entry}")
                if result != expected:
                    comparison.other_values.append(f"call {comparison.calls}")
    finally:
        end()
    return comparison


def _served(replica: Replica, args: tuple[object, ...], served: list[Any]) -> object:
    """Call the replica, and note which entry of the function itself served the call."""
    try:
        return replica(*args)
    finally:
        served.append(_number(replica.served[0].entry) if replica.served else "nothing")


def _entry_that_ran(code: types.CodeType, ran: list[types.CodeType]) -> str:
    by_code = {id(entry.code): str(seams.entry_compile_id(entry)) for entry in seams.cache_entries(code)}
    return _number(next((by_code[id(code_object)] for code_object in ran if id(code_object) in by_code), None))


def measure(wanted: list[str]) -> list[Bar]:
    """Compare all programs."""
    entries, values, without, calls, served, programs = [], [], [], 0, 0, 0
    for module in MODULES:
        for first, second in zip(load(module), load(module), strict=True):
            if wanted and first.name not in wanted:
                continue
            comparison = compared(first, second)
            programs += 1
            calls += comparison.calls
            served += comparison.served
            entries += [f"{first.name}: {entry}" for entry in comparison.other_entry]
            values += [f"{first.name}: {value}" for value in comparison.other_values]
            without += [f"{first.name}: {comparison.replica}"] if comparison.replica else []
    nothing = f"{len(without)} of which torch compiles nothing of"
    print(f"{programs} programs, {nothing}; {served} of {calls} calls were served by an entry")
    return [
        Bar("calls", str(calls), calls >= CALLS_AT_LEAST),
        none_of("calls with another entry than torch's", entries, f"{calls}"),
        none_of("calls with other values or effects than torch's", values, f"{calls}"),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", help="only these")
    options = parser.parse_args()
    logging.getLogger("torch").setLevel(logging.ERROR)
    report(measure(options.programs))
