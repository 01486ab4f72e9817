"""What differs from process to process is left out of torch's texts, and nothing else."""

from __future__ import annotations

import pytest

from depyf.model.reproducible import reproducible


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 0x7f1122 + y", "x = 0x7f1122 + y"),
        ("size 123456789012", "size 123456789012"),
        ("look at 0x12", "look at 0x12"),
        ("<M object at 0x7f613ba8d9e0>", "<M object at ADDRESS>"),
        (" # graph id: 139879848343312", " # graph id: ADDRESS"),
        ("___check_obj_id(L['a'], 139879848343312), x", "___check_obj_id(L['a'], ADDRESS), x"),
        ("__compiled_fn_402_541c2e2c_44b0_4f3d_8ef1_0a5ac... != 3", "__compiled_fn_402... != 3"),
        ("__compiled_fn_4.py", "__compiled_fn_4.py"),
        (
            "torch._inductor.config.b.c = 1\ntorch._dynamo.config.a = 3\ntorch._inductor.config.a = 2\nx\n",
            "torch._dynamo.config.a = 3\ntorch._inductor.config.a = 2\ntorch._inductor.config.b.c = 1\nx\n",
        ),
    ],
)
def test_texts(text: str, expected: str) -> None:
    assert reproducible(text) == expected
