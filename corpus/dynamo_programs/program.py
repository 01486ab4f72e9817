"""A program for Dynamo: a function to compile, the calls of it, and what else it changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch

Value: TypeAlias = Any
Function: TypeAlias = Callable[..., Any]
Calls = Callable[[], list[tuple[Value, ...]]]


@dataclass(frozen=True)
class Program:
    """A function, the arguments of its calls, and what else is to be compared after them: effects on other objects."""

    name: str
    function: Function
    calls: Calls
    effects: Callable[[], object]


def ones_and_minus_ones() -> list[tuple[Value, ...]]:
    """Return calls with one tensor, positive and negative, and one of another size."""
    return [(torch.ones(4),), (-torch.ones(4),), (torch.arange(6.0),)]


def nothing() -> None:
    """Stand for a program that changes nothing but what it returns."""


@dataclass
class Programs:
    """The programs of a module, in order."""

    all: list[Program] = field(default_factory=list)

    def __call__(
        self, calls: Calls = ones_and_minus_ones, effects: Callable[[], object] = nothing
    ) -> Callable[[Function], Function]:
        """Return a decorator that notes a function as a program."""

        def note(function: Function) -> Function:
            self.all.append(Program(function.__name__, function, calls, effects))
            return function

        return note

    def made(self, calls: Calls = ones_and_minus_ones) -> Callable[[Function], Function]:
        """Return a decorator for a function that makes the program, with its name, and the list of its effects."""

        def note(maker: Function) -> Function:
            function, effects = maker()
            self.all.append(Program(maker.__name__, function, calls, lambda: effects))
            return maker

        return note
