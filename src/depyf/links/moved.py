"""Find the current lines for the lines in a cached graph, after the program was edited above them.

before: the cache names `a.py:12 x = a.abs()` and `a.py:13 x + 1`; this run captured the same code at 15 and 16
after: line 12 is now line 15, and line 13 is line 16

torch uses a cached graph only for the same captured graph. So the lines are the same, too, if the cache's lines occur
in the captured ones in the same file, in the same order, and in only one way. A file of the same name in another folder
counts as the same, because checkouts and containers share caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from depyf.links.origins import Origin


def moved_places(cached: Mapping[Origin, str], captured: Mapping[Origin, str]) -> dict[Origin, Origin] | None:
    """Return the current place of each place that a cache has `cached`, or None if that is ambiguous.

    Both arguments map places to the code there.
    """
    places: dict[Origin, Origin] = {}
    for before, file in same_files(cached, captured).items():
        old = sorted(line for name, line in cached if name == before)
        new = sorted(line for name, line in captured if name == file)
        embedded = _embedded([cached[before, line] for line in old], [captured[file, line] for line in new])
        if embedded is None:
            return None
        places.update(((before, line), (file, new[at])) for line, at in zip(old, embedded, strict=True))
    return places or None


def same_files(cached: Iterable[Origin], captured: Iterable[Origin]) -> dict[str, str]:
    """Return the captured file for each file that a cache names: itself, or the only one of that name elsewhere."""
    before, now = {file for file, _ in cached}, {file for file, _ in captured}
    files = {file: file for file in before & now}
    for file in before - now:
        same = [candidate for candidate in now - before if _base(candidate) == _base(file)]
        if len(same) == 1:
            files[file] = same[0]
    return files


def _base(file: str) -> str:
    return file.replace("\\", "/").rpartition("/")[2]


def _embedded(few: Sequence[str], many: Sequence[str]) -> list[int] | None:
    """Return the indices of a few texts among many, in order, or None if there is no way or more than one.

    >>> _embedded(["a", "c"], ["a", "b", "c"]), _embedded(["a"], ["a", "a"])
    ([0, 2], None)
    """
    first = _leftmost(few, many)
    last = _leftmost(few[::-1], many[::-1])
    if first is None or last is None or first != [len(many) - 1 - at for at in reversed(last)]:
        return None
    return first


def _leftmost(few: Sequence[str], many: Sequence[str]) -> list[int] | None:
    positions: list[int] = []
    for text in few:
        at = next((at for at in range(positions[-1] + 1 if positions else 0, len(many)) if many[at] == text), None)
        if at is None:
            return None
        positions.append(at)
    return positions
