"""The facts that the text of a captured graph gives about its compile. They are kept when the text is in a file."""

from __future__ import annotations

from collections.abc import Iterator

from depyf.bytecode.patterns import pattern
from depyf.model.repeats import PLACE, repeats_in
from depyf.model.run import Compile
from depyf.model.user_line import UserLine

_DRAWS = pattern(
    r"= \S*wrapped_(?:rand|randn|random|random_sample|sample|normal|uniform|choice|randint|shuffle)\("
)
"""A call of a function of `numpy.random`, as Dynamo writes it into a graph: it calls `torch._numpy.random`."""


def add_graph(compiled: Compile, text: str) -> None:
    """Add what a captured graph shows to its compile.

    Args:
        compiled: The compile.
        text: The graph as Python source with torch's comments of the user's lines.
    """
    compiled.repeats += repeats_in(text)
    compiled.drawn += tuple(line for line in drawn_in(text) if line not in compiled.drawn)


def drawn_in(text: str) -> Iterator[UserLine]:
    """Yield the user's lines at which a graph draws random numbers for a function of `numpy.random`."""
    if "wrapped_" not in text:
        return
    where = None
    for line in text.splitlines():
        place = PLACE.match(line)
        if place is not None:
            where = UserLine(place["file"], int(place["line"]), "", place["function"])
        elif where is not None and _DRAWS.search(line):
            yield where
