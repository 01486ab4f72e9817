"""Functions that are made where they are used, of a code object that has to stay the very same one."""

from __future__ import annotations

import types

import pytest

from depyf.api import decompile_code
from depyf.verify.candidate.recompile import recompile
from depyf.verify.level import Level


def makes_in_place(y, g):  # type: ignore[no-untyped-def]
    return (lambda x: x + y)(g())


def renamed(code: types.CodeType, name: str) -> types.CodeType:
    """Return the code with the function made in it called `name`: no source makes a named function in an expression."""
    inner = next(const for const in code.co_consts if isinstance(const, types.CodeType))
    changed = inner.replace(co_name=name)
    if hasattr(inner, "co_qualname"):
        changed = changed.replace(co_qualname=name)
    qualname = f"{code.co_name}.<locals>.{inner.co_name}"
    consts = tuple(changed if const is inner else name if const == qualname else const for const in code.co_consts)
    return code.replace(co_consts=consts)


@pytest.mark.parametrize("name", ["resume_at_3", "<listcomp>"])
def test_it_names_its_code_object(name: str) -> None:
    code = renamed(makes_in_place.__code__, name)
    decompiled = decompile_code(code, simplify=True)
    assert decompiled.level is Level.EXACT, decompiled.reason
    (placeholder,) = decompiled.placeholders
    assert f"(lambda x: {placeholder}(y))(g())" in decompiled.source
    recompiled = recompile(decompiled.module_source, code, filename="<test>", placeholders=decompiled.placeholders)
    inner = next(const for const in code.co_consts if isinstance(const, types.CodeType))
    assert any(const is inner for const in recompiled.co_consts)
    function = types.FunctionType(recompiled, {})(1, lambda: 2)
    assert function == 3


def test_a_lambda_of_the_same_shape_is_a_lambda() -> None:
    def program(y, f):  # type: ignore[no-untyped-def]
        return (lambda x: f(y))(3)

    decompiled = decompile_code(program.__code__, simplify=True)
    assert decompiled.level is Level.EXACT, decompiled.reason
    assert not decompiled.placeholders
