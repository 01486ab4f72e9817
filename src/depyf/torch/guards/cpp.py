"""The Python interface of torch's C++ guard tree, as far as it is used here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias


class LeafObject(Protocol):
    """A guard on one value. Most can be called with a value for their verdict."""

    def verbose_code_parts(self) -> Sequence[str]:
        """Return torch's text of the check."""


class Accessor(Protocol):
    """The step from one value to the next."""

    def repr(self) -> str:
        """Return the accessor's class and argument as text."""


class ValueGuards(Protocol):
    """The guards on one value, and the steps to other values."""

    def get_source(self) -> str:
        """Return torch's expression for the value."""

    def get_type_of_guarded_value(self) -> type:
        """Return the type of the value that the guards were made for. Not every torch knows it."""

    def get_leaf_guards(self) -> Sequence[LeafObject]:
        """Return the guards on the value itself."""

    def get_accessors(self) -> Sequence[Accessor]:
        """Return the steps to other values."""

    def get_child_managers(self) -> Sequence[ValueGuards]:
        """Return the managers of these values, in the order of the accessors."""


KeyValue: TypeAlias = tuple[ValueGuards | None, ValueGuards | None]
"""The managers of a key and of its value; None if torch does not check it."""


class DictGuards(ValueGuards, Protocol):
    """The guards on a dict whose items torch finds by position."""

    def get_key_value_managers(self) -> Mapping[int, KeyValue]:
        """Return the managers of keys and values by position."""


class Root(ValueGuards, Protocol):
    """The guards of an entry."""

    def check(self, local_values: dict[str, object]) -> bool:
        """Return torch's verdict on a frame with these locals."""

    def get_epilogue_lambda_guards(self) -> Sequence[LeafObject]:
        """Return the guards that torch checks last."""


class Wrapper(Protocol):
    """The content of a cache entry: its guards, and the names in torch's own expressions."""

    root: Root
    closure_vars: Mapping[str, object] | None
    global_scope: Mapping[str, dict[str, object]]
