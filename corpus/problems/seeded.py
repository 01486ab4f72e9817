"""The programs by name. `# here` marks the line that the first finding of a program with a problem has to name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import torch

HERE = "# here"
PROBLEMS: dict[str, tuple[frozenset[str], Callable[[], object]]] = {}
"""By name: the kinds that are right, and the program."""
CLEAN: dict[str, Callable[[], object]] = {}


LACKING: dict[str, Mapping[str, str]] = {}
"""By name: why a release, such as "2.6", does not have the problem, by torch's own log."""


def problem(
    *kinds: str, lacking: Mapping[str, str] = MappingProxyType({})
) -> Callable[[Callable[[], object]], Callable[[], object]]:
    """Return a decorator for a program with one problem; several kinds where more than one name fits.

    Args:
        kinds: the kinds that are right.
        lacking: why a release does not have the problem, by the release.
    """

    def add(program: Callable[[], object]) -> Callable[[], object]:
        assert program.__name__ not in PROBLEMS, program.__name__
        PROBLEMS[program.__name__] = frozenset(kinds), program
        LACKING[program.__name__] = lacking
        return program

    return add


def clean(program: Callable[[], object]) -> Callable[[], object]:
    """Add a program without a problem."""
    assert program.__name__ not in CLEAN, program.__name__
    CLEAN[program.__name__] = program
    return program


def compiled(function: Any, **settings: Any) -> Any:  # noqa: ANN401 - a function or a module of any kind
    """Compile with the backend that is fastest to compile with."""
    return torch.compile(function, **{"backend": "eager", **settings})
