"""A guarded program and the inputs that it is asked about."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch

Value: TypeAlias = Any
"""What a program is given: anything that a user's function may be given."""

Arguments = Callable[[], tuple[Value, ...]]


@dataclass(frozen=True)
class Change:
    """A call that differs from the one that was compiled: other arguments, another state around it, or both."""

    name: str
    arguments: Arguments | None = None
    around: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext


@dataclass(frozen=True)
class Program:
    """A function, the arguments with which it is compiled, and the changes to ask its guards about.

    `options` go to `torch.compile`; `around` is entered for the compilation and for every question.
    """

    name: str
    function: Callable[..., Any]
    arguments: Arguments
    changes: tuple[Change, ...]
    options: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    around: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext
    keeps: bool = False
    """Whether the questions are asked about the very objects of the compiled call, which changes then modify."""


@contextlib.contextmanager
def attribute(owner: object, name: str, value: object) -> Iterator[None]:
    """Set an attribute for a while."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextlib.contextmanager
def without_attribute(owner: object, name: str) -> Iterator[None]:
    """Take an attribute away for a while."""
    before = getattr(owner, name)
    delattr(owner, name)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextlib.contextmanager
def item(owner: dict[Any, Any], key: object, value: object) -> Iterator[None]:
    """Set an item of a dict for a while."""
    missing = object()
    before = owner.get(key, missing)
    owner[key] = value
    try:
        yield
    finally:
        if before is missing:
            del owner[key]
        else:
            owner[key] = before


@contextlib.contextmanager
def set_and_back(setter: Callable[[Any], object], value: object, before: object) -> Iterator[None]:
    """Call a setter for a while."""
    setter(value)
    try:
        yield
    finally:
        setter(before)


def marked(value: torch.Tensor, mark: Callable[..., None], *dimensions: int) -> torch.Tensor:
    """Return `value` with dimensions marked, e.g. by `mark_dynamic`."""
    for dimension in dimensions:
        mark(value, dimension)
    return value
