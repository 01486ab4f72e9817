"""Counts the runs of compiled code with as little Python as possible: torch calls the listener before each of them.

The first run of a code object goes to the contexts. If they only count its other runs, each costs a lookup and two
additions. That takes half a microsecond, nearly all of it for torch's call of a function.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable
from typing import TypeAlias

from depyf.model.run import Compile

Numbers: TypeAlias = "list[int] | memoryview[int]"
NOWHERE: Numbers = [0]
"""The counter of runs that no running log reports."""

Counter: TypeAlias = tuple[Compile, Numbers, int]
"""A compile whose `hits` are counted, and a place among numbers that outlive a killed process, for the same count."""


class RunCounts:
    """The code objects whose runs are only counted; `otherwise` receives the runs of all others."""

    def __init__(self, otherwise: Callable[[types.CodeType], None]) -> None:
        self._counters: dict[int, Counter] = {}
        self._codes: dict[int, weakref.ref[types.CodeType]] = {}
        counters = self._counters

        def listener(code: types.CodeType) -> None:
            counter = counters.get(id(code))
            if counter is None:
                otherwise(code)
                return
            compiled, numbers, at = counter
            compiled.hits = (compiled.hits or 0) + 1
            numbers[at] += 1

        self.listener = listener

    def add(self, code: types.CodeType, counter: Counter) -> None:
        """Only count the runs of `code` from now on."""
        key = id(code)
        self._codes[key] = weakref.ref(code, lambda _: self._forget(key))
        self._counters[key] = counter

    def _forget(self, key: int) -> None:
        """Forget a code object that dies: another one may get its address."""
        self._counters.pop(key, None)
        self._codes.pop(key, None)

    def clear(self) -> None:
        """Send the next run of each code object to `otherwise`."""
        self._counters.clear()
        self._codes.clear()
