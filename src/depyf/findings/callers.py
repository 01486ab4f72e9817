"""Find the user's own call of a library function, and what the user can change there."""

from __future__ import annotations

import ast
import builtins
import os
import re

from depyf.bytecode.records import dataclass
from depyf.model.finding import Finding
from depyf.model.guard_failure import GuardFailure
from depyf.model.run import Compile, Function, GraphBreak, Session
from depyf.model.syntax import parsed_line
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_foreign, is_of_torch

_POSITION = re.compile(r"\w+\[(?P<number>\d+)\](?P<rest>(\.\w+|\[[^\[\]]+\])*)$")
_KEYWORD = re.compile(r"\w+\[['\"](?P<name>\w+)['\"]\](?P<rest>(\.\w+|\[[^\[\]]+\])*)$")
_SWITCH = re.compile(r"torch\._dynamo\.config\.\w+ = \w+")
_REMEDIES = {
    "(mask == causal_comparison)": "pass `is_causal=` to an encoder or a decoder layer, `tgt_is_causal=` to "
    "`nn.Transformer`: without it torch compares the mask with a causal one",
}
"""Arguments for modules of torch that remove a break, by the line of torch that breaks the graph."""
_ATTRIBUTE = re.compile(r"(?P<name>\w+)(?P<rest>(\.\w+)*)$")


@dataclass(frozen=True, slots=True)
class Call:
    """The user's line that calls a library function.

    value: the argument in that line for the value, as written there; empty if it is not known.
    """

    line: UserLine
    value: str


def own_call(function: Function, compiled: Compile, failure: GuardFailure) -> Call | None:
    """Return the user's call that led to a library function, or None for the user's own function.

    Args:
        function: the function that was compiled.
        compiled: a compile of it, with the user's stack of the call.
        failure: the guard that failed, whose value the call may pass.
    """
    if not is_foreign(function.filename):
        return None
    stack = [line for line in compiled.user_stack if not is_of_torch(line.filename)]
    users = [line for line in stack if not is_foreign(line.filename)]
    if not users:
        return None
    return Call(users[-1], _argument(users[-1].text, function, failure) if users[-1] is stack[-1] else "")


def compiled_lines(session: Session) -> frozenset[tuple[str, int]]:
    """Return the lines that torch compiled, each as its file and number. A tensor cannot be marked in them."""
    functions = (part for _, compiled in session.compiles() for part in compiled.lines)
    return frozenset((part.filename, line) for part in functions for line in (*part.lines, *part.read))


def at_call_of_library(finding: Finding, graph_break: GraphBreak, is_inside: bool) -> str:
    """Return what the user can do about a graph break in a library, whose lines are not the user's to change.

    Args:
        finding: the finding at the library's line.
        graph_break: the break.
        is_inside: whether the user's line is in a compiled function. Otherwise it calls that function itself.
    """
    line = graph_break.where.text if graph_break.where is not None else ""
    remedy = next((words for text, words in _REMEDIES.items() if text in line), "")
    if remedy:
        return remedy
    switch = next((match for hint in graph_break.hints if (match := _SWITCH.search(hint)) is not None), None)
    # A branch needs the value of `bool(...)`, so a symbol in its place ends the graph, too.
    if switch is not None and "bool(" not in line:
        return f"set `{switch[0]}` before the first call"
    # Only torch can remove a break that torch itself requests.
    if not is_inside or (is_of_torch(finding.where.file if finding.where else "") and finding.kind == "break-explicit"):
        return ""
    return "the library's code breaks the graph: call it outside of the compiled function, before or after it"


def is_at_own_line(compiled: Compile, failure: GuardFailure) -> bool:
    """Return whether torch names a line of a user's function that needs the value."""
    line = failure.line
    if line is None or is_foreign(line.filename):
        return False
    name = os.path.basename(line.filename)
    names = (read.filename for read in compiled.lines if not is_foreign(read.filename))
    return line.filename != compiled.filename and any(os.path.basename(filename) == name for filename in names)


def _argument(text: str, function: Function, failure: GuardFailure) -> str:
    """Return the argument for a parameter in a line, or "" if the line does not show it."""
    calls = [node for node in ast.walk(parsed_line(text)) if isinstance(node, ast.Call)]
    # A call that makes a tensor, such as `torch.ones(n)`, is not the call of the library.
    calls = [call for call in calls if not ast.unparse(call.func).startswith("torch.") and not _is_builtin(call.func)]
    position, keyword, rest = _place(function, failure.subject)
    for call in calls:
        named = [word.value for word in call.keywords if word.arg is not None and word.arg == keyword]
        plain = not any(isinstance(arg, ast.Starred) for arg in call.args)
        given = [*named, *call.args[position : position + 1]] if plain and position is not None else named
        if given and isinstance(given[0], (ast.Name, ast.Attribute, ast.Subscript)):
            return ast.unparse(given[0]) + rest
        # In `model(x).argmax(-1)` the call of `argmax` gets a number.
        if given and not isinstance(given[0], (ast.Call, ast.Constant, ast.UnaryOp)):
            break
    return ""


def _is_builtin(callee: ast.expr) -> bool:
    """Return whether a callee is a builtin, as in `print(epoch, net(x))`, which is not the call of the library."""
    return isinstance(callee, ast.Name) and hasattr(builtins, callee.id)


def _place(function: Function, subject: str) -> tuple[int | None, str, str]:
    """Return the position and the name of an argument, and the part of it that the guard checks.

    `self` is already bound.
    """
    if subject.startswith(("self.", "self[", "fn[", "fn.")):
        # A part of the module: `self[0]` is the first module of a `Sequential`, and no argument.
        return None, "", ""
    position, keyword, named = _POSITION.match(subject), _KEYWORD.match(subject), _ATTRIBUTE.match(subject)
    if position is not None:
        return int(position["number"]), "", position["rest"]
    if keyword is not None:
        return None, keyword["name"], keyword["rest"]
    parameters = [parameter for parameter in function.parameters if parameter != "self"]
    if named is None or named["name"] not in parameters:
        return None, subject, ""
    return parameters.index(named["name"]), named["name"], named["rest"]
