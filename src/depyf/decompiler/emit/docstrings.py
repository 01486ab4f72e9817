"""Write docstrings in the usual style: between three double quotes, with one line per line.

If the compiler removes the indentation of docstrings (since 3.13), their lines are indented like the code below, as
long as that gives exactly the same string.
"""

from __future__ import annotations

from depyf.bytecode.docstring import clean

QUOTE = '"""'
_NAMED = {"\\": "\\\\", "\n": "\n"}


def docstring_source(text: str, indent: str, *, cleaned: bool) -> str:
    """Return the literal of a docstring that follows `indent` in the code.

    Args:
        text: the docstring, as the code object has it.
        indent: the whitespace before the statement.
        cleaned: whether the compiler removes the indentation of docstrings (3.13).
    """
    if cleaned and clean(indented := _indented(text, indent)) == text:
        text = indented
    if _may_be_raw(text):
        return f"r{QUOTE}{text}{QUOTE}"
    is_plain = "\\" not in text and text.replace("\n", "").isprintable()
    body = text if is_plain else "".join(map(_written, text))
    if body.endswith('"'):
        body = body[:-1] + '\\"'
    body = body.replace(QUOTE, '\\"\\"\\"')
    return f"{QUOTE}{body}{QUOTE}"


def _indented(text: str, indent: str) -> str:
    """Indent all lines except the first and empty ones; the last line holds the closing quotes."""
    first, *others = text.split("\n")
    lines = [line and indent + line for line in others[:-1]]
    return "\n".join([first, *lines, *(indent + line for line in others[-1:])])


def _may_be_raw(text: str) -> bool:
    """Return whether a text has backslashes, and a raw literal."""
    if "\\" not in text or QUOTE in text or text.endswith(("\\", '"')):
        return False
    return text.replace("\n", "").isprintable()


def _written(char: str) -> str:
    """Return a character as written in a multi-line literal, without escaping quotes."""
    if char in _NAMED:
        return _NAMED[char]
    return char if char.isprintable() else repr(char)[1:-1]
