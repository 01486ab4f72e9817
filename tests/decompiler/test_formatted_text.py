"""Formatted text, in the form that the grammar of each version has for it."""

from __future__ import annotations

import pytest

from tests import interpreters
from tests.decompiler.again import exact

every_version = pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)

BACKSLASH = r"""
x = "%s has\t%r" % ("\n".join(a), b)
y = "%a: %-10s, %5.3s %% {}" % (a, "\n", "'" + '"')
z = "%s" % ("%s" % ("\n".join(a),),)
"""

RAW = (
    "x = f'{a}: {\"\t\".join(b)}'\n"
    "y = f'''{\"\"\"\n\"\"\".join(b)} {a['x']}'''\n"
)


@every_version
def test_what_an_f_string_cannot_hold_is_formatted_by_an_operator(version: tuple[int, int]) -> None:
    lines = exact(BACKSLASH, version).splitlines()
    assert lines[0] == r"x = '%s has\t%r' % ('\n'.join(a), b)"


@every_version
def test_characters_that_a_field_held_themselves_stay_so(version: tuple[int, int]) -> None:
    assert "join(b)" in exact(RAW, version)


@every_version
def test_every_kind_of_quotes_in_one_field(version: tuple[int, int]) -> None:
    source = "x = '%s' % (f(\"'\", '\"', \"'''\", '\"\"\"'),)\n"
    assert exact(source, version).startswith("x = '%s' % ")
