"""The names of functions for readers: with their class, and a resume function with its line."""

from __future__ import annotations

import posixpath
import re

from depyf.model.modules import owner
from depyf.model.names import resumed_function
from depyf.model.run import Function, GuardSet

CALLS_FORWARD = "torch/nn/modules/module.py"
"""torch's file that calls `forward`, under whatever function name."""

HOOKS_STEP = "torch/optim/optimizer.py"
"""torch's file with the `wrapper` that calls the hooks of an optimizer around its `step`."""

_STEPPED = re.compile(r"L\[\"args\"\]\[0\]\.__class__ is (?P<type>[\w.]+)$")
_NO_MODULES = frozenset(("function", "method", "builtin_function_or_method", "partial"))
_FIRST_ARGUMENT = re.compile(r"type\(L\[\"args\"\]\[0\]\) is (?P<type>[\w.]+)$")
_CALLED_MODULE = re.compile(r"type\(L\[\"fn\"\]\) is (?P<type>[\w.]+)$")

WRAPS = "torch/_dynamo/external_utils.py"
"""torch's file with a function that calls the compiled object if that is not a plain function."""


def title(function: Function) -> str:
    """Return the name of a function for a reader.

    before: `forward`, or `wrapper` where a decorator has replaced it; `torch_dynamo_resume_in_forward_at_39`; `inner`
    after: `GPT2Model.forward`; `Block.forward from line 40 on`; `Trainer.step`, which torch's `inner` calls
    """
    if not function.is_resume and resumed_function(function.name) is None:
        return whole_name(function)
    line = function.resumes_at or function.first_line
    return f"{whole_name(function)} from line {line} on"


def plain_name(function: Function) -> str:
    """Return the name in a function's `def`; for a resume function, that of the resumed function."""
    rest = resumed_function(function.name)
    return rest[0] if rest is not None else function.name


def whole_name(function: Function) -> str:
    """Return the name of a function for a reader; for a resume function, the name of the resumed function."""
    name = plain_name(function)
    if is_of_wrapper(function):
        return _of_module(function) or called_first(function) or function.qualname or name
    if name == "wrapper" and _is_in(function.filename, HOOKS_STEP):
        cls = _named(function, _STEPPED)
        return f"{cls}.step (its hooks)" if cls else function.qualname or name
    qualified = function.qualname or name
    if "." in qualified or not _is_forward(function):
        return qualified
    cls = owner(function).rpartition(".")[2]
    return f"{cls}.forward" if cls else qualified


def is_of_wrapper(function: Function) -> bool:
    """Return whether a function is torch's own, which calls a compiled object. Its line is none of the program's."""
    return _is_in(function.filename, WRAPS)


def _of_module(function: Function) -> str:
    """Return the name of the `forward` that torch's function calls. It is torch's own, so no line of a run names it."""
    cls = _named(function, _CALLED_MODULE)
    return f"{cls}.forward" if cls and cls not in _NO_MODULES else ""


def called_first(function: Function) -> str:
    """Return the first user function that Dynamo read below one of torch's functions, or an empty result."""
    return next((line.name for compiled in function.compiles for line in compiled.lines), "")


def is_method(function: Function) -> bool:
    """Return whether the first argument that one of torch's functions hands on is the `self` of the user's method."""
    cls = called_first(function).rpartition(".")[0].rpartition(".")[2]
    return bool(cls) and _named(function, _FIRST_ARGUMENT) == cls


def _named(function: Function, clause: re.Pattern[str]) -> str:
    """Return the class that a guard of a function names, or ""."""
    sets = (compiled.guards.guards for compiled in function.compiles if isinstance(compiled.guards, GuardSet))
    matches = (clause.match(guard.clause) for guards in sets for guard in guards)
    return next((match["type"].rpartition(".")[2] for match in matches if match is not None), "")


def _is_forward(function: Function) -> bool:
    """Return whether a function was called as the `forward` of a module."""
    if plain_name(function) == "forward":
        return True
    stack = function.compiles[0].user_stack if function.compiles else ()
    return bool(stack) and _is_in(stack[-1].filename, CALLS_FORWARD)


def _is_in(filename: str, of_torch: str) -> bool:
    return posixpath.normpath(filename.replace("\\", "/")).endswith(of_torch)
