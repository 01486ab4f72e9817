"""Regular expressions that are compiled at their first use.

A first capture loads 86 of them; compiling these took a fifth of the time to load depyf, and most captures use half.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Pattern:
    """A regular expression that becomes `re`'s own at the first use of a method."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of any type
        """Compile, and keep the bound method: the next use finds it in the instance."""
        value = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, value)
        return value


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression, which is compiled when it is first used.

    >>> pattern("a+").sub("b", "caat")
    'cbt'
    """
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))
