"""What two arguments of operations share that are the same by type and value."""

from __future__ import annotations

from collections.abc import Hashable


def argument_key(arg: object) -> Hashable:
    """Return a key that tells 1 from True and 0.0 from -0.0; long integers, which may have no text, have one."""
    found: list[Hashable] = []
    work = [arg]
    while work:
        item = work.pop()
        found.append(type(item).__name__)
        if isinstance(item, tuple):
            found.append(len(item))
            work.extend(item)
        else:
            found.append(item if isinstance(item, int) else repr(item))
    return tuple(found)
