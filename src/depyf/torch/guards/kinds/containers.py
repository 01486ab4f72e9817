"""Guards on lengths, keys, members, missing attributes, and iterators."""

from __future__ import annotations

import re

from depyf.bytecode.patterns import pattern
from depyf.model.guard_failure import ABSENT as ABSENT_ITEM
from depyf.model.guard_failure import PRESENT, Check
from depyf.torch.guards.clause import Clause, Leaf, Piece
from depyf.torch.guards.held import hold
from depyf.torch.guards.kinds.place import Place
from depyf.torch.guards.kinds.reading import argument, constant
from depyf.torch.guards.literal import literal, plain_string, quoted
from depyf.torch.guards.verdicts.difference import ABSENT, brief
from depyf.torch.guards.words import expression

_EQUALS_NUMBER = pattern(r"== (\d+)$")
_HASATTR = pattern(r"(?:not )?hasattr\((?:.*), '([^']*)'\)(?: == False)?$", re.DOTALL)


def _length(leaf: Leaf) -> int | None:
    """Return the length in torch's text: `len(x) == 3`, or `not x` for 0."""
    text = expression(leaf.parts[0])
    if text.startswith("not "):
        return 0
    match = _EQUALS_NUMBER.search(text)
    return int(match[1]) if match else None


def length_check(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`len(x) == 3`."""
    length = _length(leaf)
    if length is None:
        return None
    actual = ("len(", at.at, ")")
    return at.clause(leaf, *actual, f" == {length}", expected=str(length), about=Check.LENGTH, actual=actual)


def dict_length(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`dict_length(x, 3)`: a dict with 3 items."""
    length = _length(leaf)
    if length is None:
        return None
    actual = ("len(", at.at, ")")
    about = Check.NUMBER_OF_KEYS
    return at.clause(leaf, "dict_length(", at.at, f", {length})", expected=str(length), about=about, actual=actual)


def _spelled(value: object, hint: str) -> Piece:
    return literal(value) or hold(value, hint, strongly=True)


def dict_contains(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`dict_contains(x, "key")`, or its negation."""
    text = expression(leaf.parts[0])
    wanted = not text.startswith("not ")
    body = text.removeprefix("not ").removeprefix("___dict_contains(").removesuffix(f", {at.source})")
    key: object = plain_string(body)
    if key is None:
        key = argument(text, 0)
    if key is ABSENT:
        key = constant(body, at.value if isinstance(at.value, dict) else ())
    if key is ABSENT:
        return None
    return at.clause(
        leaf,
        "" if wanted else "not ",
        "dict_contains(",
        at.at,
        ", ",
        _spelled(key, at.source),
        ")",
        expected=PRESENT if wanted else ABSENT_ITEM,
        about=Check.KEY,
        item=brief(key),
        actual=("list(", at.at, ")"),
    )


def set_contains(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`set_contains(x, 3)`, or its negation, which the text of torch 2.9 leaves out."""
    text = expression(leaf.parts[0])
    body = text.removeprefix("not ").removeprefix(f"set.__contains__({at.source}, ").removesuffix(")")
    item = argument(text, 1)
    if item is ABSENT:
        item = constant(body, at.value if isinstance(at.value, set | frozenset) else ())
    if item is ABSENT:
        return None
    wanted = not text.startswith("not ") if leaf.check is None else leaf.check({item})
    return at.clause(
        leaf,
        "" if wanted else "not ",
        "set_contains(",
        at.at,
        ", ",
        _spelled(item, at.source),
        ")",
        expected=PRESENT if wanted else ABSENT_ITEM,
        about=Check.MEMBER,
        item=brief(item),
    )


def exists(at: Place) -> list[Clause]:
    """`exists(x["key"])`: torch does not check the value, but refuses if it does not exist."""
    leaf = Leaf("EXISTS", (f"{at.source} is there",), None)
    return at.clause(leaf, "exists(", at.at, ")", expected=PRESENT, about=Check.PRESENCE)


def mapping_keys(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`list(x.keys()) == ["a"]`."""
    spelled = literal(constant(expression(leaf.parts[0]).removeprefix(f"list({at.source}.keys()) == "), ()))
    if spelled is None:
        return None
    keys = ("list(", at.at, ".keys())")
    return at.clause(leaf, *keys, f" == {spelled}", expected=spelled, about=Check.KEYS, actual=keys)


def no_hasattr(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`attribute_missing(x, "name")`."""
    match = _HASATTR.match(expression(leaf.parts[0]))
    if match is None:
        return None
    name = quoted(match[1])
    text = ("attribute_missing(", at.at, f", {name})")
    return at.clause(leaf, *text, expected=ABSENT_ITEM, about=Check.ATTRIBUTE, item=name)


def tuple_iterator_length(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`len(iterator_rest(x)) == 2`: a tuple iterator with 2 remaining items."""
    length = _length(leaf)
    if length is None:
        return None
    rest = ("len(iterator_rest(", at.at, "))")
    return at.clause(leaf, *rest, f" == {length}", expected=str(length), about=Check.LENGTH, actual=rest)


def range_iterator(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`range_rest(x) == (1, 3, 1)`: a range iterator with this rest."""
    rest = constant(expression(leaf.parts[0]).rpartition(" == ")[2], ())
    spelled = literal(rest)
    if spelled is None:
        return None
    text = ("range_rest(", at.at, ")")
    return at.clause(leaf, *text, f" == {spelled}", expected=f"range{spelled}", actual=text)
