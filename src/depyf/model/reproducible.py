"""Remove the parts of torch's texts that differ between processes, so that two dumps can be compared.

before: `torch._inductor.config.b = 1` and `torch._inductor.config.a = 2` in any order; `<function f at 0x7f613ba8d9e0>`
after: the settings in the order of their names; `<function f at ADDRESS>`
"""

from __future__ import annotations

import re

from depyf.bytecode.patterns import pattern

_ADDRESSES = (
    pattern(r"(at (?<!\wat ))0x[0-9a-f]{6,}"),
    pattern(r"(graph id: (?<!\wgraph id: ))\d{9,}"),
    pattern(r"(___check_(?<!\w___check_)(?:obj|type)_id\([^\n]*?, )\d{9,}"),
    pattern(r"(_DATA_PTR'\] = ')\d{9,}"),
)
"""Each pattern starts with plain text, because a search for it is much faster than for a word boundary or a choice."""

QUOTED = pattern(r"""((?<![A-Za-z0-9_'"])[bBrRuU]{0,2}(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))""", re.DOTALL)
"""A string of Python's, with its quotes."""
_AT_ADDRESS = pattern(r"\s+(?:object )?at (?:0x[0-9a-fA-F]+|ADDRESS)\b|\b0x[0-9a-f]{9,}\b")
_RANDOM_PART = pattern(r"(__compiled_fn_\d+)_[0-9a-f]{8}(?:_[0-9a-f]*)*")
_SETTINGS = pattern(r"(?:^torch\.[\w.]*config\.[\w.]+ = .*\n){2,}", re.MULTILINE)


def reproducible(text: str) -> str:
    """Return a text of torch's without addresses and random parts, and with blocks of settings in order.

    >>> reproducible("<function f at 0x7f613ba8d9e0>")
    '<function f at ADDRESS>'
    """
    for address in _ADDRESSES:
        text = address.sub(r"\1ADDRESS", text)
    text = _RANDOM_PART.sub(r"\1", text)
    if "config." in text:
        text = _SETTINGS.sub(lambda block: "".join(sorted(block[0].splitlines(keepends=True))), text)
    return text


def reproducible_code(text: str) -> str:
    """Return an expression of torch's without addresses and random parts, but with the program's strings as they are.

    >>> reproducible_code("L['key'] == ' at 0x7f613ba8d9e0' and <function f at 0x7f613ba8d9e0>")
    "L['key'] == ' at 0x7f613ba8d9e0' and <function f at ADDRESS>"
    """
    # Every second part is a string.
    parts = QUOTED.split(text)
    return "".join(part if number % 2 else reproducible(part) for number, part in enumerate(parts))


def without_addresses(text: str) -> str:
    """Return a sentence for readers without the addresses of objects.

    >>> without_addresses("cannot pickle <Pass object at 0x7f613ba8d9e0>"), without_addresses("<function f at ADDRESS>")
    ('cannot pickle <Pass>', '<function f>')
    """
    return _AT_ADDRESS.sub("", text) if "0x" in text or "ADDRESS" in text else text
