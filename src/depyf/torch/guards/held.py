"""An object that guards compare with by identity: held weakly if possible, under a name for readers."""

from __future__ import annotations

import builtins
import keyword
import re
import weakref
from typing import Any

from depyf.bytecode.patterns import pattern
from depyf.bytecode.records import dataclass
from depyf.torch.capture.qualified import qualified_name

_NO_NAME = "object"


class Gone:
    """Stands for an object that has died. It is identical to no value."""


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """An object with a readable `name` (`torch.abs`), kept alive only if it supports no weak references."""

    name: str
    reference: Any
    weak: bool

    def get(self) -> object:
        """Return the object, or a `Gone` if it has died."""
        if not self.weak:
            return self.reference
        referent = self.reference()
        return Gone() if referent is None else referent


def hold(value: object, hint: str = "", *, strongly: bool = False) -> Held:
    """Hold `value`. If it has no name of its own, `hint` names it, for example the guard's source `L['self'].act`.

    Args:
        value: the object.
        hint: a text that names an object without a name of its own, for example torch's source `L['self'].act`.
        strongly: whether to keep the object alive.
    """
    name = qualified_name(value) or _from_source(hint)
    if not strongly:
        try:
            return Held(name, weakref.ref(value), weak=True)
        except TypeError:
            # int, str, tuple and the like have no weak references.
            return Held(name, value, weak=False)
    return Held(name, value, weak=False)


_ADDRESS = pattern(r"_?\d{9,}")


def hold_key(key: str) -> Held | None:
    """Hold a name of Dynamo's that contains an address, so that no text shows it; otherwise return None."""
    if not key.isidentifier():
        return None  # It is the program's own.
    shortened = _ADDRESS.sub("", key)
    return None if shortened == key else Held(f"{shortened.strip('_')} key", key, weak=False)


def _from_source(source: str) -> str:
    words = re.findall(r"[A-Za-z_]\w*", source)
    return f"{words[-1]} object" if words else _NO_NAME


def identifier(name: str) -> str:
    """Return a Python identifier for the dotted `name`: `torch_abs` for `torch.abs`."""
    word = re.sub(r"\W+", "_", name).strip("_") or _NO_NAME
    if word[0].isdigit():
        return f"_{word}"
    return f"{word}_" if keyword.iskeyword(word) else word


def is_builtin(value: object) -> bool:
    """Return whether the name of `value` means the same in every Python program, for example the class `dict`."""
    name = getattr(value, "__name__", "")
    return isinstance(value, type) and isinstance(name, str) and getattr(builtins, name, None) is value
