"""Determine which names a source can contain."""

from __future__ import annotations

import keyword
import unicodedata
from functools import lru_cache


@lru_cache(maxsize=1 << 12)
def is_writable(name: str) -> bool:
    """Return whether a name in a source stays the same: identifiers are normalised, and keywords are not names.

    `None` and similar names are keywords; names with lone surrogates are not identifiers.
    """
    return name.isidentifier() and not keyword.iskeyword(name) and unicodedata.normalize("NFKC", name) == name
