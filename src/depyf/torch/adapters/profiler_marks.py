"""The calls in Dynamo's code that mark for torch's profiler where a graph's arguments are gathered.

Before: `tmp_2 = utils.record_pregraph_bytecode_enter(); ...; utils.record_pregraph_bytecode_exit(tmp_2); graph(...)`
After: `...; graph(...)`

They compute nothing and hide the call that matters. depyf keeps them in the code that runs, because a program can see
it. It removes them from its output, as torch does with `torch._dynamo.config.record_runtime_overhead = False`.
"""

from __future__ import annotations

import dis
import types

from depyf.bytecode.draft import Draft
from depyf.bytecode.normalise import begin
from depyf.bytecode.reader import read
from depyf.bytecode.versions.known import facts_of
from depyf.bytecode.wordcode import decode

_ENTER, _EXIT = "record_pregraph_bytecode_enter", "record_pregraph_bytecode_exit"
_UTILS, _PROFILER = "__import_torch_dot__dynamo_dot_utils", "__import_torch_dot_autograd_dot_profiler"
"""Globals through which Dynamo's code finds the functions and, from torch 2.14 on, whether a profiler runs."""
_ENDS = frozenset({"STORE_FAST", "POP_TOP"})


def without_marks(code: types.CodeType) -> types.CodeType:
    """Return Dynamo's code with NOP in place of the profiler marks, or the same code if it has none.

    Offsets and constants do not change. Marks of an unknown form stay.
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
    """Return the raw instructions of the marks, or None if they have another form."""
    steps = _steps(draft)
    marked: list[int] = []
    variables: set[str] = set()
    for name in (_ENTER, _EXIT):
        mention = next((index for index, _, arg in steps if arg == name), None)
        first = _first(draft, steps, mention, variables, marked) if mention is not None else None
        last = _last(draft, first, mention) if first is not None and mention is not None else None
        if first is None or last is None:
            return None
        marked += range(first, last + 1)
        variables |= {arg for index, op, arg in steps if op == "STORE_FAST" and first <= index <= last}
    # Between the two, Dynamo keeps the called objects in variables. No other code may read them.
    inside = set(marked)
    rest = [(index, op) for index, op, arg in steps if arg in variables and index not in inside]
    if any(op != "DELETE_FAST" for _, op in rest):
        return None
    return marked + [index for index, _ in rest]


def _steps(draft: Draft) -> list[tuple[int, str, str]]:
    """Return each operation with a name, with its raw instruction and that name."""
    return [
        (index, step.op, step.arg)
        for index, steps in enumerate(draft.steps)
        for step in steps
        if isinstance(step.arg, str) and step.op != "CONST"
    ]


def _first(
    draft: Draft, named: list[tuple[int, str, str]], mention: int, variables: set[str], before: list[int]
) -> int | None:
    """Return where the mark begins that refers to its function at `mention`.

    It begins with the module of the function, or, if that is in a variable, with the mark's test. `variables` are those
    of the mark `before`.
    """
    behind = before[-1] if before else -1
    steps = [step for step in named if behind < step[0] < mention]
    if steps and steps[-1][1:] == ("LOAD_GLOBAL", _UTILS):
        first = steps[-1][0]
    elif before:
        first = next((index for index, op, arg in steps if op == "LOAD_FAST" and arg in variables), -1)
    else:
        first = next((index for index, op, arg in reversed(steps) if (op, arg) == ("LOAD_GLOBAL", _PROFILER)), -1)
    if first == -1:
        return None
    return first - 1 if first and draft.raws[first - 1].name == "PUSH_NULL" else first


def _last(draft: Draft, first: int, mention: int) -> int | None:
    """Return where the mark ends: the result of its call is kept or dropped, and no jump inside goes further."""
    called, furthest = False, -1
    for index in range(first, len(draft.raws)):
        furthest = max(furthest, draft.targets[index])
        called |= index > mention and any(step.op.startswith("CALL") for step in draft.steps[index])
        if called and index >= furthest and draft.raws[index].name in _ENDS:
            return index
    return None


def instruction_count(shown: types.CodeType) -> int:
    """Return the number of instructions of code without marks, including prefixes."""
    neutral = read(shown)
    raws = decode(neutral, facts_of(neutral.version, str(neutral)))
    return sum((raw.offset - raw.start) // 2 + 1 for raw in raws if raw.name != "NOP")
