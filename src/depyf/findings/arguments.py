"""Find the expression that a caller passes as an argument of the user's function, and write advice for that place.

before: the compiled function `step(x)` is called at train.py:9, `loss = step(batch["ids"])`
after: "call `torch._dynamo.mark_dynamic(batch['ids'], 0)` before the call at train.py:9"
"""

from __future__ import annotations

import ast
import builtins
import re

from depyf.model.guard_failure import GuardFailure
from depyf.model.run import Compile, Function
from depyf.model.syntax import parsed, parsed_line
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_foreign, is_of_torch, short_path

_SUBJECT = re.compile(r"(?P<name>\w+)(?P<rest>(?:\.\w+|\[[^\[\]]+\])*)$")
_COLLECTING = frozenset(("append", "add", "extend", "insert", "put"))
"""Methods of containers, which take the result of the compiled function."""


def marked_at_call(
    root: Function, function: Function, compiled: Compile, failure: GuardFailure, dimensions: str
) -> str:
    """Return how to mark dimensions of an argument at the call of the user's function; "" if the call is unknown.

    Args:
        root: the function whose source has the parameters; for a resume function, the function that it resumes.
        function: the function that was compiled again.
        compiled: the recompile, with the user's stack of the call.
        failure: the guard that failed on a size.
        dimensions: the dimensions to mark, as the argument of `mark_dynamic`: `0` or `[0, 1]`.
    """
    if function.is_resume or is_foreign(function.filename):
        return ""
    stack = [line for line in compiled.user_stack if not is_of_torch(line.filename)]
    subject = _SUBJECT.match(failure.subject)
    parameters, required = _parameters(root.source)
    if not stack or is_foreign(stack[-1].filename) or subject is None or subject["name"] not in parameters:
        return ""
    call = stack[-1]
    given = _given(call, subject["name"], parameters, required)
    if given is None:
        return ""
    place = f"{short_path(call.filename)}:{call.line}"
    if _is_kept(given):
        value = ast.unparse(given) + subject["rest"]
        return f"call `torch._dynamo.mark_dynamic({value}, {dimensions})` before the call at {place}"
    if subject["rest"]:
        return ""
    name = subject["name"]
    return (
        f"assign `{ast.unparse(given)}` to a variable `{name}` before the call at {place}, "
        f"call `torch._dynamo.mark_dynamic({name}, {dimensions})`, and pass `{name}`"
    )


def _parameters(source: str) -> tuple[tuple[str, ...], int]:
    """Return the parameters of a function that may be passed by position, without `self`, and how many it requires."""
    function = next((node for node in parsed(source).body if isinstance(node, ast.FunctionDef)), None)
    if function is None:
        return (), 0
    names = tuple(parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args))
    passed = names[1:] if names[:1] == ("self",) else names
    return passed, len(passed) - len(function.args.defaults)


def _given(line: UserLine, parameter: str, parameters: tuple[str, ...], required: int) -> ast.expr | None:
    """Return the argument for a parameter in the only call of a line that may be the call, or None."""
    calls = [node for node in ast.walk(parsed_line(line.text)) if isinstance(node, ast.Call)]
    calls = [
        call
        for call in calls
        if _may_be_compiled(call.func)
        and len(call.args) <= len(parameters)
        and len(call.args) + len(call.keywords) >= required
    ]
    position = parameters.index(parameter)
    arguments = []
    for call in calls:
        named = [keyword.value for keyword in call.keywords if keyword.arg == parameter]
        is_plain = not any(isinstance(arg, ast.Starred) for arg in call.args)
        arguments += [*named, *(call.args[position : position + 1] if is_plain else ())]
    return arguments[0] if len(arguments) == 1 else None


def _may_be_compiled(called: ast.expr) -> bool:
    """Return whether a call may be that of the compiled function, by the name of what it calls."""
    match called:
        case ast.Name(id=name):
            return not hasattr(builtins, name)
        case ast.Attribute(value=ast.Name(id="torch")):
            return False
        case ast.Attribute(attr=name):
            return name not in _COLLECTING and not hasattr(str, name)
    return True


def _is_kept(given: ast.expr) -> bool:
    """Return whether an expression is the same tensor each time it is evaluated, so that a mark on it has an effect."""
    match given:
        case ast.Name():
            return True
        case ast.Subscript(value=inner, slice=ast.Constant(value=str())):
            return isinstance(inner, ast.Name | ast.Attribute)
        case ast.Attribute(value=ast.Name()):
            return True
    return False
