"""The expected and the actual value of a guard, in words."""

from __future__ import annotations

import enum
from typing import Final

import torch

from depyf.bytecode.ordered_text import ordered_text
from depyf.bytecode.records import dataclass
from depyf.model.guard_failure import Check
from depyf.torch.capture.qualified import qualified_name

BRIEF_LENGTH = 120


class Missing(enum.Enum):
    """Stands for a value that does not exist, and for an expectation that is not made."""

    ABSENT = "absent"
    ANY = "any"

    def __repr__(self) -> str:
        return self.name


ABSENT: Final = Missing.ABSENT
ANY: Final = Missing.ANY


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between a value and a guard's expectation: SIZE, expected `(10,)`, got `(8,)`.

    item: the name of the state, for STATE.
    """

    check: Check
    expected: str
    actual: str
    item: str = ""


def brief(value: object) -> str:
    """Return a short text for `value`, without addresses and without the elements of a tensor."""
    if isinstance(value, torch.Tensor):
        return f"{type(value).__name__} of {value.dtype}, size {tuple(value.shape)}"
    if isinstance(value, Missing):
        return value.value
    if isinstance(value, torch.device):
        return repr(str(value))
    if isinstance(value, tuple) and value and all(isinstance(item, type) for item in value):
        return f"({', '.join(qualified_name(item) for item in value)})"
    # Use the name of a class: a model has hundreds of classes, and their texts are not helpful.
    text = "" if isinstance(value, (type, enum.Enum, torch.nn.Module)) else _repr(value)
    # A string of the program's may contain anything.
    if (" at 0x" in text and type(value) not in (str, bytes)) or not text:
        return qualified_name(value) or f"a {type(value).__qualname__}"
    return text if len(text) <= BRIEF_LENGTH else text[: BRIEF_LENGTH - 3] + "..."


def _repr(value: object) -> str:
    """Return `repr(value)`, or the name of its type if the user's `__repr__` fails."""
    if type(value) is str:
        return repr(value)
    try:
        return ordered_text(value)
    except Exception as error:  # noqa: BLE001  the user's __repr__ may raise anything
        return f"{type(value).__qualname__} whose repr raises {type(error).__name__}"
