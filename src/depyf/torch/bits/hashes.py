"""Hash tensors where they lie: no tensor is copied as a whole, and a tensor on a device stays there.

A hash takes the values in logical order, so strides do not matter. All NaN count as one value.

before: `tensor([1.0, nan])` on the CPU
after: `"f32[2]:5a0e3c11"`, the dtype, the shape, and the CRC-32 of the bytes
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

PIECE = 1 << 20
"""The number of values that are copied at once where a copy is needed: strided memory, NaN, and devices."""

_SHORT = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c", "bool": "b8"}
_WIDTH = 1 << 15
"""The number of multipliers of a hash on a device."""


def spelled_type(tensor: Tensor) -> str:
    """Return the dtype and the shape of a tensor, such as `f32[4, 8]`."""
    name = str(tensor.dtype).removeprefix("torch.")
    letters = name.rstrip("0123456789")
    short = f"{_SHORT[letters]}{name[len(letters) :]}" if letters in _SHORT else name
    return f"{short}{list(tensor.shape)}"


def is_hashable(value: object) -> bool:
    """Return whether a value is a tensor with a hash: strided, and not quantized or fake."""
    if not isinstance(value, Tensor) or value.layout is not torch.strided or value.is_quantized:
        return False
    return type(value) in (Tensor, torch.nn.Parameter) and value.device.type != "meta"


def hash_of(tensor: Tensor) -> Callable[[], str]:
    """Begin to hash a tensor, and return a function that returns the hash.

    The hash is that of the values now. On a device the function waits for the device.
    """
    value, kind = tensor.detach(), spelled_type(tensor)
    if value.is_complex():
        value = torch.view_as_real(value.resolve_conj())
    value = value.resolve_neg()
    if value.device.type == "cpu":
        text = f"{kind}:{_crc(value):08x}"
        return lambda: text
    sums = device_sums(value)
    return lambda: f"{kind}:{zlib.crc32(sums.cpu().numpy().tobytes()):08x}"


def _crc(value: Tensor) -> int:
    if value.is_contiguous() and not _has_nan(value):
        return zlib.crc32(_bytes(value))
    code = 0
    for piece in _pieces(value):
        code = zlib.crc32(_bytes(_plain(piece)), code)
    return code


def _bytes(value: Tensor) -> memoryview:
    return memoryview(value.reshape(-1).view(torch.uint8).numpy()) if value.numel() else memoryview(b"")


def _has_nan(value: Tensor) -> bool:
    """Return whether the sum of a tensor is NaN: one of its values may be, or it has infinities of both signs."""
    if not value.is_floating_point():
        return False
    if value.element_size() == 1:
        return bool(value.isnan().any()) if value.numel() <= PIECE else True
    return bool(value.sum().isnan())


def _plain(piece: Tensor) -> Tensor:
    """Return a piece in contiguous memory, with the same bits for all NaN."""
    piece = piece.contiguous()
    if not piece.is_floating_point():
        return piece
    nan = torch.full((), float("nan"), dtype=piece.dtype, device=piece.device)
    if piece.element_size() == 1:
        bits, missing = piece.view(torch.uint8), piece.isnan()
        return torch.where(missing, nan.view(torch.uint8), bits)
    return torch.where(piece.isnan(), nan, piece)


def _pieces(value: Tensor) -> Iterator[Tensor]:
    """Yield the values of a tensor in logical order, in pieces of `PIECE` values; the last may be shorter."""
    waiting: list[Tensor] = []
    count = 0
    for part in _parts(value):
        rest = part
        while rest.numel():
            waiting.append(rest[: PIECE - count])
            rest = rest[PIECE - count :]
            count += waiting[-1].numel()
            if count == PIECE:
                yield _joined(waiting)
                waiting, count = [], 0
    if waiting:
        yield _joined(waiting)


def _joined(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _parts(value: Tensor) -> Iterator[Tensor]:
    """Yield the values of a tensor in logical order, in parts of at most `PIECE` values."""
    if value.is_contiguous():
        yield from value.reshape(-1).split(PIECE)
        return
    # A slice of one index of the first dimension may still be too large: split along the next dimension, and so on.
    pending = [value]
    while pending:
        part = pending.pop()
        if part.numel() <= PIECE or not part.dim():
            yield part.reshape(-1)
            continue
        if part.shape[0] == 1:
            pending.append(part[0])
            continue
        rows = max(1, PIECE * part.shape[0] // part.numel())
        pending += reversed(part.split(rows))


def device_sums(value: Tensor) -> Tensor:
    """Return sums of the values' bits, multiplied by fixed random numbers: a hash that a device computes.

    Returns:
        int64 of shape (2 * pieces,) on the device of the tensor: for each piece two sums modulo 2 ** 64. Two pieces
        that differ give equal sums with a probability of at most 2 ** -31 for random multipliers.
    """
    sums = [piece_sum for piece in _pieces(value) for piece_sum in _sums_of(_plain(piece))]
    return torch.stack(sums) if sums else torch.zeros(0, dtype=torch.int64, device=value.device)


def _sums_of(piece: Tensor) -> tuple[Tensor, Tensor]:
    words = piece.view(torch.uint8).to(torch.int64) if piece.element_size() < 4 else piece.view(torch.int32)
    columns, rows = (_multipliers(piece.device, seed) for seed in (1, 2))
    padding = -words.numel() % _WIDTH
    table = torch.nn.functional.pad(words.to(torch.int64), (0, padding)).view(-1, _WIDTH)
    # The upper half of a sum depends on every bit; the lower half of each product lacks the upper bits of the words.
    by_row = (table * columns).sum(1)
    high, low = by_row >> 32, by_row & 0xFFFFFFFF
    return (high * rows[: len(high)]).sum(), (low * rows[: len(low)]).sum()


@functools.lru_cache(maxsize=64)
def _multipliers(device: torch.device, seed: int) -> Tensor:
    """Return `_WIDTH` fixed random numbers of 64 bits, the same with every release: the finalizer of SplitMix64."""
    state = torch.arange(1, _WIDTH + 1, dtype=torch.int64) * -7046029254386353131 + seed
    for shift, factor in ((30, -4658895280553007687), (27, -7723592293110705685)):
        state = (state ^ _shifted(state, shift)) * factor
    return (state ^ _shifted(state, 31)).to(device)


def _shifted(values: Tensor, bits: int) -> Tensor:
    """Return int64 values, shifted right as if they were unsigned."""
    return (values >> bits) & ((1 << (64 - bits)) - 1)
