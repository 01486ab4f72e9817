"""What a call is known to return is unpacked into names."""

from __future__ import annotations

from depyf.api import decompile_code
from depyf.bytecode.reader import read
from depyf.verify.assumptions import Assumptions
from depyf.verify.compare import verify
from depyf.verify.level import Level

KNOWN = Assumptions(sequence_lengths={"graph": 2})
NAMES = {"graph": ("lt", "x")}


def program(a, b):  # type: ignore[no-untyped-def]
    out = graph(a)  # type: ignore[name-defined]  # noqa: F821
    second = out[1]
    if out[0]:
        return second
    return b, second


def keeps_it(a, keep):  # type: ignore[no-untyped-def]
    out = graph(a)  # type: ignore[name-defined]  # noqa: F821
    keep(out)
    return out[1]


def test_items_taken_by_number_are_unpacked_where_the_length_is_known() -> None:
    decompiled = decompile_code(program.__code__, simplify=True, assumptions=KNOWN, result_names=NAMES)
    assert decompiled.level is Level.EQUIVALENT, decompiled.reason
    assert decompiled.source.splitlines()[1] == "    lt, x = graph(a)"


def test_nothing_is_unpacked_without_that_knowledge() -> None:
    decompiled = decompile_code(program.__code__, simplify=True)
    assert decompiled.level >= Level.EQUIVALENT, decompiled.reason
    assert "[1]" in decompiled.source


def test_a_sequence_that_is_used_as_a_whole_stays_whole() -> None:
    decompiled = decompile_code(keeps_it.__code__, simplify=True, assumptions=KNOWN, result_names=NAMES)
    assert decompiled.level >= Level.EQUIVALENT, decompiled.reason
    assert "out = graph(a)" in decompiled.source


def takes_the_only_item(a, b):  # type: ignore[no-untyped-def]
    (item,) = graph(a)  # type: ignore[name-defined]  # noqa: F821
    return b + item


def test_the_only_item_is_taken_where_it_is_used() -> None:
    known = Assumptions(sequence_lengths={"graph": 1})
    code = takes_the_only_item.__code__
    decompiled = decompile_code(code, simplify=True, assumptions=known, result_names={"graph": ("y",)})
    assert decompiled.level is Level.EQUIVALENT, decompiled.reason
    assert "graph(a)[0]" in decompiled.source
    without = decompile_code(code, simplify=True)
    assert without.level >= Level.EQUIVALENT, without.reason
    assert "[0]" not in without.source


def stores_a_cell_late(a):  # type: ignore[no-untyped-def]
    out = graph(a)  # type: ignore[name-defined]  # noqa: F821
    callee = later  # type: ignore[name-defined]  # noqa: F821
    first = out[0]
    second = out[1]
    return callee(second), lambda: first


def test_a_cell_is_not_stored_before_what_came_before_it() -> None:
    code = stores_a_cell_late.__code__
    decompiled = decompile_code(code, simplify=True, assumptions=KNOWN, result_names=NAMES)
    assert decompiled.level is Level.EQUIVALENT, decompiled.reason
    assert decompiled.source.index("later") < decompiled.source.index("first =")


UNCHANGING = Assumptions(unchanging=frozenset({"graph"}))


def late(f):  # type: ignore[no-untyped-def]
    loaded = graph  # type: ignore[name-defined]  # noqa: F821
    first = f.first
    second = f.second
    return loaded(second, first)


def test_a_global_that_does_not_change_is_loaded_where_it_is_used() -> None:
    decompiled = decompile_code(late.__code__, simplify=True, assumptions=UNCHANGING)
    assert decompiled.level >= Level.EQUIVALENT, decompiled.reason
    assert decompiled.source.endswith("    first = f.first\n    return graph(f.second, first)\n")
    kept = decompile_code(late.__code__, simplify=True)
    assert kept.level >= Level.EQUIVALENT, kept.reason
    assert "= graph\n" in kept.source


def test_where_a_global_is_loaded_matters_unless_it_is_assumed_not_to_change() -> None:
    def early(f):  # type: ignore[no-untyped-def]
        loaded = graph  # noqa: F821
        first = f.first
        return loaded(first)

    def later(f):  # type: ignore[no-untyped-def]
        first = f.first
        loaded = graph  # noqa: F821
        return loaded(first)

    codes = read(early.__code__.replace(co_name="f")), read(later.__code__.replace(co_name="f"))
    assert verify(*codes).level is Level.UNPROVEN
    assert verify(*codes, UNCHANGING).level is Level.EQUIVALENT
    assert verify(*codes, Assumptions(unchanging=frozenset({"other"}))).level is Level.UNPROVEN


def test_a_global_that_the_code_itself_binds_is_not_assumed_to_stay() -> None:
    def early(f):  # type: ignore[no-untyped-def]
        global graph
        loaded = graph
        graph = f
        return loaded

    def later(f):  # type: ignore[no-untyped-def]
        global graph
        graph = f
        loaded = graph
        return loaded

    codes = read(early.__code__.replace(co_name="f")), read(later.__code__.replace(co_name="f"))
    assert verify(*codes, UNCHANGING).level is Level.UNPROVEN
    decompiled = decompile_code(early.__code__, simplify=True, assumptions=UNCHANGING)
    assert decompiled.level >= Level.EQUIVALENT, decompiled.reason
