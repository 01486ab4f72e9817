"""A tensor can take the place of a string or a flag only where the program needs neither itself."""

from __future__ import annotations

import pytest

from depyf.model.flags import is_text_of_call, shapes_result


@pytest.mark.parametrize(
    ("body", "needed"),
    [
        ("return x.to(name)", True),
        ("return getattr(torch, name)(x)", True),
        ("return LOSSES[name](x)", True),
        ("return x * FACTORS[name]", False),
        ("return x * FACTORS.get(name)", False),
        ("return x if name == 'a' else -x", False),
    ],
)
def test_a_call_needs_a_string(body: str, needed: bool) -> None:
    assert is_text_of_call("name", f"def f(x, name):\n    {body}\n") is needed


@pytest.mark.parametrize(
    ("body", "shapes"),
    [
        ("if flag:\n        x = x * 2\n    return x", False),
        ("if flag:\n        return x\n    return -x", False),
        ("if flag:\n        seen.append(x)\n    return x", True),
        ("if flag:\n        raise ValueError\n    return x", True),
        ("return {'x': x} if flag else x", True),
        ("return attend(x, causal=flag)", True),
        ("return x * flag", False),
        ("while flag:\n        x = x / 2\n    return x", True),
    ],
)
def test_a_flag_decides_more_than_values(body: str, shapes: bool) -> None:
    assert shapes_result("flag", f"def f(x, flag):\n    {body}\n") is shapes
