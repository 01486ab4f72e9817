"""What stands for an operation does what the interpreter does."""

from __future__ import annotations

import types
from collections.abc import Iterator

import pytest

from depyf.bytecode.known import ENTER, ENTER_ASYNC, THROW


class Door:
    """A manager whose instances have other methods than their type."""

    def __init__(self) -> None:
        vars(self).update(__enter__=lambda: "own", __exit__=None)

    def __enter__(self) -> str:
        return "entered"

    def __exit__(self, *parts: object) -> str:
        return "left"

    async def __aenter__(self) -> str:
        return "entered"

    async def __aexit__(self, *parts: object) -> str:
        return "left"


class Inherited(Door):
    pass


class Recording(type):
    """A metaclass that is not to be asked."""

    def __getattribute__(cls, name: str) -> object:
        raise AssertionError(name)


class Watched(Door, metaclass=Recording):
    pass


def caught(error: BaseException) -> BaseException:
    try:
        THROW(error)
    except BaseException as raised:  # noqa: BLE001
        return raised
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize("error", [KeyError(1), StopIteration(2), GeneratorExit(), KeyboardInterrupt()])
def test_what_is_thrown_is_raised_as_it_is(error: BaseException) -> None:
    context = ValueError("its own")
    error.__context__ = context
    try:
        raise IndexError("being handled")
    except IndexError as handled:
        assert caught(error) is error
        assert error.__context__ is context
        assert handled.__context__ is None
    assert frames(error.__traceback__) == ["caught"]


def frames(traceback: types.TracebackType | None) -> list[str]:
    def walk(place: types.TracebackType | None) -> Iterator[str]:
        while place is not None:
            yield place.tb_frame.f_code.co_name
            place = place.tb_next

    return list(walk(traceback))


@pytest.mark.parametrize("manager", [Door(), Inherited(), Watched()])
def test_a_manager_is_entered_by_the_methods_of_its_type(manager: Door) -> None:
    leave, value = ENTER(manager)
    assert value == "entered"
    assert callable(leave)
    assert leave(None, None, None) == "left"


def test_an_asynchronous_manager_gives_what_is_awaited() -> None:
    leave, entering = ENTER_ASYNC(Door())
    assert callable(leave)
    for awaited, value in ((entering, "entered"), (leave(None, None, None), "left")):
        with pytest.raises(StopIteration) as end:
            awaited.send(None)  # type: ignore[attr-defined]
        assert end.value.value == value


class OnlyEnter:
    def __enter__(self) -> None:
        raise AssertionError("entered")


@pytest.mark.parametrize("manager", [3, OnlyEnter()])
def test_what_is_no_manager_fails_as_in_a_with(manager: object) -> None:
    with pytest.raises((TypeError, AttributeError)) as expected:
        with manager:  # type: ignore[attr-defined]
            pass
    with pytest.raises(expected.type) as raised:
        ENTER(manager)
    assert str(raised.value) == str(expected.value)


class Descriptors:
    """A manager whose methods are bound in an order that can be seen."""

    log: list[str]

    @property
    def __enter__(self) -> object:
        self.log.append("enter")
        return lambda: None

    @property
    def __exit__(self) -> object:
        self.log.append("exit")
        return lambda *parts: None


def test_methods_are_bound_in_the_order_of_the_interpreter() -> None:
    manager = Descriptors()
    manager.log = []
    with manager:
        wanted = manager.log
    manager.log = []
    ENTER(manager)
    assert manager.log == wanted
