"""A contract ignores the code of named modules: a line that torch does not name is in none of them."""

from __future__ import annotations

import pytest

from depyf.findings.contract.facts import is_allowed
from depyf.model.user_line import UserLine


@pytest.mark.parametrize(
    ("filename", "names", "expected"),
    [
        ("transformers/models/gpt2.py", ["transformers"], True),
        ("transformers/models/gpt2.py", ["transformers.models.gpt2"], True),
        ("transformers/models/gpt2.py", ["*.gpt2"], True),
        ("transformers/models/gpt2.py", ["transformer", "models"], False),
        ("transformers/models/gpt2.py", [], False),
    ],
)
def test_a_line_belongs_to_its_module_and_packages(filename: str, names: list[str], expected: bool) -> None:
    assert is_allowed(UserLine(filename, 3), names) is expected


def test_an_unknown_line_is_ignored_by_no_name() -> None:
    assert is_allowed(None, ["*", ""]) is False
