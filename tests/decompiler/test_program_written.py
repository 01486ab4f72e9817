"""Code that a program wrote: what reads best, and is proven."""

from __future__ import annotations

import dis
import types
from collections.abc import Callable

import pytest

from depyf.api import decompile_code
from depyf.decompiler.lift.simulate import lift
from depyf.decompiler.pipeline.table import BUILD, SCOPES
from depyf.verify.level import Level
from tests.verify.assemble import assemble


def frames_as_lists(a, b, f, g):  # type: ignore[no-untyped-def]
    frame = [[a, b], []]
    values = frame[0][0:1]
    values.extend([f])
    frame[0] = values
    rest = frame[-1]
    del frame[-1]
    return g(*[rest, *values])


def two_ways(graph, b, then, otherwise):  # type: ignore[no-untyped-def]
    results = graph(b)
    first = results[0]
    test = results[1]
    del results
    frame = [first, b]
    if test:
        return then([], *frame)
    return otherwise([], *frame)


def loop_and_values(items, f):  # type: ignore[no-untyped-def]
    out = []
    for item in items:
        if f(item):
            continue
        out.append(item)
    return out


def _simplified(function: Callable[..., object]) -> str:
    decompiled = decompile_code(function.__code__, simplify=True)
    assert decompiled.level >= Level.EQUIVALENT, decompiled.reason
    return decompiled.source


def test_the_order_of_evaluation_is_kept_where_lists_are_evaluated_away() -> None:
    source = _simplified(two_ways)
    assert source.splitlines()[1:] == [
        "    results = graph(b)",
        "    first = results[0]",
        "    if results[1]:",
        "        return then([], first, b)",
        "    return otherwise([], first, b)",
    ]


def test_a_container_that_escapes_is_built_once_with_what_it_holds() -> None:
    calls: list[object] = []

    def program(keep, value):  # type: ignore[no-untyped-def]
        frame = [value]
        keep(frame)
        frame[0] = None
        return frame

    decompiled = decompile_code(program.__code__, simplify=True)
    assert decompiled.level >= Level.EQUIVALENT, decompiled.reason
    namespace: dict[str, object] = {}
    exec(decompiled.source, namespace)
    kept = namespace["program"]
    assert isinstance(kept, types.FunctionType)
    result = kept(calls.append, 3)
    assert result == [None]
    assert calls[0] is result


def test_a_list_is_followed_past_a_protected_call() -> None:
    def program(graph, enter, call, x, y, resume):  # type: ignore[no-untyped-def]
        values = [*graph(y)][0:1] if False else [x, y]
        frames, rest = [values], [()]
        manager = enter()
        manager.__enter__()
        try:
            result = call()
        finally:
            manager.__exit__(None, None, None)
        frames[0][0:0] = [enter, result]
        rest[0]  # noqa: B018
        frames[0][2:] = [frames[0][3], frames[0][2]]
        return resume(*[[], *frames[0]])

    assert _simplified(program).splitlines()[-1] == "    return resume([], enter, result, y, x)"


def test_a_list_is_followed_past_places_where_paths_meet() -> None:
    def program(a, b, f, g):  # type: ignore[no-untyped-def]
        frames = [[a, b], a]
        if f(a):
            g(b)
        while g(a):
            f(frames[0][1])
        return g(*frames[0])

    source = _simplified(program)
    assert "frames" not in source
    assert source.endswith("return g(a, b)\n")


def test_a_list_that_changes_in_a_loop_is_built() -> None:
    def program(a, b, g):  # type: ignore[no-untyped-def]
        values, other = [a, b], [b]
        while g(a):
            values[0] = other[0]
            other[0] = a
        return g(*values)

    assert "values[0] = other[0]" in _simplified(program)


def test_a_list_that_one_path_shows_to_others_is_built() -> None:
    def program(a, f):  # type: ignore[no-untyped-def]
        values = [a]
        if f(a):
            f(values)
        return f(*values)

    assert "values = [a]" in _simplified(program)


def test_a_list_that_a_handler_reads_is_built() -> None:
    def program(a, f):  # type: ignore[no-untyped-def]
        values = [a]
        try:
            values[0] = f(a)
            values[0] = f(values[0])
        except ValueError:
            return f(*values)
        return values[0]

    assert "values = [a]" in _simplified(program)


def test_a_list_is_built_where_it_came_to_be_if_it_has_not_changed() -> None:
    def program(f, g):  # type: ignore[no-untyped-def]
        first = f()
        values = [first]
        g()
        return g(values, values)

    assert _simplified(program).splitlines()[1:] == ["    values = [f()]", "    g()", "    return g(values, values)"]


def test_a_value_is_written_where_the_next_statement_uses_it_and_no_further() -> None:
    def program(f, g, h):  # type: ignore[no-untyped-def]
        loaded = g.loaded
        first = f()
        values = [first]
        second = f()
        return loaded(values, h.attribute, second, values)

    assert _simplified(program).splitlines()[1:] == [
        "    loaded = g.loaded",
        "    values = [f()]",
        "    second = f()",
        "    return loaded(values, h.attribute, second, values)",
    ]


def test_a_list_that_another_holds_is_built_before_it() -> None:
    def program(a, f):  # type: ignore[no-untyped-def]
        inner = [a]
        middle = [inner]
        outer = [middle, inner]
        inner[0] = f
        return f(outer)

    assert _simplified(program).splitlines()[1:] == ["    inner = [f]", "    return f([[inner], inner])"]


@pytest.mark.parametrize("way", ["item", "slice", "append", "extend"])
def test_a_list_in_itself_stays(way: str) -> None:
    def item(a, f):  # type: ignore[no-untyped-def]
        values = [a]
        values[0] = values
        return f(values)

    def slice_(a, f):  # type: ignore[no-untyped-def]
        values = [a]
        values[:] = [values, a]
        return f(values)

    def append(a, f):  # type: ignore[no-untyped-def]
        return f([a, *[a]])

    def extend(a, f):  # type: ignore[no-untyped-def]
        values = [a]
        other = [values]
        values[0:] = [*other]
        return f(values)

    program = {"item": item, "slice": slice_, "append": append, "extend": extend}[way]
    original = decompile_code(program.__code__, simplify=True)
    assert original.level >= Level.EQUIVALENT, original.reason
    namespace: dict[str, object] = {}
    exec(original.source, namespace)
    remade = namespace[program.__name__]
    assert isinstance(remade, types.FunctionType)
    assert repr(remade(1, lambda values: values)) == repr(program(1, lambda values: values))


@pytest.mark.parametrize("without", [{BUILD}, {BUILD, SCOPES}], ids=["scopes", "levels"])
@pytest.mark.parametrize("function", [frames_as_lists, two_ways, loop_and_values], ids=lambda f: f.__name__)
def test_a_dispatcher_does_the_same(function: Callable[..., object], without: set[str]) -> None:
    decompiled = decompile_code(function.__code__, without=frozenset(without))
    assert "while True:" in decompiled.source or function is frames_as_lists
    namespace: dict[str, object] = dict(decompiled.placeholders)
    exec(decompiled.source, namespace)
    remade = namespace[function.__name__]
    assert isinstance(remade, types.FunctionType)
    if function is loop_and_values:
        assert remade([1, 2, 3, 4], lambda n: n % 2) == [2, 4]
    elif function is two_ways:
        assert remade(lambda b: (b, b > 2), 3, lambda *a: ("one", a), lambda *a: ("two", a)) == ("one", ([], 3, 3))
    assert decompiled.level >= Level.EQUIVALENT, decompiled.reason


def test_without_simplification_the_lists_stay() -> None:
    decompiled = decompile_code(frames_as_lists.__code__)
    assert decompiled.level is Level.EXACT
    assert "frame = [[a, b], []]" in decompiled.source


def test_a_set_of_constants_is_built_one_by_one_as_it_was() -> None:
    if "SET_UPDATE" not in dis.opmap:
        pytest.skip("this compiler builds every set one by one")
    code = assembled("LOAD_CONST 1", "LOAD_CONST 2", "LOAD_CONST 3", "BUILD_SET 3", "RETURN_VALUE 0")
    decompiled = decompile_code(code, simplify=True)
    assert decompiled.level is Level.EXACT, decompiled.reason


def test_cells_are_stored_in_the_order_in_which_they_were() -> None:
    def program(x, k):  # type: ignore[no-untyped-def]
        first = x
        k = k  # noqa: PLW0127
        x = first
        return lambda: (x, k)

    source = _simplified(program)
    assert source.index("k = k") < source.index("x = ", source.index("k = k"))


def test_a_name_is_assigned_inside_of_an_assignment() -> None:
    def program(f, g):  # type: ignore[no-untyped-def]
        first = (second := f())
        g()
        return first, lambda: second

    _simplified(program)


def test_the_only_item_of_a_sequence_is_returned() -> None:
    code = assembled("LOAD_FAST 0", "UNPACK_SEQUENCE 1", "RETURN_VALUE 0")
    decompiled = decompile_code(code, simplify=True)
    assert decompiled.level >= Level.EQUIVALENT, decompiled.reason


def assembled(*lines: str) -> types.CodeType:
    """Return code of one parameter with these instructions."""

    def frame(a):  # type: ignore[no-untyped-def]
        return 1, 2, 3, a

    code = frame.__code__
    consts = (None, 1, 2, 3)
    raw = bytearray()
    if "RESUME" in dis.opmap:
        raw += bytes([dis.opmap["RESUME"], 0])
    for line in lines:
        name, argument = line.split()
        value = consts.index(int(argument)) if name == "LOAD_CONST" else int(argument)
        raw += bytes([dis.opmap[name], value])
        raw += bytes(2 * CACHES.get(name, 0))
    return code.replace(co_code=bytes(raw), co_consts=consts, co_stacksize=8)


CACHES = {"UNPACK_SEQUENCE": 1} if "CACHE" in dis.opmap else {}
"""Words of inline caches behind an instruction, since 3.11."""


def test_keyword_arguments_may_be_a_null() -> None:
    listing = assemble(
        """
        LOAD_FAST a
        NULL
        LOAD_FAST b
        NULL
        CALL_EX (True, 'above')
        RETURN
        """
    )
    (call,) = (inst for block in lift(listing).live() for inst in block.insts if inst.op == "CALL_EX")
    assert call.arg is False
    assert len(call.uses) == 2


def test_a_local_variable_may_be_named_as_a_free_one_or_as_another() -> None:
    def holder(x, y):  # type: ignore[no-untyped-def]
        def inner(a):  # type: ignore[no-untyped-def]
            b = a + 1
            return b * x, y

        return inner

    inner = holder(1, 2).__code__  # type: ignore[no-untyped-call]
    decompiled = decompile_code(inner.replace(co_varnames=("a", "x")))
    assert decompiled.level is Level.EXACT, decompiled.reason
    assert decompiled.source.splitlines()[1:] == ["    x_1 = a + 1", "    return x_1 * x, y"]

    def two(a):  # type: ignore[no-untyped-def]
        b = a + 1
        c = b * a
        return c - b

    decompiled = decompile_code(two.__code__.replace(co_varnames=("a", "b", "b")))
    assert decompiled.level is Level.EXACT, decompiled.reason
    assert decompiled.source.splitlines()[1:] == ["    b = a + 1", "    b_2 = b * a", "    return b_2 - b"]


def test_the_name_of_an_unused_local_variable_hides_no_free_one() -> None:
    def holder(x):  # type: ignore[no-untyped-def]
        def middle(a):  # type: ignore[no-untyped-def]
            def inner():  # type: ignore[no-untyped-def]
                return a + x

            if False:
                b = None  # type: ignore[unreachable]  # noqa: F841
            return inner() + x

        return middle

    middle = holder(1).__code__  # type: ignore[no-untyped-call]
    decompiled = decompile_code(
        middle.replace(co_varnames=tuple({"b": "x"}.get(name, name) for name in middle.co_varnames))
    )
    assert decompiled.level >= Level.EQUIVALENT, decompiled.reason


def put_back(a, b):  # type: ignore[no-untyped-def]
    c = a + b
    a, c, b = a, c, b
    return c, a


def put_back_in_turn(a, b):  # type: ignore[no-untyped-def]
    x = a
    a = b
    a = x
    return a


def exchanged(a, b):  # type: ignore[no-untyped-def]
    a, b = b, a
    return a


def test_a_variable_is_not_given_the_value_that_it_has() -> None:
    assert _simplified(put_back) == "def put_back(a, b):\n    c = a + b\n    return c, a\n"
    assert "a, b = b, a" in _simplified(exchanged)


def test_two_stores_to_one_variable_stay_in_order() -> None:
    assert _simplified(put_back_in_turn).count("a = ") == 2
