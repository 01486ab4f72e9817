"""Functions that are constants in a source, for operations without a statement.

`raise e` makes the exception being handled the context of `e`, and a bare `raise` re-raises only that exception. The
interpreter re-raises exceptions without looking at their context (RERAISE). The `throw` of an ended generator does too.

A `with` enters a manager and leaves it. Program-written code may enter one and leave it elsewhere, or never. ENTER and
ENTER_ASYNC enter as the interpreter does: they look both methods up on the type only.

An `import` binds the module, or names from it, and then drops it. IMPORT returns the result of IMPORT_NAME for its
caller. IMPORT_FROM takes a name from a module as the operation does, which is more than an attribute access.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

from depyf.bytecode.code import CO_OPTIMIZED

OWN_MODULES = ("depyf.bytecode.known", "depyf.bytecode.known_async", "depyf.bytecode.known_groups")
"""The modules from which the text of a module imports these functions."""
Entering = Callable[[object], tuple[object, object]]
MISSING = object()


def _throw() -> Callable[[BaseException], object]:
    ended = (None for _ in ())
    next(ended, None)
    return ended.throw


def on_type(kind: type, name: str) -> object:
    """Return the attribute that the interpreter finds on a type, without its metaclass."""
    for base in type.__dict__["__mro__"].__get__(kind):
        names = type.__dict__["__dict__"].__get__(base)
        if name in names:
            return names[name]
    return MISSING


def bound(method: object, owner: object) -> object:
    """Return a method bound to its owner."""
    get = on_type(type(method), "__get__")
    return method if get is MISSING else get(method, owner, type(owner))  # type: ignore[operator]


def _entering(names: tuple[str, str], fail: Callable[[object], NoReturn]) -> Entering:
    """Return a function that enters a manager with methods of these names, the exit's last."""

    def enter(manager: object) -> tuple[object, object]:
        attributes = {name: on_type(type(manager), name) for name in names}
        if MISSING in attributes.values():
            fail(manager)
        methods = {name: bound(attributes[name], manager) for name in _order(names)}
        return methods[names[1]], methods[names[0]]()  # type: ignore[operator]

    return enter


def _order(names: tuple[str, str]) -> tuple[str, ...]:
    """Return a manager's method names in the order in which the running interpreter binds them."""
    return names[::-1] if EXIT_IS_FIRST else names


def _exit_is_first() -> bool:
    """Return which method of a manager the running interpreter binds first."""
    order: list[str] = []

    class Entered:
        @property
        def __enter__(self) -> Callable[[], None]:
            order.append("enter")
            return lambda: None

        @property
        def __exit__(self) -> Callable[..., None]:
            order.append("exit")
            return lambda *parts: None

    with Entered():
        return order[0] == "exit"


def _fail(manager: object) -> NoReturn:
    """Fail as `with` does."""
    with manager:  # type: ignore[attr-defined]
        raise AssertionError("a manager without both methods was entered")


def _fail_async(manager: object) -> NoReturn:
    """Fail as `async with` does."""

    async def enter() -> None:
        async with manager:  # type: ignore[attr-defined]
            pass

    enter().send(None)
    raise AssertionError("a manager without both methods was entered")


def _import(name: str, level: int, wanted: object) -> object:
    """Return a module as the caller's frame finds it."""
    frame = sys._getframe(1)
    importer = frame.f_builtins.get("__import__", MISSING)
    if importer is MISSING:
        raise ImportError("__import__ not found")
    namespace = None if frame.f_code.co_flags & CO_OPTIMIZED else frame.f_locals
    return importer(name, frame.f_globals, namespace, wanted, level)


def _import_from(module: object, name: str) -> object:
    """Return the value of a name in a module."""
    names = tuple(name if known == "wanted" else known for known in FROM.co_names)
    namespace: dict[str, object] = {"__builtins__": {"__import__": lambda *parts: module}}
    exec(FROM.replace(co_names=names), namespace)
    return namespace["found"]


FROM = compile("from module import wanted as found", "<import>", "exec")
EXIT_IS_FIRST = _exit_is_first()
THROW = _throw()
"""Raises its argument unchanged."""
ENTER = _entering(("__enter__", "__exit__"), _fail)
"""Enters a manager, and returns its exit and the value for `as`."""
ENTER_ASYNC = _entering(("__aenter__", "__aexit__"), _fail_async)
"""Does the same with the awaitables of an `async with`."""
IMPORT = _import
"""Imports a module by name, with the level and the names of IMPORT_NAME."""
IMPORT_FROM = _import_from
"""Takes a name from a module."""
IMPORT_FROM.__name__ = IMPORT_FROM.__qualname__ = "import_from"
IMPORT.__name__ = IMPORT.__qualname__ = "import"
ENTER.__name__ = ENTER.__qualname__ = "enter"
ENTER_ASYNC.__name__ = ENTER_ASYNC.__qualname__ = "enter_async"
