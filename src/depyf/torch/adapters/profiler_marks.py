"""The calls with which Dynamo's code tells torch's profiler where a graph's arguments are gathered.

Before: `tmp_2 = utils.record_pregraph_bytecode_enter(); ...; utils.record_pregraph_bytecode_exit(tmp_2); graph(...)`
After: `...; graph(...)`

They compute nothing, and hide what does. depyf leaves them in the code that runs, which a program can read, and out of
what it shows, as torch does with `torch._dynamo.config.record_runtime_overhead = False`.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator

from depyf.bytecode.draft import Draft
from depyf.bytecode.normalise import begin
from depyf.bytecode.reader import read
from depyf.bytecode.versions.known import facts_of
from depyf.bytecode.wordcode import decode

_ENTER, _EXIT = "record_pregraph_bytecode_enter", "record_pregraph_bytecode_exit"
_UTILS, _PROFILER = "__import_torch_dot__dynamo_dot_utils", "__import_torch_dot_autograd_dot_profiler"
"""Globals under which Dynamo's code finds the functions and, from torch 2.14 on, whether a profiler runs."""
_ENDS = frozenset({"STORE_FAST", "POP_TOP"})


def without_marks(code: types.CodeType) -> types.CodeType:
    """Return Dynamo's code with NOP in the place of marks for the profiler, the code itself where it has none.

    Offsets and constants stay as they are. Marks of an unknown form stay, too.
    """
    if _ENTER not in code.co_names or _EXIT not in code.co_names:
        return code
    neutral = read(code)
    draft = begin(neutral, facts_of(neutral.version, str(neutral)), with_lines=False)
    marks = _marks(draft)
    if marks is None:
        return code
    data = bytearray(code.co_code)
    nop = bytes((dis.opmap["NOP"], 0))
    for index in marks:
        raw = draft.raws[index]
        data[raw.start : raw.end] = nop * ((raw.end - raw.start) // 2)
    return code.replace(co_code=bytes(data))


def _marks(draft: Draft) -> list[int] | None:
    """Return the raw instructions that make up the marks, and nothing else; None where they have another form."""
    found: list[int] = []
    own: set[str] = set()
    for name, also in ((_ENTER, _PROFILER), (_EXIT, "")):
        mention = next((index for index, _, arg in _steps(draft) if arg == name), None)
        if mention is None:
            return None
        own_loads = own if name == _EXIT else set()
        first = _first(draft, mention, also, own_loads, found[-1] if found else -1)
        last = _last(draft, first, mention)
        if first is None or last is None:
            return None
        found += range(first, last + 1)
        own |= {arg for index, op, arg in _steps(draft) if op == "STORE_FAST" and first <= index <= last}
    # Between the two, Dynamo keeps what it has called in variables: nobody else may read them.
    inside = set(found)
    rest = [(index, op) for index, op, arg in _steps(draft) if arg in own and index not in inside]
    if any(op != "DELETE_FAST" for _, op in rest):
        return None
    return found + [index for index, _ in rest]


def _steps(draft: Draft) -> Iterator[tuple[int, str, str]]:
    """Yield each operation with its raw instruction and the name that it takes, empty where it takes none."""
    for index, steps in enumerate(draft.steps):
        for step in steps:
            yield index, step.op, step.arg if isinstance(step.arg, str) and step.op != "CONST" else ""


def _first(draft: Draft, mention: int, also: str, own: set[str], behind: int) -> int | None:
    """Return where the mark begins that mentions its function at `mention`, and begins `behind` an instruction.

    It begins with the global that it needs first, or with a variable of the mark before.
    """
    globals_needed = {_UTILS, also}
    for index, op, arg in _steps(draft):
        if behind < index <= mention and (
            (op == "LOAD_GLOBAL" and arg in globals_needed) or (op.startswith("LOAD_FAST") and arg in own)
        ):
            before = draft.raws[index - 1].name if index else ""
            return index - 1 if before == "PUSH_NULL" else index
    return None


def _last(draft: Draft, first: int | None, mention: int) -> int | None:
    """Return where the mark ends: what its call returns is kept or dropped, and no jump inside goes further."""
    if first is None:
        return None
    called, furthest = False, -1
    for index in range(first, len(draft.raws)):
        furthest = max(furthest, draft.targets[index])
        called |= index > mention and any(step.op.startswith("CALL") for step in draft.steps[index])
        if called and index >= furthest and draft.raws[index].name in _ENDS:
            return index
    return None


def instruction_count(shown: types.CodeType) -> int:
    """Return the number of instructions that code without marks has, prefixes among them."""
    neutral = read(shown)
    raws = decode(neutral, facts_of(neutral.version, str(neutral)))
    return sum((raw.offset - raw.start) // 2 + 1 for raw in raws if raw.name != "NOP")
