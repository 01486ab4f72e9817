"""Which names a source can say."""

from __future__ import annotations

import keyword
import unicodedata
from functools import lru_cache


@lru_cache(maxsize=1 << 12)
def is_writable(name: str) -> bool:
    """Return whether a name, written in a source, is that name: identifiers are normalised, and keywords are none.

    `None` and its like are keywords; names with lone surrogates are no identifiers.
    """
    return name.isidentifier() and not keyword.iskeyword(name) and unicodedata.normalize("NFKC", name) == name
