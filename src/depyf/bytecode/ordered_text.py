"""Constants as text that is the same in every process. The order of a set depends on its members' hashes.

before: `frozenset({'b', 'a'})` or `frozenset({'a', 'b'})`, depending on the process
after: `frozenset({'a', 'b'})`
"""

from __future__ import annotations

CONTAINERS = (tuple, frozenset, set)
"""Containers that can contain themselves only through another object, which is asked for its own text."""


def ordered_text(value: object) -> str:
    """Return `repr(value)`, with the members of sets in the order of their texts.

    >>> ordered_text((frozenset({"b", "a"}), 1.0))
    "(frozenset({'a', 'b'}), 1.0)"
    """
    texts: list[str] = []
    pending = [(value, False)]
    while pending:
        item, members_are_made = pending.pop()
        if not isinstance(item, CONTAINERS) or type(item) not in CONTAINERS:
            texts.append(repr(item))
        elif not members_are_made:
            pending.append((item, True))
            pending.extend((member, False) for member in reversed(tuple(item)))
        else:
            first = len(texts) - len(item)
            texts[first:] = [_bracketed(type(item), texts[first:])]
    return texts[0]


def _bracketed(kind: type, members: list[str]) -> str:
    if kind is tuple:
        return f"({members[0]},)" if len(members) == 1 else f"({', '.join(members)})"
    inside = f"{{{', '.join(sorted(members))}}}"
    return inside if kind is set and members else f"{kind.__name__}({inside if members else ''})"
