"""JSON that fits a budget of tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from depyf.views.brief.tokens import count

Json: TypeAlias = dict[str, Any]
LEAST = 600
"""The least budget: the frame of an answer takes about a third of it."""
RESERVED = 100
"""Tokens for the last key of an answer, which names the rest."""
_MARK = "…"
_LENGTHS = (2000, 600, 240, 90, 30)
"""Characters of the longest text in an item, tried in this order."""


_WHOLE = frozenset(("id", "file", "kind", "more"))
"""The keys whose values are of no use in part."""


def written(content: object) -> str:
    """Return JSON without blanks that nobody needs."""
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False)


def cost(content: object) -> int:
    """Return the tokens of a value, and of the mark that parts it from the next one."""
    return count(written(content)) + 1


def shortened(value: Any, length: int) -> Any:  # noqa: ANN401 - JSON
    """Return JSON in which no text is longer than `length`, except for names that are of no use in part.

    >>> shortened({"cause": "a graph break"}, 8)
    {'cause': 'a graph…'}
    """
    root: Any = [None]
    waiting: list[tuple[Any, Any, Any]] = [(root, 0, value)]
    while waiting:
        target, key, part = waiting.pop()
        if isinstance(part, dict):
            target[key] = dict.fromkeys(part)
            waiting += [(target[key], name, inner) for name, inner in part.items() if name not in _WHOLE]
            target[key].update((name, inner) for name, inner in part.items() if name in _WHOLE)
        elif isinstance(part, (list, tuple)):
            target[key] = [None] * len(part)
            waiting += [(target[key], index, inner) for index, inner in enumerate(part)]
        else:
            is_long = isinstance(part, str) and len(part) > length
            target[key] = part[: length - 1] + _MARK if is_long else part
    return root[0]


class Frame:
    """An answer that grows until its budget is used up."""

    def __init__(self, content: Json, budget: int) -> None:
        self.content = content
        self._left = budget - count(written(content)) - 1 - RESERVED

    def end(self, key: str, value: list[str]) -> None:
        """Set the last key to a list of ids, for which tokens are reserved: to the first ids if not all fit."""
        self._left += RESERVED
        while value and not self.set(key, value):
            value = value[:-1]

    def set(self, key: str, value: object) -> bool:
        """Set a key if its value fits; return whether it did."""
        price = cost({key: value})
        if price > self._left:
            return False
        self.content[key] = value
        self._left -= price
        return True

    def fill(self, key: str, items: Iterable[Any], *, at_least_one: bool = False) -> int:
        """Append items to the list under a key, in order, while they fit; return their number.

        at_least_one: shorten the first item until it fits.
        """
        kept: list[Any] = []
        left = self._left - cost({key: []})
        for item in items:
            fitting = next((form for form in _forms(item, at_least_one and not kept) if cost(form) <= left), None)
            if fitting is None:
                break
            left -= cost(fitting)
            kept.append(fitting)
        if kept:
            self.content[key] = kept
            self._left = left
        return len(kept)

    def fill_lines(self, key: str, lines: list[str]) -> int:
        """Set a key to the first lines of a text that fit; return their number. A line that is too long is cut."""
        left = self._left - cost({key: ""})
        kept: list[str] = []
        for line in lines:
            fitting = next((form for form in _forms(line, not kept) if cost(form) <= left), None)
            if fitting is None:
                break
            left -= cost(fitting)
            kept.append(str(fitting))
        if kept:
            self.content[key] = "\n".join(kept)
            self._left = left
        return len(kept)

    @property
    def text(self) -> str:
        """Return the answer as JSON."""
        return written(self.content)


def _forms(item: object, may_shorten: bool) -> Iterator[object]:
    yield item
    if may_shorten:
        yield from (shortened(item, length) for length in _LENGTHS)
