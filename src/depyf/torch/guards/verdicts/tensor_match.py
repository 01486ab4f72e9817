"""Torch's check of one tensor: type, keys, dtype, device, requires_grad, sizes, strides, and marked dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from depyf.model.guard_failure import Check
from depyf.torch.adapters.marks import INDICES, SIGN
from depyf.torch.guards.verdicts.difference import ABSENT, Difference, Missing, brief

_COMPRESSED = frozenset({torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc})
Marks = Mapping[str, object]
NO_MARKS: Marks = {}


def plain_keys(device: str) -> str:
    """Return the dispatch keys of an ordinary strided tensor on `device`, for example `cpu` or `cuda:0`."""
    backend = device.partition(":")[0].upper()
    return f"{backend}, BackendSelect, ADInplaceOrView, Autograd{backend}"


def dispatch_key_names(keys: torch._C.DispatchKeySet) -> str:
    """Return the names of dispatch `keys`, as an operation would see them now, separated by commas."""
    include, exclude = torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()
    return str((keys | include) - exclude).removeprefix("DispatchKeySet(").removesuffix(")")


def tensor(
    value: object,
    cls: type,
    dtype: torch.dtype,
    device: str,
    *,
    size: Sequence[int | None],
    stride: Sequence[int | None],
    requires_grad: bool,
    keys: str = "",
    marks: Marks | Missing = NO_MARKS,
) -> bool:
    """Return whether `value` is a tensor of exactly the type `cls` with these properties.

    `device` is compared by its index, as torch does; its type follows from the dispatch keys.

    Args:
        value: the value to check.
        cls: the exact type.
        dtype: the dtype.
        device: the device with its index, for example `cuda:0`.
        size: the size of each dimension; None for any number.
        stride: the stride of each dimension; None for any number.
        requires_grad: whether it requires a gradient.
        keys: the dispatch keys; "" for those of an ordinary tensor.
        marks: the dimensions that `mark_dynamic` and related functions may have marked; `ANY` if torch does not check
            them.
    """
    return type(value) is cls and not _property_differences(
        value, dtype, device, tuple(size), tuple(stride), requires_grad, keys, marks
    )


def tensor_differences(
    value: object,
    cls: type,
    dtype: torch.dtype,
    device: str,
    *,
    size: Sequence[int | None],
    stride: Sequence[int | None],
    requires_grad: bool,
    keys: str = "",
    marks: Marks | Missing = NO_MARKS,
) -> list[Difference]:
    """Return every respect in which `value` is not the tensor that `tensor` describes.

    Args:
        value: the value to check.
        cls: the exact type.
        dtype: the dtype.
        device: the device with its index, for example `cuda:0`.
        size: the size of each dimension; None for any number.
        stride: the stride of each dimension; None for any number.
        requires_grad: whether it requires a gradient.
        keys: the dispatch keys; "" for those of an ordinary tensor.
        marks: the dimensions that may be marked; `ANY` if torch does not check them.
    """
    differences = [] if type(value) is cls else [Difference(Check.TYPE, brief(cls), brief(type(value)))]
    if isinstance(value, torch.Tensor):
        differences += _property_differences(
            value, dtype, device, tuple(size), tuple(stride), requires_grad, keys, marks
        )
    return differences


def _property_differences(
    value: torch.Tensor,
    dtype: torch.dtype,
    device: str,
    size: tuple[int | None, ...],
    stride: tuple[int | None, ...],
    requires_grad: bool,
    keys: str,
    marks: Marks | Missing,
) -> list[Difference]:
    index = device.partition(":")[2]
    pairs: list[tuple[Check, object, object]] = [
        (Check.DISPATCH_KEYS, keys or plain_keys(device), dispatch_key_names(torch._C._dispatch_keys(value))),
        (Check.DTYPE, dtype, value.dtype),
        (Check.DEVICE, device, device if str(value.device.index) == (index or "None") else str(value.device)),
        (Check.REQUIRES_GRAD, requires_grad, value.requires_grad),
    ]
    differences = [Difference(check, brief(want), brief(got)) for check, want, got in pairs if want != got]
    differences += _geometry(Check.SIZE, size, tuple(value.size()))
    if len(size) == value.dim():
        differences += _geometry(Check.STRIDE, stride, _strides(value))
    return differences if isinstance(marks, Missing) else [*differences, *marked_differences(value, marks)]


def _strides(value: torch.Tensor) -> tuple[int, ...]:
    """Return the strides. A compressed sparse tensor has none; torch's check uses -1 for it."""
    return (-1,) * value.dim() if value.layout in _COMPRESSED else tuple(value.stride())


def _geometry(check: Check, expected: tuple[int | None, ...], actual: tuple[int, ...]) -> list[Difference]:
    fits = len(expected) == len(actual) and all(
        want is None or want == got for want, got in zip(expected, actual, strict=True)
    )
    return [] if fits else [Difference(check, _with_any(expected), _with_any(actual))]


def _with_any(numbers: tuple[int | None, ...]) -> str:
    inner = ", ".join("any" if number is None else str(number) for number in numbers)
    return f"({inner},)" if len(numbers) == 1 else f"({inner})"


def marked(value: object, marks: Marks) -> bool:
    """Return whether an entry compiled for a tensor with `marks` serves a tensor with the marks of `value`."""
    return not marked_differences(value, marks)


def marked_differences(value: object, marks: Marks) -> list[Difference]:
    """Return the marks on the dimensions of `value` that an entry compiled with `marks` does not serve.

    Every entry serves a tensor without marks. The indices of an attribute in `marks` must contain those on the tensor.
    An attribute that is not in `marks` must be missing. A pair in `marks` is a value and the name of another attribute;
    if that attribute exists, the value must be equal.
    """
    if not hasattr(value, SIGN):
        return []
    if not marks:
        return [Difference(Check.MARKS, "none", _marks_on(value))]
    return [
        Difference(Check.MARKS, brief({name: marks.get(name, ABSENT)}), brief({name: getattr(value, name, ABSENT)}))
        for name in dict.fromkeys((*INDICES, *marks))
        if not _mark_fits(value, name, marks.get(name))
    ]


def _mark_fits(value: object, name: str, want: object) -> bool:
    if want is None:
        return not hasattr(value, name)
    if isinstance(want, tuple):
        expected, gate = want
        return not hasattr(value, gate) or bool(getattr(value, name, None) == expected)
    return not hasattr(value, name) or bool(getattr(value, name).issubset(want))


def _marks_on(value: object) -> str:
    return brief({name: mark for name, mark in vars(value).items() if name.startswith("_dynamo_")})
