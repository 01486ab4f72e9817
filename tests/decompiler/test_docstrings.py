"""Docstrings come back as text between three double quotes, whatever is in them."""

from __future__ import annotations

import ast

import pytest

from depyf.bytecode.docstring import clean
from depyf.decompiler.emit.docstrings import docstring_source
from tests import interpreters
from tests.decompiler.again import exact

TEXTS = [
    "One line.",
    "Two\n    lines.",
    "It ends in a line of its own.\n    ",
    "It ends there, and\n    has \\backslashes\\ and 'quotes'.",
    'It holds """ and ends in a quote"',
    "It ends in a backslash\\",
    "tab\there, return\rthere, page\fand nothing\0, \x7f, \u2028, é, 漢",
    "\n\n  Blank lines first.\n\n      Indented.\n   \n",
    "   Spaces first.\n  Less.",
    "Trailing blanks   \n    \n",
    "",
    "\n",
    '"',
    '"""',
    "\\",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("indent", ["", "    ", "        "])
@pytest.mark.parametrize("cleaned", [False, True])
def test_a_literal_gives_its_text_back(text: str, indent: str, cleaned: bool) -> None:
    text = clean(text) if cleaned else text
    read = ast.literal_eval(docstring_source(text, indent, cleaned=cleaned))
    assert (clean(read) if cleaned else read) == text


@pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)
@pytest.mark.parametrize("text", TEXTS)
def test_docstrings_come_back(text: str, version: tuple[int, int]) -> None:
    source = f"{text!r}\nclass C:\n    {text!r}\n    def f(self):\n        {text!r}\n        return 1\n"
    source_text = exact(source, version)
    assert '"""' in source_text


def test_a_docstring_stands_like_the_code_below_it() -> None:
    version = next((candidate for candidate in interpreters.VERSIONS if candidate >= (3, 13)), None)
    if version is None:
        pytest.skip("no Python from 3.13 on")
    source = (
        'def f(x):\n    """Return x.\n\n    Args:\n        x: what\n          comes back\n    """\n    return x\n'
    )
    assert exact(source, version) == source


def test_a_text_of_backslashes_is_raw() -> None:
    source = 'def f(x):\n    r"""Return \\frac{1}{x}.\n    """\n    return 1 / x\n'
    assert exact(source, (3, 11)) == source
