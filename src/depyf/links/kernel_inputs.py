"""Link the lines of Inductor's module that handle inputs to the lines that use these inputs.

before: the call of the kernel is linked to line 12
    def call(self, args):
        arg0_1, arg1_1 = args
        cpp_fused_add_0(arg1_1, buf0)
        return (buf0,)
    def get_args():
        arg0_1 = 8
        arg1_1 = rand_strided((8,), (1,), device='cpu', dtype=torch.float32)
        return [arg0_1, arg1_1]
after: the lines that unpack `arg1_1`, make an example of it, and return, are linked to line 12; `arg0_1` has no link
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from depyf.links.origins import NOWHERE, Origins, joined

_FUNCTION = re.compile(r"^\s*def \w+\(")
_TAKEN = re.compile(r"^\s+(?P<names>\w+(?:, \w+)*),? = args$")
_GIVEN = re.compile(r"^\s+return \((?P<names>.+)\)$")
_MADE = re.compile(r"^    (?P<name>\w+) = (?:rand_strided\(|\d+$)")
_HANDED = re.compile(r"^    (?:return |.*\bcall\()\[(?P<names>[^\]]*)\]")
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")


def input_lines(rows: list[str], called: Mapping[int, Origins]) -> Iterator[tuple[int, Origins]]:
    """Yield the lines that unpack, return, or make examples of buffers; `called` are the lines of calls and buffers."""
    taken = [number for number, row in enumerate(rows, start=1) if _TAKEN.match(row)]
    if len(taken) != 1:
        # A module in parts has several functions, each with its own names.
        return
    begin = taken[0]
    end = next((number for number in range(begin + 1, len(rows) + 1) if _FUNCTION.match(rows[number - 1])), len(rows))
    needed = _needed(rows, range(begin + 1, end), called)
    names = _names(rows[begin - 1].partition(" = args")[0])
    yield begin, joined(needed.get(name, NOWHERE) for name in names)
    for number in range(begin + 1, end):
        given = _GIVEN.match(rows[number - 1])
        if given is not None:
            yield number, joined(needed.get(name, NOWHERE) for name in _NAME.findall(given["names"]))
    yield from _examples(rows, end, names, needed)


def _needed(rows: list[str], inside: range, called: Mapping[int, Origins]) -> dict[str, Origins]:
    """Return for each name in a function the origins of the calls that use it."""
    needed: dict[str, Origins] = {}
    for number in inside:
        if number in called and not rows[number - 1].lstrip().startswith("#"):
            for name in _NAME.findall(rows[number - 1]):
                needed[name] = joined((needed.get(name, NOWHERE), called[number]))
    return needed


def _examples(
    rows: list[str], begin: int, names: list[str], needed: Mapping[str, Origins]
) -> Iterator[tuple[int, Origins]]:
    """Yield the lines that make example inputs, if they are passed in the same order."""
    examples: list[tuple[int, str]] = []
    for number in range(begin, len(rows) + 1):
        example, handed = _MADE.match(rows[number - 1]), _HANDED.match(rows[number - 1])
        if _FUNCTION.match(rows[number - 1]):
            examples = []
        elif example is not None:
            examples.append((number, example["name"]))
        elif handed is not None and _names(handed["names"]) == names:
            yield from ((line, needed.get(name, NOWHERE)) for line, name in examples)
            yield number, joined(needed.get(name, NOWHERE) for name in names)


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]
