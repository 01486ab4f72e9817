"""An object that guards compare with by identity: held weakly where it can be, under a name for the reader."""

from __future__ import annotations

import builtins
import enum
import keyword
import re
import sys
import types
import weakref
from dataclasses import dataclass
from typing import Any

_NO_NAME = "object"


class Gone:
    """Stands for an object that has died: it is identical to nothing that a guard may look at."""


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """An object with a readable `name` (`torch.abs`), kept alive only if it cannot be referred to weakly."""

    name: str
    reference: Any
    weak: bool

    def get(self) -> object:
        """Return the object, or a `Gone` once it has died."""
        if not self.weak:
            return self.reference
        found = self.reference()
        return Gone() if found is None else found


def hold(value: object, hint: str = "", *, strongly: bool = False) -> Held:
    """Hold `value`; `hint` names it where it has no name of its own, e.g. the guard's source `L['self'].act`."""
    name = qualified_name(value) or _from_source(hint)
    if not strongly:
        try:
            return Held(name, weakref.ref(value), weak=True)
        except TypeError:
            # int, str, tuple and the like have no weak references.
            return Held(name, value, weak=False)
    return Held(name, value, weak=False)


def qualified_name(value: object) -> str:
    """Return the dotted name under which the reader knows `value`, or '' if it has none."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, enum.Enum):
        return f"{qualified_name(type(value))}.{value.name}"
    if isinstance(value, types.CodeType):
        return f"code of {_without_locals(getattr(value, 'co_qualname', value.co_name))}"
    name = getattr(value, "__qualname__", None)
    if not isinstance(name, str):
        return ""
    owner = getattr(value, "__self__", None)
    module = owner.__name__ if isinstance(owner, types.ModuleType) else getattr(value, "__module__", None)
    if not isinstance(module, str) or module in ("builtins", "__main__"):
        return _without_locals(name)
    short = name.rpartition(".")[2]
    if getattr(sys.modules.get(module), short, None) is value:
        # `torch.sin` is a method of a class of its own; its users know it as what the module calls it.
        name = short
    return f"{module}.{_without_locals(name)}"


def _without_locals(name: str) -> str:
    return name.replace("<locals>.", "")


def _from_source(source: str) -> str:
    words = re.findall(r"[A-Za-z_]\w*", source)
    return f"{words[-1]} object" if words else _NO_NAME


def identifier(name: str) -> str:
    """Return a Python identifier for the dotted `name`: `torch_abs` for `torch.abs`."""
    word = re.sub(r"\W+", "_", name).strip("_") or _NO_NAME
    if word[0].isdigit() or keyword.iskeyword(word):
        word = f"_{word}"
    return word


def is_builtin(value: object) -> bool:
    """Tell whether `value` is what its name means in every Python program, e.g. the class `dict`."""
    name = getattr(value, "__name__", "")
    return isinstance(value, type) and isinstance(name, str) and getattr(builtins, name, None) is value
