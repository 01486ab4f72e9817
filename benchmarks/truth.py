"""The numbers of a summary against torch's own: its list of compiles, its counters, and the code that Python ran.

    python -m benchmarks.truth              # 106 programs of `corpus/dynamo_programs`, 12 of a public repository
    python -m benchmarks.truth 10           # the first ten of each module
    python -m benchmarks.truth --public     # those of the public repository alone

Each runs with the eager backend. `sys.setprofile` counts the calls of the code that Dynamo made: those are the hits.
In a second run without depyf it counts the calls that run the functions' own code: those are the eager calls, which
depyf counts from Python 3.12 on.
Prints every number that differs, and exits with 1 where one does.

The summary and torch's counters count different things of graph breaks, so three numbers are compared:

- `breaks`, the number of the summary: places with their reasons, against those that TORCH_LOGS=graph_breaks prints.
- `counters["graph_break"]`: torch counts here only breaks at a call, behind which it traces on. Each text counts once.
- `counters["unimplemented"]`: torch counts here branches that depend on data, and breaks for which it skips the rest
  of the frame, generators included, which it refuses before it traces them. Here, too, each text counts once. A text
  that a later one quotes is a step on the way to that one.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import re
import sys
import tempfile
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import torch
from torch._dynamo import convert_frame, exc, symbolic_convert, utils

import depyf
from benchmarks.dynamo_code import MODULES, load, run
from corpus.public_programs import PROGRAMS
from depyf.model.counts import breaks_of
from depyf.model.run import Function, Recompile, Session
from depyf.torch.capture.active import HITS
from depyf.torch.capture.eager_calls import EAGER_CALLS

Numbers = Mapping[str, int]

_LOGS = (symbolic_convert.graph_break_log, convert_frame.graph_break_log, exc.graph_breaks_log)
_PLACE = re.compile(r"in user code at (.*:\d+)$", re.MULTILINE)
_FRAME = re.compile(r'^  File "(.*)", line (\d+)', re.MULTILINE)
_MESSAGE = re.compile(
    r"^Graph Break Reason: (.*?)(?=\n\nStack variable source|\n\nUser code traceback:|\Z)", re.M | re.S
)
_AT_CALL = "Encountered graph break when attempting to trace "
_OF_FRAME = ("Encountered graph break that we cannot resume from.", "Failed to handle graph break gracefully.")
_REFUSED = "an error was suppressed during compilation"
_QUOTED = "\n\n*** While handling this graph break, another graph break occurred: ***"


class Breaks(logging.Handler):
    """Collects the places and reasons of graph breaks, as TORCH_LOGS=graph_breaks prints them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[tuple[str, str]] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Note a break."""
        text = record.getMessage()
        place, frames = _PLACE.search(text), _FRAME.findall(text)
        where = place[1] if place else ":".join(frames[-1]) if frames else ""
        self.found.add((where, message(text)[1].split("\n", 1)[0]))

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Listen in a block."""
        before = [(log, log.level, log.propagate) for log in _LOGS]
        for log in _LOGS:
            log.addHandler(self)
            log.setLevel(logging.DEBUG)
            log.propagate = False
        try:
            yield
        finally:
            for log, level, propagate in before:
                log.removeHandler(self)
                log.setLevel(level)
                log.propagate = propagate


def message(text: str) -> tuple[str, str]:
    """Return the counter in which torch counts a break of this text, and the message that it counts."""
    match = _MESSAGE.search(text)
    whole = without_addresses(match[1]) if match else text
    counter = "graph_break" if whole.startswith(_AT_CALL) else "unimplemented"
    return counter, whole.split("\n\n", 1)[1] if whole.startswith((_AT_CALL, *_OF_FRAME)) else whole


def without_addresses(text: str) -> str:
    """Return a text without addresses of objects, which differ between compiles of one break."""
    return re.sub(r"\b0x[0-9a-f]+\b", "ADDRESS", text)


def counted(counter: str) -> set[str]:
    """Return the texts of a counter of torch's, without those that a later one of it quotes."""
    texts = {without_addresses(text) for text in utils.counters[counter]}
    return {text for text in texts if not any(other.startswith(text + _QUOTED) for other in texts)}


def refused(session: Session) -> set[tuple[str, str]]:
    """Return what depyf tells of frames that Dynamo refused before it traced them: they have no compile."""
    traced = {(compiled.name, compiled.filename) for _, compiled in session.compiles()}
    reasons = {reason for name, file, reason in session.skipped if (name, file) not in traced}
    return {("unimplemented", reason) for reason in reasons if reason == _REFUSED}


Code = tuple[str, int, str]
"""A function by its file, its first line and its name."""


class Calls:
    """Counts how often each code that Dynamo made has run, and any other, by Python's own profiling hook."""

    def __init__(self) -> None:
        # Held, so that no other code gets the identity of one of them.
        self._made: dict[int, types.CodeType] = {}
        self.hits = 0
        self.others = Counter[types.CodeType]()

    def hear(self, code: types.CodeType, made_code: types.CodeType) -> None:
        """Note what Dynamo made."""
        self._made[id(made_code)] = made_code

    def count(self, frame: types.FrameType, event: str, argument: object) -> None:
        """Count a call of code that Dynamo made."""
        if event == "call" and id(frame.f_code) in self._made:
            self.hits += 1
        elif event == "call":
            self.others[frame.f_code] += 1

    def of(self, known: Code) -> int:
        """Return how often a function has run; generated ones are alike, but Dynamo was asked for one of them."""
        return sum(
            count
            for code, count in self.others.items()
            if (code.co_filename, code.co_firstlineno, code.co_name) == known
            and (not code.co_filename.startswith("<") or code in convert_frame.input_codes)
        )

    @contextlib.contextmanager
    def counting(self) -> Iterator[None]:
        """Count in a block."""
        handle = convert_frame.register_bytecode_hook(self.hear)
        sys.setprofile(self.count)
        try:
            yield
        finally:
            sys.setprofile(None)
            handle.remove()


def of_torch(calls: Calls, breaks: Breaks) -> Numbers:
    """Return what torch itself counted since it was reset."""
    metrics = [
        metrics_of_compile
        for metrics_of_compile in utils.get_compilation_metrics()
        if metrics_of_compile.co_name is not None
    ]
    return {
        "compiles": len(metrics),
        "failures": sum(metric.fail_type is not None for metric in metrics),
        "recompiles": sum(not str(metric.compile_id).endswith("/0") for metric in metrics),
        "operations": sum(metric.graph_op_count or 0 for metric in metrics),
        "graphs": utils.counters["stats"]["unique_graphs"],
        "breaks": len(breaks.found),
        **{f'counters["{counter}"]': len(counted(counter)) for counter in ("graph_break", "unimplemented")},
        "hits": calls.hits,
    }


def of_depyf(session: Session) -> Numbers:
    """Return what the summary tells; what this torch or this Python does not count is left out."""
    compiles = [compiled for _, compiled in session.compiles()]
    messages = {message(graph_break.text) for compiled in compiles for graph_break in compiled.breaks} | refused(
        session
    )
    numbers = {
        "compiles": len(compiles),
        "failures": sum(compiled.failure is not None for compiled in compiles),
        "recompiles": sum(isinstance(compiled.trigger, Recompile) for compiled in compiles),
        "operations": sum(compiled.op_count or 0 for compiled in compiles),
        "graphs": sum(
            len({artefact.file for artefact in compiled.artefacts if artefact.stage == "Captured_Graph"})
            for compiled in compiles
        ),
        "breaks": breaks_of(compiles).places,
        **{
            f'counters["{name}"]': sum(counter == name for counter, _ in messages)
            for name in ("graph_break", "unimplemented")
        },
    }
    return (
        numbers
        if HITS in session.unavailable
        else {**numbers, "hits": sum(compiled.hits or 0 for compiled in compiles)}
    )


def compared(program: Callable[[], object]) -> tuple[Numbers, Numbers]:
    """Return torch's numbers and depyf's of one run of a program."""
    torch._dynamo.reset()
    utils.clear_compilation_metrics()
    utils.counters.clear()
    calls, breaks = Calls(), Breaks()
    with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(io.StringIO()):
        with depyf.prepare_debug(scratch) as session, calls.counting(), breaks.listening():
            program()
        torchs, depyfs = of_torch(calls, breaks), of_depyf(session)
        if EAGER_CALLS not in session.unavailable and hasattr(sys, "monitoring"):
            depyfs = {
                **depyfs,
                "eager calls": sum(function.eager_calls or 0 for function in session.functions.values()),
            }
            torchs = {**torchs, "eager calls": eager_calls(program, session)}
    return torchs, depyfs


def eager_calls(program: Callable[[], object], session: Session) -> int:
    """Return how many calls run the own code of the functions that were compiled, in a run without depyf."""
    torch._dynamo.reset()
    plain = Calls()
    with plain.counting():
        program()
    return sum(plain.of(code_object) for code_object in {code_of(function) for function in session.functions.values()})


def code_of(function: Function) -> Code:
    """Return how Python knows a function."""
    return function.filename, function.first_line, function.name


def programs(most: int, *, public: bool) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the programs by name."""
    for module in MODULES if not public else ():
        for program in load(module)[:most]:
            yield program.name, lambda program_of_loop=program: run(program_of_loop, "eager")  # type: ignore[misc]
    for name, step in PROGRAMS.items():
        yield name, lambda step=step: step("eager")  # type: ignore[misc]


def main() -> int:
    """Compare the programs of all modules."""
    parser = argparse.ArgumentParser()
    parser.add_argument("most", nargs="?", type=int, default=1000)
    parser.add_argument("--public", action="store_true")
    options = parser.parse_args()
    logging.getLogger("torch").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    checked, wrong = Counter[str](), Counter[str]()
    for name, program in programs(options.most, public=options.public):
        try:
            torchs, depyfs = compared(program)
        except ModuleNotFoundError as error:
            print(f"{name}: not run: {error}", flush=True)
            continue
        for number in depyfs:
            checked[number] += 1
            if depyfs[number] != torchs[number]:
                wrong[number] += 1
                print(f"{name}: {number}: torch {torchs[number]}, depyf {depyfs[number]}", flush=True)
    for number, count in checked.items():
        print(f"{number}: {count} programs, {wrong[number]} mismatches")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
