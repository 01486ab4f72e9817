"""The toy example with three backends, 100 calls each: what its dump must be."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType

import torch

import depyf
from benchmarks.bar import Bar, none_of, report
from benchmarks.dump import PROVEN, Dump, lines_of_body, lists_taken_apart
from examples import toy_example

BACKENDS = ("eager", "aot_eager", "inductor")
CALLS = 100
BODY_LINES = 8


def _running_codes(function: Callable[..., object]) -> Iterator[CodeType]:
    """Yield what torch itself says it runs for `function` and the resume functions that it calls."""
    entries_of = torch._dynamo.eval_frame._debug_get_cache_entry_list
    functions, seen = [function], set()
    while functions:
        pending_function = functions.pop()
        for entry in entries_of(pending_function.__code__):
            yield entry.code
            for name in entry.code.co_names:
                if name.startswith("__resume_at") and name not in seen:
                    seen.add(name)
                    functions.append(pending_function.__globals__[name])


def of_backend(backend: str, directory: Path) -> list[Bar]:
    """Run the toy example with `backend`, dump to `directory`, and look at what is there."""
    torch._dynamo.reset()
    directory = directory.resolve()
    with depyf.prepare_debug(directory, install=True):
        toy_example.main(backend, CALLS)
        codes = list(_running_codes(toy_example.toy_example))
    dump = Dump(directory)
    compiles = dump.compiles()
    unproven = [str(compiled) for compiled in compiles if compiled.level not in PROVEN]
    elsewhere = [str(code) for code in codes if Path(code.co_filename).parent != directory]
    text = (directory / "__transformed_code_0_for_toy_example.py").read_text(encoding="utf-8")
    lines = lines_of_body(text, "toy_example")
    lists = [
        display
        for compiled in compiles
        for display in lists_taken_apart((directory / compiled.file).read_text("utf-8"))
    ]
    return [
        none_of(f"{backend}: files that do not compile", dump.unreadable(), f"{len(dump.python_files())}"),
        none_of(f"{backend}: compiles that are neither EXACT nor EQUIVALENT", unproven, f"{len(compiles)}"),
        none_of(f"{backend}: code objects that do not run from their file", elsewhere, f"{len(codes)}"),
        Bar(f"{backend}: lines of the transformed toy_example", str(lines), lines <= BODY_LINES),
        none_of(f"{backend}: lists built only to be taken apart", lists, f"{len(compiles)} functions"),
    ]


def measure() -> list[Bar]:
    """Run each backend in a directory of its own."""
    bars = []
    for backend in BACKENDS:
        with tempfile.TemporaryDirectory() as directory:
            bars.extend(of_backend(backend, Path(directory)))
    return bars


if __name__ == "__main__":
    report(measure())
