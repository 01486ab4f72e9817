"""Write docstrings as people do: between three double quotes, a line for a line.

Where the compiler takes the margin off a docstring (from 3.13 on), its lines are indented like the code below it, if
that gives the very same string back.
"""

from __future__ import annotations

from depyf.bytecode.docstring import clean

QUOTE = '"""'
_NAMED = {"\\": "\\\\", "\n": "\n"}


def docstring_source(text: str, indent: str, *, cleaned: bool) -> str:
    """Return the literal of a docstring, to stand behind `indent` in code.

    cleaned: the compiler takes off the margin of docstrings.
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
    """Indent all lines but the first, and those that are empty: the last of them has the closing quotes."""
    first, *others = text.split("\n")
    lines = [line and indent + line for line in others[:-1]]
    return "\n".join([first, *lines, *(indent + line for line in others[-1:])])


def _may_be_raw(text: str) -> bool:
    """Return whether a text has backslashes, and a literal in which they stand for themselves."""
    if "\\" not in text or QUOTE in text or text.endswith(("\\", '"')):
        return False
    return text.replace("\n", "").isprintable()


def _written(char: str) -> str:
    """Return a character as it stands in a literal of several lines; its quotes are not its business."""
    if char in _NAMED:
        return _NAMED[char]
    return char if char.isprintable() else repr(char)[1:-1]
