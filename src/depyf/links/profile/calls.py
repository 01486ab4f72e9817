"""Match the calls in a compiler's text, in order, with the events that ran for them.

before: a module with `extern_kernels.addmm(...)` in line 391 and `cpp_fused_add_2(buf15, arg2_1)` in line 436,
    and the events `aten::addmm` and `graph_0_cpp_fused_add_2` inside a call of that module
after: the first event ran for line 391, the second for line 436
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from depyf.bytecode.records import dataclass
from depyf.links.origins import Links, Origins

_KERNEL = re.compile(r"\b((?:cpp|triton)_\w+?)(?:\.run)?\(")
_EXTERN = re.compile(r"\bextern_kernels\.(\w+)\(")
_OPERATOR = re.compile(r"\btorch\.ops\.\w+\.(\w+)(?:\.\w+)?\(")
_FUNCTION = re.compile(r"\b(?:torch(?:\.[A-Za-z_]\w*)*|torch\._C\._nn)\.(\w+)\(")
_METHOD = re.compile(r"\b[A-Za-z_]\w*\.(\w+)\(")
_INFIX = re.compile(r"= \S+ (\*\*|//|@|[-+*/&|^<>]|==|!=|<=|>=|<<|>>) \S+$|= -\w+$")
_SIGNS = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "@": "matmul", "**": "pow", "//": "floor_divide",
    "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<": "lt", ">": "gt", "==": "eq", "!=": "ne",
    "<=": "le", ">=": "ge", "<<": "bitwise_left_shift", ">>": "bitwise_right_shift",
}  # fmt: skip
_GRAPH_NUMBER = re.compile(r"^graph_\d+_")
_TEMPLATE = "kernel"
_KERNEL_NAME = re.compile(r"(?:cpp|triton)_")
_DEFINED = re.compile(r"^(?:async_compile\b|\w+ = async_compile\.|del async_compile)")


@dataclass(frozen=True, slots=True)
class Call:
    """A call in the text: the operation's own name, the line of the text, and the linked lines of the user's."""

    name: str
    line: int
    origins: Origins


def module_calls(text: str, links: Links) -> list[Call]:
    """Return the calls of kernels in an Inductor module, in the order of its text."""
    calls = []
    is_source = False
    for number, row in enumerate(text.splitlines(), start=1):
        if "async_compile." in row and row.rstrip().endswith("'''"):
            is_source = True
        elif row.startswith("'''"):
            is_source = False
        if is_source or row.lstrip().startswith("#") or _DEFINED.match(row):
            continue
        for pattern in (_KERNEL, _EXTERN, _OPERATOR):
            called = pattern.search(row)
            if called is not None:
                calls.append(Call(called[1], number, links.of(number)))
                break
    return calls


def graph_calls(text: str, links: Links) -> list[Call]:
    """Return the calls of operations in a graph, in order."""
    calls = []
    for number, row in enumerate(text.splitlines(), start=1):
        if row.lstrip().startswith(("#", "def ", "class ", "return")):
            continue
        row = row.partition(";  ")[0]
        called = _OPERATOR.search(row) or _FUNCTION.search(row) or _METHOD.search(row)
        infix = _INFIX.search(row)
        if called is not None:
            calls.append(Call(called[1], number, links.of(number)))
        elif infix is not None:
            calls.append(Call(_SIGNS[infix[1]] if infix[1] else "neg", number, links.of(number)))
    return calls


def plain_name(event: str) -> str:
    """Return the name in the text for the subject of an event.

    >>> plain_name("graph_0_cpp_fused_add_2"), plain_name("aten::addmm_")
    ('cpp_fused_add_2', 'addmm')
    """
    return _GRAPH_NUMBER.sub("", event).rpartition("::")[2].rstrip("_") or event


def matched(calls: Sequence[Call], events: Sequence[str]) -> list[Call | None]:
    """Return the call that each event ran for, by name and order, or None if the text has no such call."""
    names = [call.name.rstrip("_") for call in calls]
    ran = [plain_name(event) for event in events]
    if names == ran:
        return list(calls)
    matched_calls: list[Call | None] = [None] * len(ran)
    for block in SequenceMatcher(None, names, ran, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            matched_calls[block.b + offset] = calls[block.a + offset]
    _match_templates(matched_calls, ran, calls)
    return matched_calls


def _match_templates(matched_calls: list[Call | None], ran: Sequence[str], calls: Sequence[Call]) -> None:
    """Match events of templates, which all are named `kernel`, with the next unmatched call of a kernel.

    That call must precede the call of the next matched event.
    """
    places = {call.line: place for place, call in enumerate(calls)}
    taken = {places[call.line] for call in matched_calls if call is not None}
    begin = 0
    for number, call in enumerate(matched_calls):
        if call is not None:
            begin = places[call.line] + 1
        elif ran[number] == _TEMPLATE:
            later = (places[other.line] for other in matched_calls[number:] if other is not None)
            free = range(begin, next(later, len(calls)))
            place = next(
                (place for place in free if place not in taken and _KERNEL_NAME.match(calls[place].name)), None
            )
            if place is not None:
                matched_calls[number] = calls[place]
                begin = place + 1
