"""A guard failure as plain data: the value that a guard checks, the expected value and that of the call.

torch's guard tree gives every part of it (`depyf.torch.guards.verdicts`). Where torch gives text alone, in traces and
before 2.6, `depyf.model.torch_text` parses that text. A sentence is made of it once, last, by the view that shows it.
"""

from __future__ import annotations

import ast
import functools
from enum import Enum

from depyf.bytecode.records import dataclass
from depyf.model.codec import NATURAL, TEXT, Form, Record, Row, by_name, named, several
from depyf.model.line_row import LINE
from depyf.model.spelling import spelled
from depyf.model.user_line import UserLine

MOST_LITERALS = 4096
"""The number of texts whose value as a Python literal is cached."""


class Check(Enum):
    """The respect of a value that a guard checks. The value is the word that a sentence uses for it."""

    VALUE = ""
    TYPE = "type"
    """The class of a tensor."""
    CLASS = "class"
    """The class of any other value."""
    SIZE = "size"
    STRIDE = "stride"
    RANK = "rank"
    DTYPE = "dtype"
    DEVICE = "device"
    DISPATCH_KEYS = "dispatch keys"
    REQUIRES_GRAD = "requires_grad"
    DIMENSION = "dimension"
    OFFSET = "storage offset"
    """One dimension of a tensor that may have any size except 0 and 1."""
    MARKS = "marked dimensions"
    LENGTH = "length"
    NUMBER_OF_KEYS = "number of keys"
    KEYS = "keys"
    """The keys of a dict, in order."""
    KEY = "key"
    """The existence of one key of a dict, the `item`."""
    MEMBER = "member"
    """The existence of one member of a set, the `item`."""
    ATTRIBUTE = "attribute"
    """The absence of an attribute, the `item`."""
    PRESENCE = "presence"
    """The existence of the value."""
    FUNCTION = "code"
    """The code of a function."""
    CONDITION = "condition"
    """A relation between values, such as `n <= 2`."""
    IDENTITY = "identity"
    """Two names for one object."""
    ALIASING = "the same object"
    """Several tensors, of which no two are one object."""
    STATE = "state"
    """The state around the call, which is no value of the program."""
    TORCH = "torch's own guards"
    UNKNOWN = "unknown"
    """A text of torch's that depyf does not understand."""


_PARTS = frozenset(
    (
        Check.TYPE, Check.CLASS, Check.SIZE, Check.STRIDE, Check.RANK, Check.DTYPE, Check.DEVICE, Check.DISPATCH_KEYS,
        Check.REQUIRES_GRAD, Check.MARKS, Check.LENGTH, Check.NUMBER_OF_KEYS, Check.KEYS, Check.FUNCTION,
        Check.ALIASING,
    )
)  # fmt: skip
"""The checks of one respect of a value, which a sentence names before the value."""

ABSENT, PRESENT = "absent", "present"
"""The expectations of an entry about a key, a member, an attribute or a value as such."""


@dataclass(frozen=True, slots=True)
class GuardFailure:
    """One difference between a call and an entry's expectations. Unknown parts are empty.

    `guard` is torch's name of the guard, such as `EQUALS_MATCH`. `source` is torch's expression for the value, such as
    `L["self"].n`; for STATE, it is torch's name of the state. `expected` and `actual` are the two values as Python
    writes them; for KEY, MEMBER, ATTRIBUTE and PRESENCE, the expected one is ABSENT or PRESENT. `item` is the key, the
    member or the attribute, as Python writes it. `dimension` is the dimension that the guard checks, from 0, or -1.
    `type` is the class of the value, if it was reached. `values` are, for CONDITION, the values that it depends on,
    each with torch's expression for it. `line` is the user's line that needs the value, and `text` torch's own text.
    """

    source: str
    check: Check = Check.VALUE
    expected: str = ""
    actual: str = ""
    line: UserLine | None = None
    text: str = ""
    guard: str = ""
    item: str = ""
    dimension: int = -1
    type: str = ""
    values: tuple[tuple[str, str], ...] = ()

    @property
    def subject(self) -> str:
        """Return the value as the user would write it."""
        if self.check is Check.ATTRIBUTE:
            return f"{spelled(self.source)}.{literal(self.item)}"
        is_code = self.check is Check.FUNCTION
        return spelled(self.source.removesuffix(".__code__") if is_code else self.source)

    @property
    def has_values(self) -> bool:
        """Return whether the expected and the actual value are known. For a condition, the sentence says it all."""
        return bool(self.expected and self.actual) and not self.is_condition

    @property
    def is_condition(self) -> bool:
        """Return whether it is about a relation between values that did not hold, such as `n <= 2` or `a is b`."""
        return self.check in (Check.CONDITION, Check.IDENTITY)

    @property
    def is_mode(self) -> bool:
        """Return whether it is about the training mode of a module."""
        return self.subject.endswith(".training")

    @property
    def changed_dimensions(self) -> tuple[tuple[int, int, int], ...]:
        """Return each dimension of a SIZE that differs: its number, the expected and the actual size."""
        expected, actual = sizes(self.expected), sizes(self.actual)
        if self.check is not Check.SIZE or len(expected) != len(actual):
            return ()
        pairs = enumerate(zip(expected, actual, strict=True))
        return tuple(
            (dimension, wanted, size)
            for dimension, (wanted, size) in pairs
            if wanted is not None and size is not None and wanted != size
        )

    @property
    def expected_value(self) -> object:
        """Return the expected value, or `...` if its text is no Python literal."""
        return literal(self.expected)

    @property
    def actual_value(self) -> object:
        """Return the value of the call, or `...` if its text is no Python literal."""
        return literal(self.actual)

    @property
    def respect(self) -> str:
        """Return what differs, such as `size of L["x"]` or `L["n"]`."""
        if self.check is Check.DIMENSION:
            return f"dimension {self.dimension} of {self.source}"
        if self.check is Check.TORCH or not self.source:
            return str(self.check.value)
        return f"{self.check.value} of {self.source}" if self.check in _PARTS else self.source

    @property
    def words(self) -> str:
        """Return the expected and the actual value in one line, without the user's line."""
        if self.check is Check.UNKNOWN:
            return self.text
        if not self.actual and not self.values:
            return f"{self.respect}: expected {self._expected}" if self.expected else self.respect
        actual = self.actual or ", ".join(f"{source} = {value}" for source, value in self.values)
        return f"{self.respect}: expected {self._expected}, got {actual}"

    def __str__(self) -> str:
        return self.words + (f"  ({self.line.filename}:{self.line.line})" if self.line else "")

    @property
    def _expected(self) -> str:
        match self.check:
            case Check.KEY | Check.MEMBER | Check.ATTRIBUTE:
                return f"{'no ' if self.expected == ABSENT else ''}{self.check.value} {self.item}"
            case Check.PRESENCE:
                return "to be there"
            case Check.CONDITION:
                return "true"
            case Check.IDENTITY:
                return "one object"
        return self.expected


_PAIR = Form({"type": "array", "items": TEXT.schema, "minItems": 2, "maxItems": 2}, list, tuple)
GUARD_FAILURE_ROWS = Record(
    GuardFailure,
    Row("guard", TEXT, about="torch's name of the guard, such as `EQUALS_MATCH`.", default="", is_left_out=True),
    Row(
        "source",
        TEXT,
        about="torch's expression for the value, such as `L[\"self\"].n`; for `STATE`, torch's name of the state.",
        default="",
        is_left_out=True,
    ),
    Row("check", by_name(Check), about="The respect that the guard checks."),
    Row(
        "expected",
        TEXT,
        about="The value that the entry expects, as Python writes it; `absent` or `present` for a key, a member, an "
        "attribute or a value as such.",
        default="",
        is_left_out=True,
    ),
    Row("actual", TEXT, about="The value of the call, as Python writes it.", default="", is_left_out=True),
    Row("item", TEXT, about="The key, the member or the attribute, as Python writes it.", default="", is_left_out=True),
    Row("type", TEXT, about="The class of the value.", default="", is_left_out=True),
    Row(
        "dimension",
        NATURAL,
        lambda failure: failure.dimension if failure.dimension >= 0 else None,
        about="The dimension that the guard checks.",
        default=-1,
        is_left_out=True,
    ),
    Row(
        "values",
        several(_PAIR),
        about="For a condition, each value that it depends on, with torch's expression for it.",
        default=(),
        is_left_out=True,
    ),
    Row("where", LINE, "line", default=None, is_left_out=True),
    Row("text", TEXT, about="torch's own text of the guard.", default="", is_left_out=True),
    about="A guard that failed. A part that is unknown is missing.",
)
GUARD_FAILURE = named("guard_failure", GUARD_FAILURE_ROWS.form)


def sizes(text: str) -> tuple[int | None, ...]:
    """Return the sizes of a tensor from their text, None for a dimension that may have any size; () for other text.

    >>> sizes("(any, 8)"), sizes("(10,)")
    ((None, 8), (10,))
    """
    words = [word.strip() for word in text.strip("()").split(",") if word.strip()]
    numbers = tuple(int(word) if word.isdigit() else None for word in words)
    is_known = all(word == "any" or number is not None for word, number in zip(words, numbers, strict=True))
    return numbers if is_known and text.startswith("(") else ()


@functools.lru_cache(maxsize=MOST_LITERALS)
def literal(text: str) -> object:
    """Return the value of a Python literal, or `...` for other text. The value must not be changed."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return ...


def is_of_call(failure: GuardFailure) -> bool:
    """Return whether a guard failure is about how a call was made: the state around it, or one tensor passed twice."""
    is_autocast = failure.check is Check.DISPATCH_KEYS and (
        ("Autocast" in failure.expected) != ("Autocast" in failure.actual)
    )
    return failure.check in (Check.STATE, Check.ALIASING) or failure.is_mode or is_autocast
