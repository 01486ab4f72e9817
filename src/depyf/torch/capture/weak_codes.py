"""Code objects as keys, by identity and without keeping them alive.

torch distinguishes equal code objects: each has its own cache entries. And a code object that is kept alive keeps its
entries alive, and with them the user's modules and tensors.
"""

from __future__ import annotations

import types
import weakref
from typing import Generic, TypeVar

Value = TypeVar("Value")


class WeakCodes(Generic[Value]):
    """A mapping from code objects to values."""

    def __init__(self) -> None:
        self._values: dict[int, tuple[weakref.ref[types.CodeType], Value]] = {}

    def __setitem__(self, code: types.CodeType, value: Value) -> None:
        key = id(code)
        self._values[key] = (weakref.ref(code, lambda _: self._values.pop(key, None)), value)

    def get(self, code: types.CodeType) -> Value | None:
        """Return the value of a code object, or None."""
        pair = self._values.get(id(code))
        return pair[1] if pair is not None and pair[0]() is code else None
