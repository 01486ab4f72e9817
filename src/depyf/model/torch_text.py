"""Parse torch's own text of a guard, where torch gives text alone: in traces, and before 2.6.

`L['mode'] == 'fast'  # return x if mode == 'fast'  # train.py:7 in f` is a Python expression with a comment. Names,
keys and strings in it can hold any character, so the parser follows Python's quotes and brackets.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from depyf.bytecode.patterns import pattern
from depyf.model.guard_failure import ABSENT, PRESENT, Check, GuardFailure
from depyf.model.user_line import UserLine

_OPEN, _CLOSE = "([{", ")]}"
_MISMATCH = {
    "size": Check.SIZE,
    "stride": Check.STRIDE,
    "strides": Check.STRIDE,
    "rank": Check.RANK,
    "dtype": Check.DTYPE,
    "device": Check.DEVICE,
    "type": Check.TYPE,
    "requires_grad": Check.REQUIRES_GRAD,
    "dispatch key set": Check.DISPATCH_KEYS,
}
"""torch's words for what differs in a tensor: `tensor 'x' dtype mismatch. expected Float, actual Double`."""
_OTHER_TYPE = re.compile(
    r"expected type of '(?P<source>.+)' to be a tensor type, '? ?but found <class '(?P<actual>[^']+)'>$"
)
"""torch's words for an object of another class in the place of a tensor."""
_STATE = "GLOBAL_STATE changed:"
_TENSOR = "tensor '"


def outside(text: str, start: int = 0) -> Iterator[int]:
    """Yield the positions in a text from `start` on that are inside of no string and no brackets.

    A quote in the middle of a word, such as that of `isn't`, begins no string.
    """
    depth, quote, position = 0, "", start
    while position < len(text):
        char = text[position]
        if quote:
            if char == "\\":
                position += 1
            elif char == quote:
                quote = ""
        elif char in "'\"" and not (position and text[position - 1].isalnum() and not _is_prefix(text, position)):
            quote = char
        else:
            depth += (char in _OPEN) - (char in _CLOSE)
            if depth == 0 or (depth == 1 and char in _OPEN):
                yield position
        position += 1


def _is_prefix(text: str, position: int) -> bool:
    """Return whether the word before a quote is the prefix of a string, such as `b` or `rb`."""
    start = position
    while start and text[start - 1].isalnum():
        start -= 1
    return text[start:position].lower() in ("b", "r", "u", "f", "rb", "br")


def find_outside(text: str, words: str, start: int = 0) -> int:
    """Return the first position of `words` in a text outside of strings and brackets, or -1.

    Args:
        text: the text to search.
        words: the words to find.
        start: the position at which the search begins.
    """
    return next((position for position in outside(text, start) if text.startswith(words, position)), -1)


def without_comment(text: str) -> tuple[str, str]:
    """Return an expression of torch's, and the comment after it. A `#` in a string begins no comment.

    >>> without_comment("L['s'] == 'a  # b'  # if s:  # f.py:3 in f")
    ("L['s'] == 'a  # b'", 'if s:  # f.py:3 in f')
    """
    marks = (position for position in outside(text) if text.startswith("# ", position))
    mark = next((position for position in marks if text[:position].endswith(" ")), -1)
    return (text.strip(), "") if mark < 0 else (text[:mark].strip(), text[mark + 2 :].strip())


def guard_failure(text: str, line: UserLine | None = None) -> GuardFailure:
    """Return the guard failure that an expression of torch's states. torch gives no value of the call.

    Args:
        text: torch's expression, without its comment.
        line: the user's line that the comment names.
    """
    if text.startswith(_STATE):
        return GuardFailure(text.removeprefix(_STATE).split()[0] if text != _STATE else "", Check.STATE, text=text)
    other = _OTHER_TYPE.match(text)
    if other is not None:
        return GuardFailure(other["source"], Check.TYPE, "torch.Tensor", other["actual"], line, text)
    mismatch = _mismatch(text) if text.startswith(_TENSOR) else _of_expression(text)
    unknown = GuardFailure("", Check.UNKNOWN, line=line, text=text)
    if mismatch is None:
        return unknown
    return GuardFailure(
        mismatch.source,
        mismatch.check,
        mismatch.expected,
        mismatch.actual,
        line,
        text,
        item=mismatch.item,
        dimension=mismatch.dimension,
    )


def _mismatch(text: str) -> GuardFailure | None:
    """Parse `tensor 'x' size mismatch at index 1. expected 8, actual 12`; the name is not quoted as in Python.

    A hint of torch's may follow: `actual 12. Guard failed on a parameter, consider using ...`.
    """
    end = _end_of_name(text)
    words, mismatch, rest = text[end + 1 :].partition(" mismatch")
    check = _MISMATCH.get(words.strip())
    if end < 0 or not mismatch or check is None:
        return None
    place, _, values = rest.partition("expected ")
    expected, _, rest = values.partition(", actual ")
    actual = rest.partition(". ")[0].removesuffix(".")
    index = place.removeprefix(" at index ").partition(".")[0]
    dimension = int(index) if index.isdigit() else -1
    return GuardFailure(text[len(_TENSOR) : end], check, expected.strip(), actual.strip(), dimension=dimension)


def _end_of_name(text: str) -> int:
    """Return the position of the quote that ends the name of a tensor; keys in the name have quotes of their own."""
    depth, quote, position = 0, "", len(_TENSOR)
    while position < len(text):
        char = text[position]
        if quote:
            if char == "\\":
                position += 1
            elif char == quote:
                quote = ""
        elif depth and char in "'\"":
            quote = char
        elif char == "'":
            return position
        else:
            depth += (char in _OPEN) - (char in _CLOSE)
        position += 1
    return -1


def _parsed(text: str) -> tuple[str, ast.expr | None]:
    """Return an expression and its syntax tree; torch adds `, type=<class 'int'>` to some, which is left out."""
    for candidate in (text, text[: find_outside(text, ", type=")]):
        try:
            return candidate.strip(), ast.parse(candidate.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            continue
    return text, None


def _of_expression(text: str) -> GuardFailure | None:
    """Return the guard failure that an expression states, or None if it is of another form."""
    text, tree = _parsed(text)

    def words(node: ast.expr) -> str:
        return ast.get_source_segment(text, node) or ast.unparse(node)

    match tree:
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="len"), args=[value]),
            ops=[ast.Eq() | ast.NotEq()],
            comparators=[ast.Constant(value=int() as length)],
        ) if is_place(value):
            return GuardFailure(words(value), Check.LENGTH, str(length))
        case ast.Compare(left=value, ops=[ast.Is()], comparators=[other]) if is_place(value) and is_place(other):
            return GuardFailure(text, Check.IDENTITY)
        case ast.Compare(left=value, ops=[ast.Eq() | ast.Is()], comparators=[expected]) if is_place(value):
            return GuardFailure(words(value), Check.VALUE, words(expected))
        case ast.UnaryOp(op=ast.Not(), operand=value) if is_place(value):
            return GuardFailure(words(value), Check.LENGTH, "0")
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call):
            return _of_call(call, ABSENT, words)
        case ast.Call() as call:
            return _of_call(call, PRESENT, words)
    return None


def _of_call(call: ast.Call, expected: str, words: Callable[[ast.expr], str]) -> GuardFailure | None:
    match call:
        case ast.Call(func=ast.Name(id="___dict_contains"), args=[key, value]):
            return GuardFailure(words(value), Check.KEY, expected, item=words(key))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="set"), attr="__contains__"), args=[value, member]):
            return GuardFailure(words(value), Check.MEMBER, expected, item=words(member))
        case ast.Call(func=ast.Name(id="hasattr"), args=[value, name]) if expected == ABSENT:
            return GuardFailure(words(value), Check.ATTRIBUTE, expected, item=words(name))
    return None


def is_place(node: ast.expr) -> bool:
    """Return whether an expression is a name, an attribute or an item of one: a value that a program can name."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return isinstance(node, ast.Name)


_HELD_NUMBER = pattern(r"_*as_tensor\((?P<of>[^()]+)\)\.item\(\) == (?P<expected>-?[\d.]+(?:e[+-]?\d+)?)$")


def condition_failure(condition: str, values: tuple[tuple[str, str], ...] = ()) -> GuardFailure:
    """Return the failure of a condition. A dimension that is too small, a number of the user's, and an identity have
    checks of their own.

    Before 2.12 torch makes a tensor of a float attribute, and writes `___as_tensor(L['self'].rate).item() == 0.15`.

    Args:
        condition: torch's expression, such as `2 <= L['x'].size()[0]`.
        values: the values that it depends on, each with torch's expression.
    """
    small = small_dimension(condition)
    if small is not None and values and values[0][1] in ("0", "1"):
        return GuardFailure(small[0], Check.DIMENSION, "2 or more", values[0][1], dimension=small[1])
    view = viewed(condition)
    if view and values and values[0][1] in ("0", "1"):
        return GuardFailure(view, Check.OFFSET, "2 or more", values[0][1])
    number = _HELD_NUMBER.match(condition)
    if number is not None and len(values) == 1:
        return GuardFailure(values[0][0], Check.VALUE, number["expected"], values[0][1])
    check = Check.IDENTITY if is_identity(condition) else Check.CONDITION
    return GuardFailure(condition, check, values=() if check is Check.IDENTITY else values)


def small_dimension(condition: str) -> tuple[str, int] | None:
    """Return the tensor and the dimension of torch's condition on a dimension that may change, or None.

    torch compiles sizes of 0 and 1 separately, and writes `2 <= L['x'].size()[1]` for all others; with an upper bound
    it writes `2 <= L['x'].size()[1] <= 25`.
    """
    text, tree = _parsed(condition)
    match tree:
        case ast.Compare(
            left=ast.Constant(value=2),
            ops=[ast.LtE(), *_],
            comparators=[
                ast.Subscript(
                    value=ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[]),
                    slice=ast.Constant(value=int() as dimension),
                ),
                *_,
            ],
        ):
            return ast.get_source_segment(text, tensor) or ast.unparse(tensor), dimension
    return None


def viewed(condition: str) -> str:
    """Return the tensor of torch's condition `2 <= L['x'].storage_offset()`, or "".

    The first of the views that `data.split(8)` gives has the offset 0, and the others have any.
    """
    text, tree = _parsed(condition)
    match tree:
        case ast.Compare(
            left=ast.Constant(value=2),
            ops=[ast.LtE(), *_],
            comparators=[ast.Call(func=ast.Attribute(value=tensor, attr="storage_offset"), args=[]), *_],
        ):
            return ast.get_source_segment(text, tensor) or ast.unparse(tensor)
    return ""


def is_identity(condition: str) -> bool:
    """Return whether a condition states that two names are one object."""
    match _parsed(condition)[1]:
        case ast.Compare(left=value, ops=[ast.Is()], comparators=[other]):
            return is_place(value) and is_place(other)
    return False
