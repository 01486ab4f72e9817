"""Hashes of tensors: equal exactly for equal values, whatever the strides, and all NaN are one value."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from depyf.torch.bits import hashes  # noqa: E402 - after the check that torch is there
from depyf.torch.bits.hashes import device_sums, hash_of, is_hashable  # noqa: E402

Tensor = torch.Tensor
DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.int8, torch.complex64)


def values(dtype: torch.dtype) -> Tensor:
    return (torch.arange(24).reshape(4, 6) - 9).to(dtype)


@pytest.fixture(params=["cpu", "device"])
def hashed(request: pytest.FixtureRequest) -> object:
    """Return the hash of a CPU, or the sums of a device, as a function."""
    return (lambda t: hash_of(t)()) if request.param == "cpu" else (lambda t: device_sums(t).tolist())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_one_other_bit_gives_another_hash(dtype: torch.dtype) -> None:
    left, right = values(dtype), values(dtype)
    assert hash_of(left)() == hash_of(right)()
    right[3, 5] += 1
    assert hash_of(left)() != hash_of(right)()


def test_two_other_signs_give_another_hash(hashed: object) -> None:
    left, right = values(torch.float32), values(torch.float32)
    right[0, 0] *= -1
    right[0, 2] *= -1
    assert hashed(left) != hashed(right)  # type: ignore[operator]


def test_zeros_of_both_signs_differ_and_all_nan_are_equal(hashed: object) -> None:
    zero, nan = torch.zeros(3), torch.tensor([1.0, float("nan")])
    assert hashed(zero) != hashed(-zero)  # type: ignore[operator]
    assert hashed(nan) == hashed(torch.tensor([1.0, -float("nan")]))  # type: ignore[operator]
    half = nan.to(torch.float8_e4m3fn)
    assert hashed(half) == hashed(half.clone())  # type: ignore[operator]


def test_order_counts_and_strides_do_not(hashed: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashes, "PIECE", 5)  # Several pieces, also within a row.
    square = torch.arange(49.0).reshape(7, 7)
    turned = square.t()
    assert hashed(turned) == hashed(turned.contiguous())  # type: ignore[operator]
    assert hashed(turned) != hashed(square)  # type: ignore[operator]


def test_the_hash_names_dtype_and_shape() -> None:
    assert hash_of(values(torch.bfloat16))().startswith("bf16[4, 6]:")
    assert hash_of(torch.zeros(0, 3))() == "f32[0, 3]:00000000"
    assert hash_of(torch.tensor(2.0))() != hash_of(torch.tensor([2.0]))()


def test_values_that_have_no_hash() -> None:
    assert not is_hashable(3)
    assert not is_hashable(torch.empty(2, device="meta"))
    assert not is_hashable(torch.eye(2).to_sparse())


def test_the_hash_is_of_the_values_at_that_time() -> None:
    value = torch.zeros(4)
    before = hash_of(value)
    value += 1
    assert before() == hash_of(torch.zeros(4))()
