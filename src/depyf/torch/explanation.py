"""A compiled function shown in a notebook's cell, or as text in a terminal."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

from depyf.torch.guards.full_code import CompiledEntry, CompiledFunction
from depyf.torch.guards.record import guard_set
from depyf.torch.replica import Replica


class Explanation:
    """What torch made of a function: its source, and for each entry the guards and the code that runs.

    In a notebook it shows itself as sections that open, in a terminal as the text of the full code.
    """

    def __init__(self, compiled: object) -> None:
        """Read a compiled function, method or module from torch's cache.

        Raises:
            TypeError: it is no function, method or module.
            ValueError: nothing is compiled of it.
        """
        self._replica = Replica(compiled)

    def __str__(self) -> str:
        return self._replica.text

    __repr__ = __str__

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """Return the same thing as text and as HTML; a front end takes what it can show."""
        return {"text/plain": str(self), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        sections = [line for function in self._replica.functions for line in _function(function)]
        return "\n".join(['<div class="depyf">', *sections, _section("full code", self._replica.text), "</div>"])


def _function(function: CompiledFunction) -> Iterator[str]:
    from_line = f", goes on at line {function.resumes_at}" if function.resumes_at is not None else ""
    place = f"{function.filename}:{function.first_line}{from_line}"
    yield f"<h4><code>{html.escape(function.name)}</code> <small>{html.escape(place)}</small></h4>"
    if function.source and function.resumes_at is None:
        yield _section("your source", function.source)
    if not function.entries:
        yield "<p>no entry: it was never compiled, or torch dropped what it had</p>"
    for entry in function.entries:
        yield from _entry(entry)


def _entry(entry: CompiledEntry) -> Iterator[str]:
    yield f"<p>entry <b>{html.escape(entry.compile_id)}</b>, proven: {html.escape(entry.proof)}</p>"
    yield _section("the code that runs", entry.source or "Dynamo's own bytecode", is_open=True)
    guards = guard_set(entry.guards).guards
    yield _section(f"{len(guards)} guards", "\n".join(each.clause for each in guards))


def _section(title: str, text: str, *, is_open: bool = False) -> str:
    state = " open" if is_open else ""
    return f"<details{state}><summary>{html.escape(title)}</summary><pre>{html.escape(text)}</pre></details>"
