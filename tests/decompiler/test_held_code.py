"""Code objects that are constants like others: no function is made of them, so that nobody asks for their source."""

from __future__ import annotations

from collections.abc import Callable

from depyf.api import decompile_code
from depyf.verify.level import Level

PLACE = "in the place of code"


def gives(use: Callable[[object], object]) -> object:
    return use("in the place of code")


def makes(use: Callable[[object], object]) -> object:
    def inner(a: object) -> object:
        return a

    return use(inner)


def held() -> None:
    """Do nothing."""


def test_it_is_not_decompiled() -> None:
    broken = held.__code__.replace(co_code=b"\xff\x00")
    consts = tuple(broken if const == PLACE else const for const in gives.__code__.co_consts)
    decompiled = decompile_code(gives.__code__.replace(co_consts=consts))
    assert decompiled.source == "def gives(use):\n    return use(object_held)\n"
    assert decompiled.placeholders == {"object_held": broken}
    assert decompiled.level is Level.EXACT


def test_code_that_a_function_is_made_of_is_decompiled() -> None:
    decompiled = decompile_code(makes.__code__)
    assert "def inner(a" in decompiled.source
    assert decompiled.level is Level.EXACT
