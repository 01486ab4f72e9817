"""From the text to the code that runs: nothing is done to that behind the proof, and each step does what it says."""

from __future__ import annotations

import itertools
import types

import pytest

from depyf.api import decompile_code
from depyf.verify.candidate.recompile import STEPS, Step, Way, is_same_but_for_lines, recompile
from depyf.verify.candidate.standin import compile_standin
from depyf.verify.level import Level
from tests.verify.assemble import code_of

FIELDS = tuple(name for name in dir(types.CodeType) if name.startswith("co_"))
DERIVED = frozenset({"co_lines", "co_positions", "co_lnotab", "co_branches", "_co_code_adaptive", "co_consts"})
"""What follows from other fields, and the constants: those hold the nested code."""

TEXTS = (
    "def f(a, *, b):\n return [a, {'x', 'y', 'z'}, b]",
    "def f(a):\n class A:\n  def g(self): return a, self.g\n return A",
    "def f(a, b=1):\n try: return lambda: (a, b)\n finally: print(a)",
    "async def f(a):\n async with a as b: return [x async for x in b]",
)


def fields(code: types.CodeType) -> dict[str, object]:
    """Return what a code object says, its constants aside."""
    names = [name for name in FIELDS if name not in DERIVED]
    attributes = {name: getattr(code, name, None) for name in names}
    return {name: value for name, value in attributes.items() if not callable(value)}


@pytest.mark.parametrize("text", TEXTS)
def test_a_step_changes_only_what_it_says(text: str) -> None:
    original = code_of(text)
    code, qualname = compile_standin(text, original, "<test>", "f", {})
    way = Way(original, qualname, {"a": "a of none"}, {"g": "h"}, {}, False)
    for step in STEPS:
        code = checked(step, code, way)
    assert code.co_name == "f"


def checked(step: Step, code: types.CodeType, way: Way) -> types.CodeType:
    """Return what a step makes of some code, which has changed in nothing but what the step says."""
    done = step.run(code, way if step.name != "layout" else Way(code, way.qualname, {}, {}, {}, False))
    before, after = fields(code), fields(done)
    changed = {name for name in before if before[name] != after[name]}
    assert changed - {"co_stacksize", "co_nlocals"} <= step.changes, step.name
    return done


def test_a_set_of_numbers_keeps_its_order() -> None:
    for order in itertools.permutations((8, 0, 128, 64)):
        original = code_of(f"def f(): return [n for n in {{{', '.join(map(str, order))}}}]")
        decompiled = decompile_code(original)
        assert decompiled.level is Level.EXACT and decompiled.compiled is not None
        run = types.FunctionType(original, {})(), types.FunctionType(decompiled.compiled, {})()
        assert run[0] == run[1]
        namespace: dict[str, types.FunctionType] = {}
        exec(decompiled.source, namespace)  # noqa: S102  (the text is ours)
        assert namespace["f"]() == run[0]


def orders_of_texts() -> tuple[frozenset[str], frozenset[str]]:
    """Return sets of the same texts that this process goes through in different orders."""
    pairs = itertools.combinations([f"text {number}" for number in range(100)], 2)
    both = ((frozenset(pair), frozenset(reversed(pair))) for pair in pairs)
    return next((first, other) for first, other in both if list(first) != list(other))


def test_the_code_that_runs_has_the_original_s_own_set_of_texts() -> None:
    original = code_of("def f(): return [n for n in {'a', 'b'}]")
    for mine in orders_of_texts():
        code = with_set(original, mine)
        decompiled = decompile_code(code)
        assert decompiled.level is Level.EXACT and decompiled.compiled is not None
        assert list(types.FunctionType(decompiled.compiled, {})()) == list(mine)


def test_two_sets_of_the_same_texts_in_two_orders_are_not_proven() -> None:
    original = code_of("def f(): return [n for n in {'a', 'b'}], [n for n in {'c', 'd'}]")
    first, other = orders_of_texts()
    code = original.replace(co_consts=swapped(swapped(original.co_consts, {"a", "b"}, first), {"c", "d"}, other))
    assert decompile_code(code).level is Level.UNPROVEN


def with_set(code: types.CodeType, value: frozenset[str]) -> types.CodeType:
    """Return the code with another set among its constants."""
    return code.replace(co_consts=swapped(code.co_consts, {"a", "b"}, value))


def swapped(consts: tuple[object, ...], old: set[str], new: frozenset[str]) -> tuple[object, ...]:
    """Return constants with one set in the place of another."""
    return tuple(new if const == old else const for const in consts)


class Holder:
    """A class with a method that makes a class."""

    def method(self) -> tuple[str, str]:
        """Return the qualified names of two classes, one of them the program's own."""

        class Own:
            __qualname__ = "method.hello"

        class Other:
            name = "method.<locals>.Other"

        return Own.__qualname__, Other.__qualname__ + Other.name


def test_a_qualified_name_of_the_program_s_own_is_left_alone() -> None:
    decompiled = decompile_code(Holder.method.__code__)
    assert decompiled.level is not Level.UNPROVEN and decompiled.compiled is not None
    assert types.FunctionType(decompiled.compiled, {})(0) == Holder().method()


def test_free_variables_of_nested_code_in_another_order_are_not_proven() -> None:
    original = code_of("def f():\n a = 1\n b = 2\n def inner(): return a, b\n return inner()")
    inner = next(const for const in original.co_consts if isinstance(const, types.CodeType))
    turned = inner.replace(co_freevars=("b", "a"))
    code = original.replace(co_consts=tuple(turned if const is inner else const for const in original.co_consts))
    assert decompile_code(code).level is Level.UNPROVEN


def test_code_of_two_files_is_the_same_but_for_lines() -> None:
    def made(text: str, filename: str = "one") -> types.CodeType:
        return recompile(text, code_of("def f(a): return a, 1, {2, 3}, lambda: 4"), filename=filename, placeholders={})

    first = made("def f(a): return a, 1, {2, 3}, lambda: 4")
    assert is_same_but_for_lines(first, made("\n\ndef f(a): return (a, 1, {2, 3}, lambda: 4)", "two"))
    others = "True, {2, 3}, lambda: 4", "1, {2, 3.0}, lambda: 4", "1, {2, 3}, lambda: 5", "1, {2, 3}, lambda x: 4"
    for other in others:
        assert not is_same_but_for_lines(first, made(f"def f(a): return a, {other}"))
