"""Bytecode as text."""

from __future__ import annotations

import sys

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from depyf.torch.capture.listing import listing, object_words  # noqa: E402 - after the check that torch is there


def program() -> object:
    return "a constant"


def test_a_constant_without_a_literal_is_shown_in_a_few_words() -> None:
    scope = vars(sys.modules[__name__])
    code = program.__code__.replace(co_consts=(scope,) * len(program.__code__.co_consts))
    text = listing(code)
    assert f"<the globals of {__name__}>" in text
    assert len(text) < 1000


def test_members_of_a_set_have_one_order() -> None:
    code = program.__code__.replace(co_consts=(frozenset("edcba"),) * len(program.__code__.co_consts))
    assert "frozenset({'a', 'b', 'c', 'd', 'e'})" in listing(code)


def test_what_torch_writes_as_a_program_does_is_shown_so() -> None:
    code = program.__code__.replace(co_consts=(torch.float32, torch.device("cpu"), torch.ones(2)))
    assert [object_words(const) for const in code.co_consts] == [
        "torch.float32",
        "device(type='cpu')",
        "a constant of type Tensor",
    ]
