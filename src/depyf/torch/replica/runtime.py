"""The functions that the text of a `full_code_for_*.py` calls: torch's guards in a few words.

Each function gives the verdict of one kind of torch's C++ guards, on any value. It may raise for an unsuitable value:
an exception inside a guard refuses the entry, as in C++.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import struct
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch

from depyf.model.guard_failure import Check
from depyf.torch.adapters import cpp_guards
from depyf.torch.adapters import global_state as adapter
from depyf.torch.guards.verdicts import ambient
from depyf.torch.guards.verdicts.difference import ANY, Difference, brief
from depyf.torch.guards.verdicts.tensor_match import (
    dispatch_key_names,
    marked,
    marked_differences,
    tensor,
    tensor_differences,
)
from depyf.torch.replica.dispatch import Dispatch, Entry

__all__ = [
    "ANY",
    "Dispatch",
    "Entry",
    "attribute_missing",
    "dict_contains",
    "dict_item",
    "dict_length",
    "dictionary",
    "dictionary_differences",
    "dispatch_key_names",
    "equals",
    "exists",
    "global_state",
    "global_state_differences",
    "guard",
    "isnan",
    "iterator_rest",
    "keys_are",
    "marked",
    "marked_differences",
    "no_aliasing",
    "no_aliasing_differences",
    "overlapping",
    "range_rest",
    "referent",
    "same_number",
    "set_contains",
    "tensor",
    "tensor_differences",
]

GuardFunction = Callable[[Mapping[str, Any], Mapping[str, Any]], object]


def guard(function: GuardFunction) -> Callable[[Mapping[str, Any], Mapping[str, Any]], bool]:
    """Make a guard of `function(L, G)`: an exception refuses, and `__torch_function__` is off while it runs.

    `L` maps the names of the frame's locals, cells and free variables to their values. `G` is the module's globals.
    """

    @functools.wraps(function)
    def verdict(L: Mapping[str, Any], G: Mapping[str, Any]) -> bool:
        with without_torch_function():
            try:
                return bool(function(L, G))
            except Exception:  # noqa: BLE001  torch's guards clear any exception and refuse
                return False

    return verdict


class without_torch_function:
    """Switch `__torch_function__` off, and keep its earlier state for `global_state`."""

    def __enter__(self) -> None:
        self._token = ambient.before_guards.set(adapter.torch_function_state())
        self._off = torch._C.DisableTorchFunction()
        self._off.__enter__()

    def __exit__(self, *exception: object) -> None:
        self._off.__exit__(*exception)
        ambient.before_guards.reset(self._token)


@contextlib.contextmanager
def as_before_guards() -> Iterator[None]:
    """Restore the state of `__torch_function__` from before the guard, because torch's own guards expect it."""
    outside = ambient.before_guards.get()
    if outside is None:
        yield
        return
    with adapter.with_torch_function(outside):
        yield


def global_state(**expected: object) -> bool:
    """Return whether torch's global state is `expected`.

    A flag that is not given must have its value in `ambient.USUAL`.
    """
    return not global_state_differences(**expected)


def global_state_differences(**expected: object) -> list[Difference]:
    """Return the flags of torch's global state that differ from `expected`.

    Since 2.15 `allow_tf32` follows from `cuda_matmul_precision`, so one of the two is enough.
    """
    now = ambient.current()
    wanted = {**ambient.USUAL, **expected}
    different = {
        flag: value for flag, value in wanted.items() if value is not ANY and flag in now and now[flag] != value
    }
    if "cuda_matmul_precision" in different:
        different.pop("allow_tf32", None)
    return [
        Difference(Check.STATE, brief(value), brief(now.get(flag)), flag) for flag, value in sorted(different.items())
    ]


def equals(value: object, expected: object) -> bool:
    """Return whether `value` is `expected`, or equals it with exactly the same type: `7` is not `7.0`."""
    return value is expected or (type(value) is type(expected) and bool(value == expected))


def exists(value: object) -> bool:
    """Return True: a guard that cannot reach its `value` has raised before this call."""
    return True


def same_number(value: object, expected: float | complex) -> bool:
    """Return whether `value` has exactly the type of `expected`, float or complex, and the same bits."""
    if type(value) is not type(expected) or not isinstance(value, float | complex):
        return False
    pairs = ((value.real, expected.real), (value.imag, expected.imag))
    return all(struct.pack("d", part) == struct.pack("d", other) for part, other in pairs)


def isnan(value: object, cls: type) -> bool:
    """Return whether `value` is exactly a `cls`, `float` or `complex`, and not a number."""
    return type(value) is cls and value != value


def dictionary(value: object, cls: type, length: int) -> bool:
    """Return whether `value` is exactly a `cls`, a dict or a subclass of it, with `length` items."""
    return not dictionary_differences(value, cls, length)


def dictionary_differences(value: object, cls: type, length: int) -> list[Difference]:
    """Return the differences between `value` and a `cls` with `length` items."""
    if type(value) is not cls or not isinstance(value, dict):
        return [Difference(Check.CLASS, brief(cls), brief(type(value)))]
    length_now = dict.__len__(value)
    return [] if length_now == length else [Difference(Check.NUMBER_OF_KEYS, str(length), str(length_now))]


def dict_length(value: object, length: int) -> bool:
    """Return whether `value` is a dict with `length` items."""
    return isinstance(value, dict) and dict.__len__(value) == length


def dict_contains(value: object, key: object) -> bool:
    """Return whether `value` is a dict, or the dict of a class, that has `key`."""
    if isinstance(value, MappingProxyType):
        return key in value
    return isinstance(value, dict) and dict.__contains__(value, key)


def set_contains(value: object, item: object) -> bool:
    """Return whether `value` is a set or a frozenset that has `item`."""
    if isinstance(value, set):
        return set.__contains__(value, item)
    return isinstance(value, frozenset) and frozenset.__contains__(value, item)


def dict_item(value: object, key: object) -> object:
    """Return the item of the dict `value` at `key`, without calling a subclass's `__getitem__` or `__missing__`.

    Raises:
        KeyError: the key is missing.
        TypeError: `value` is not a dict.
    """
    if isinstance(value, MappingProxyType):
        return value[key]
    if not dict_contains(value, key):
        raise KeyError(key)
    return dict.__getitem__(value, key)  # type: ignore[index]


def keys_are(value: object, *expected: object) -> bool:
    """Return whether the keys of the dict `value` begin with `expected`, in this order and of exactly these types."""
    if not isinstance(value, dict):
        return False
    keys: list[object] = list(dict.keys(value))
    return len(keys) >= len(expected) and all(map(equals, keys, expected))


def attribute_missing(value: object, name: str) -> bool:
    """Return whether `value` has no attribute `name`; an attribute that raises when read counts as missing."""
    try:
        getattr(value, name)
    except Exception:  # noqa: BLE001  PyObject_HasAttr takes any exception for absence
        return True
    return False


def referent(reference: object) -> object:
    """Return the object of a weak reference, or None if it is dead.

    Raises:
        TypeError: `reference` is not a weak reference.
    """
    if not isinstance(reference, weakref.ref):
        raise TypeError(f"{type(reference).__qualname__} is not a weak reference")
    return reference()


def iterator_rest(iterator: object) -> tuple[Any, ...]:
    """Return the remaining items of a tuple iterator, without advancing it.

    Raises:
        TypeError: it is not a tuple iterator.
    """
    if type(iterator) is not type(iter(())):
        raise TypeError(f"{type(iterator).__qualname__} is not a tuple iterator")
    return tuple(copy.copy(iterator))


def range_rest(iterator: object) -> tuple[int, int, int]:
    """Return start, stop and step of the rest of a range iterator, without advancing it.

    Raises:
        TypeError: it is not a range iterator.
    """
    if type(iterator) is not type(iter(range(0))):
        raise TypeError(f"{type(iterator).__qualname__} is not a range iterator")
    parts: tuple[object, tuple[range], int | None] = iterator.__reduce__()  # type: ignore[assignment]
    _, (whole,), taken = parts
    return whole.start + (taken or 0) * whole.step, whole.stop, whole.step


def no_aliasing(*tensors: object) -> bool:
    """Return whether all `tensors` are different objects."""
    return len(set(map(id, tensors))) == len(tensors)


def no_aliasing_differences(*tensors: object) -> list[Difference]:
    """Return which of `tensors` are the same object, by position."""
    positions: dict[int, list[int]] = {}
    for number, argument in enumerate(tensors, 1):
        positions.setdefault(id(argument), []).append(number)
    groups = [tuple(group) for group in positions.values() if len(group) > 1]
    return [Difference(Check.ALIASING, "none of them", f"those at {group}") for group in groups]


def overlapping(shared: Sequence[torch.Tensor], apart: Sequence[torch.Tensor]) -> bool:
    """Return whether exactly the tensors in `shared` overlap in memory with another given tensor."""
    return cpp_guards.overlapping_tensors([*shared, *apart]) == set(range(len(shared)))
