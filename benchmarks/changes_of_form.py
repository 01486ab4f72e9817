"""How far a fact walks: the forms of a guard and of a record on the way to the page, and the rooms of the decompiler.

    python -m benchmarks.changes_of_form

Programs run with a value that occurs nowhere else. At each return of a function of depyf, the form that holds the value
is noted (the class whose own field has it, JSON, or the text of a package), with the forms in the arguments. This is
the call graph of the fact. A walk is its shortest path from torch's form to the last one; its length is the number of
changes. A function may have forms in its arguments that it does not read, so a walk may be longer than that. For the
decompiler, the rooms are the packages whose functions its driver calls to change a form, in order; a return is a call
of a room that the driver had left.
"""

from __future__ import annotations

import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.bar import Bar, report

PACKAGE = str(Path(__file__).resolve().parents[1] / "src" / "depyf")
MOST_OF_A_GUARD, MOST_OF_A_RECORD, MOST_RETURNS = 6, 4, 3
OF_GUARDS, OF_RECORDS = ("Place", "text of views"), ("JSON or dict of trace", "Finding")
"""The first and the last form of each walk."""
MARK = "".join(("mark", "4711"))
DRIVER = {
    *("decompiler/function.py", "decompiler/pipeline/run.py", "decompiler/pipeline/work.py"),
    "decompiler/definition.py",
    *("decompiler/pipeline/lifting.py", "decompiler/pipeline/flow.py", "decompiler/passes/registry.py"),
}
QUESTIONS = {
    *("bytecode/records.py", "bytecode/host.py", "bytecode/listing.py", "decompiler/passes/conditions.py"),
    *("decompiler/passes/identifiers.py", "decompiler/emit/grammar.py", "decompiler/graph/tac.py"),
}
"""Files whose functions answer the driver's questions, such as whether a pass applies, and change no form."""
ROOMS = ("bytecode", "graph", "lift", "structure", "passes", "emit", "verify")
MOST_ITEMS, MOST_PARTS, DEPTH = 64, 2048, 8
"""How far a value is looked through for the mark: items of a list or a dict, parts of a level, and levels."""


def _room(filename: str) -> str:
    """Return the path of a file inside the package, or ""."""
    return filename[len(PACKAGE) + 1 :].replace("\\", "/") if filename.startswith(PACKAGE) else ""


def _form(value: object, room: str) -> str:
    """Return the form in which a value holds the mark itself, or ""."""
    if isinstance(value, str):
        return f"text of {room.partition('/')[0]}" if MARK in value else ""
    if isinstance(value, dict):
        texts = [item for item in list(value.values())[:MOST_ITEMS] if isinstance(item, str)]
        return f"JSON or dict of {room.partition('/')[0]}" if any(MARK in text for text in texts) else ""
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return next((form for item in value[:MOST_ITEMS] if (form := _form(item, room))), "")
    if type(value).__module__.startswith("depyf."):
        field_values = [getattr(value, name, None) for name in _fields(value)]
        return type(value).__name__ if any(isinstance(text, str) and MARK in text for text in field_values) else ""
    return ""


@contextmanager
def profiled(note: Callable[[types.FrameType, str, Any], None]) -> Iterator[None]:
    """Report each call and return while the context is active."""
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


Graph = dict[str, dict[str, str]]
"""For each form the forms that functions made of it, each with the first such function."""


def call_graph(program: Callable[[], object]) -> Graph:
    """Return the forms that functions of depyf made of the mark while a program ran."""
    graph: Graph = {}

    def note(frame: types.FrameType, event: str, value: Any) -> None:  # noqa: ANN401 - of any type
        room = _room(frame.f_code.co_filename)
        if event != "return" or not room:
            return
        form_of_result = _form(value, room)
        if form_of_result:
            names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
            given = set().union(*(_inside(frame.f_locals.get(name), room) for name in names))
            for form in sorted(given - {form_of_result}):
                graph.setdefault(form, {}).setdefault(form_of_result, f"{room}:{frame.f_code.co_qualname}")

    with profiled(note):
        program()
    return graph


def _inside(value: object, room: str) -> set[str]:
    """Return the forms of a value and of its parts, at most `DEPTH` fields deep."""
    level, forms = [value], set()
    for _ in range(DEPTH):
        forms |= {form for part in level if (form := _form(part, room))}
        level = [inner for part in level for inner in _parts(part)][:MOST_PARTS]
    return forms


def _parts(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    if not type(value).__module__.startswith("depyf."):
        return []
    return [getattr(value, name, None) for name in _fields(value)]


def _fields(value: object) -> tuple[str, ...]:
    return tuple(getattr(type(value), "__dataclass_fields__", getattr(type(value), "_fields", ())))


def shortest(graph: Graph, first: str, last: str) -> list[str]:
    """Return the forms on the shortest path between two forms, or [] if there is none."""
    paths = {first: [first]}
    queue = [first]
    for form in queue:
        for other in graph.get(form, {}):
            if other not in paths:
                paths[other] = [*paths[form], other]
                queue.append(other)
    return paths.get(last, [])


def _recompile() -> None:
    """Compile a function for two strings, and show the page of the run."""
    import torch

    import depyf
    from depyf.views.index_markdown import index_markdown

    def choose(x: torch.Tensor, mode: str) -> torch.Tensor:
        return x + 1 if mode == MARK else x - len(mode)

    with tempfile.TemporaryDirectory() as folder, depyf.prepare_debug(folder) as session:
        compiled = torch.compile(choose, backend="eager")
        compiled(torch.ones(3), MARK)
        compiled(torch.ones(3), "another")
    index_markdown(session)


def _failing_backend() -> None:
    """Let a backend raise an exception with the mark, and look for the findings."""
    import torch

    import depyf
    from depyf.findings import findings

    def refuse(graph: object, inputs: object) -> None:
        raise ValueError(MARK)

    with tempfile.TemporaryDirectory() as folder, depyf.prepare_debug(folder) as session:
        try:
            torch.compile(lambda x: x + 1, backend=refuse)(torch.ones(3))
        except Exception as error:  # noqa: BLE001 - torch wraps the backend's exception in one of several classes
            assert MARK in str(error)
    findings(session)


def rooms_of(program: Callable[[], object]) -> tuple[list[str], int]:
    """Return the rooms that the driver of the decompiler calls, in order, and how often it makes a listing."""
    rooms: list[str] = []
    listings = 0

    def note(frame: types.FrameType, event: str, value: Any) -> None:  # noqa: ANN401, ARG001 - of any type
        nonlocal listings
        if event != "call" or frame.f_back is None:
            return
        room, caller = _room(frame.f_code.co_filename), _room(frame.f_back.f_code.co_filename)
        listings += room == "bytecode/normalise.py" and frame.f_code.co_name == "normalise"
        name = room.removeprefix("decompiler/").partition("/")[0]
        is_work = caller in DRIVER and room not in QUESTIONS | DRIVER
        if is_work and name in ROOMS and rooms[-1:] != [name]:
            rooms.append(name)

    with profiled(note):
        program()
    return rooms, listings


def _decompile() -> object:
    from depyf.decompiler.function import decompile_function

    def clip(x: Any, low: Any = None, high: Any = None) -> Any:  # noqa: ANN401 - of any type
        for _ in range(2):
            x = x if low is None or x > low else low
        return x if high is None or x < high else high

    return decompile_function(clip.__code__)


def measure() -> list[Bar]:
    """Count all walks, and print the forms and rooms of each."""
    bars = []
    for what, program, (first, last), most in (
        ("changes of form of a guard, from the tree to the page", _recompile, OF_GUARDS, MOST_OF_A_GUARD),
        ("changes of form of a record, to the finding", _failing_backend, OF_RECORDS, MOST_OF_A_RECORD),
    ):
        graph = call_graph(program)
        path = shortest(graph, first, last)
        print(f"{what}:\n  {first}")
        for form, other in pairwise(path):
            print(f"  {other:28} {graph[form][other]}")
        bars.append(Bar(what, str(len(path) - 1), 0 < len(path) - 1 <= most, note=f"at most {most}"))
    _decompile()  # Loads the passes, which the walk does not count.
    rooms, listings = rooms_of(_decompile)
    print("rooms of the decompiler:", " ".join(rooms))
    returns = len(rooms) - len(set(rooms))
    bars.append(Bar("listings made for one code object", str(listings), listings == 1))
    bars.append(Bar("returns to a room of the decompiler already left", str(returns), returns <= MOST_RETURNS))
    return bars


if __name__ == "__main__":
    report(measure())
