"""Text is compiled without warnings, and Python forgets none that it has shown."""

from __future__ import annotations

import warnings

import pytest

from depyf.bytecode.host import without_compiler_warnings


def test_the_compiler_warns_of_nothing_even_where_warnings_are_errors() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with without_compiler_warnings():
            compile("x is 'a'\ny = '\\d'", "<text>", "exec")
        with pytest.raises(SyntaxError):
            compile("x is 'a'", "<text>", "exec")


def test_what_was_shown_once_is_not_shown_again() -> None:
    registry: dict[object, object] = {}
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        for _ in range(2):
            warnings.warn_explicit("once", UserWarning, "here.py", 1, registry=registry)  # type: ignore[arg-type]
            with without_compiler_warnings():
                pass
    assert len(shown) == 1
