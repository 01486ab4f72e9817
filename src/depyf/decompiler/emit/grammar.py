"""The grammar rules of the target version."""

from __future__ import annotations

import ast

from depyf.bytecode.code import Code
from depyf.bytecode.records import dataclass
from depyf.bytecode.versions.known import facts_of


@dataclass(frozen=True, slots=True)
class Grammar:
    """Facts about one version's grammar.

    star_in_index: `x[*a]` is allowed.
    nested_quotes: an f-string's fields may contain its own quotes and backslashes.
    cleans_docstrings: the compiler removes the indentation of docstrings.
    percent_joins: `'%s' % (a,)` compiles to the same code as `f'{a!s}'`.
    """

    star_in_index: bool
    nested_quotes: bool
    percent_joins: bool
    cleans_docstrings: bool

    @classmethod
    def of(cls, code: Code) -> Grammar:
        """Return the grammar of a code object's version."""
        facts = facts_of(code.version, str(code))
        return cls(facts.star_in_index, facts.nested_quotes, facts.percent_joins, facts.cleans_docstrings)

    def bare_index_tuple(self, index: ast.Tuple) -> bool:
        """Return whether the tuple of a subscript may be written without parentheses."""
        return self.star_in_index or not any(isinstance(element, ast.Starred) for element in index.elts)
