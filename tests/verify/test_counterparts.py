"""Which lines of the text stand for an instruction: those of what it does, or of what it is done for."""

from __future__ import annotations

import dis
from types import CodeType

from depyf.api import decompile_code
from depyf.bytecode.reader import read
from depyf.verify.candidate.recompile import recompile
from depyf.verify.counterparts import lines_of_instructions
from depyf.verify.level import Level


def lines(code: CodeType) -> dict[int, set[int]]:
    """Return the lines of the shortest text of a code by the offsets of its instructions."""
    decompiled = decompile_code(code, simplify=True)
    assert decompiled.level is not Level.UNPROVEN
    again = recompile(decompiled.source, code, filename="again.py", placeholders={})
    (_, lines_at), *_ = lines_of_instructions(read(code), read(again))
    return {offset: set(line_set) for offset, line_set in lines_at.items()}


def of(code: CodeType, name: str, variable: str = "") -> list[set[int]]:
    """Return the lines of each instruction whose name begins so, of a variable if one is named."""
    lines_at = lines(code)
    return [
        lines_at.get(item.offset, set())
        for item in dis.get_instructions(code)
        if item.opname.startswith(name) and (not variable or item.argval == variable)
    ]


def packed(a, b):  # type: ignore[no-untyped-def]
    x = [a, b]
    c, d = x
    if c > 1:
        d = d + c
    return d * c


def test_an_operation_stands_for_the_line_that_does_the_same() -> None:
    # def packed(a, b): / d = b / if a > 1: / d = d + a / return d * a
    assert decompile_code(packed.__code__, simplify=True).source.splitlines()[2].strip() == "if a > 1:"
    assert of(packed.__code__, "COMPARE_OP") == [{3}]
    assert of(packed.__code__, "RETURN_VALUE") == [{5}]


def test_what_is_put_into_a_list_and_taken_out_again_is_for_those_who_use_it() -> None:
    assert of(packed.__code__, "BUILD_LIST") == [{3, 4}] and of(packed.__code__, "UNPACK_SEQUENCE") == [{3, 4}]


def dropped(a):  # type: ignore[no-untyped-def]
    x = [a, 1]
    b = a + 1
    del x
    return b


def test_a_list_that_nobody_takes_stands_for_no_line() -> None:
    assert of(dropped.__code__, "BUILD_LIST") == [set()]
    assert of(dropped.__code__, "STORE_FAST", "x") == [set()]


def looped(a, b):  # type: ignore[no-untyped-def]
    for x in a:
        b.append((x, b))
    return b


def test_nothing_is_carried_to_where_paths_meet() -> None:
    assert of(looped.__code__, "BUILD_TUPLE") == [{3}]
    assert of(looped.__code__, "RETURN_VALUE") == [{4}]
