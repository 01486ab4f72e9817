"""What the grammar of the target version allows."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grammar:
    """Facts about one version's grammar.

    star_in_index: `x[*a]` may be written.
    nested_quotes: an f-string's fields may hold its own quotes and backslashes.
    """

    star_in_index: bool = True
    nested_quotes: bool = False

    def bare_index_tuple(self, index: ast.Tuple) -> bool:
        """Say whether the tuple of a subscript may be written without parentheses."""
        return self.star_in_index or not any(isinstance(element, ast.Starred) for element in index.elts)
