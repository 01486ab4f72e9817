"""The names of objects for the reader of a program."""

from __future__ import annotations

import enum
import os
import sys
import types


def qualified_name(value: object) -> str:
    """Return the dotted name of `value` for readers, or ""."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, enum.Enum):
        return f"{_of_definition(type(value))}.{value.name}"
    if isinstance(value, types.CodeType):
        return f"code of {code_name(value)}"
    return _of_definition(value)


def code_name(code: types.CodeType) -> str:
    """Return the name of the function of a code object, with its place."""
    name = _without_locals(getattr(code, "co_qualname", code.co_name))
    return f"{name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"


def _of_definition(value: object) -> str:
    """Return the name of a class or a function, with its module."""
    name = getattr(value, "__qualname__", None)
    if not isinstance(name, str):
        return ""
    owner = getattr(value, "__self__", None)
    module = owner.__name__ if isinstance(owner, types.ModuleType) else getattr(value, "__module__", None)
    if not isinstance(module, str) or module in ("builtins", "__main__"):
        return _without_locals(name)
    short = name.rpartition(".")[2]
    if getattr(sys.modules.get(module), short, None) is value:
        # `torch.sin` is a method of a class of its own, but its users know its name in the module.
        name = short
    return f"{module}.{_without_locals(name)}"


def _without_locals(name: str) -> str:
    return name.replace("<locals>.", "")
