"""Listings and code made by hand: what no compiler writes."""

from __future__ import annotations

import ast
import textwrap
import types

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Handler, Instruction, Listing
from depyf.bytecode.reader import read

PLACED = ("JUMP", "JUMP_IF_TRUE", "JUMP_IF_FALSE", "FOR_ITER")


def code_of(text: str) -> types.CodeType:
    """Compile a text and return the code of its first function."""
    module = compile(textwrap.dedent(text), "<test>", "exec", dont_inherit=True)
    return next(const for const in module.co_consts if isinstance(const, types.CodeType))


def view(text: str) -> Code:
    """Compile a text and return the view of its first function."""
    return read(code_of(text))


def assemble(text: str, parameters: tuple[str, ...] = ("a", "b")) -> Listing:
    """Return the listing that a text describes, of a function with these parameters.

    A line is `OP argument`, where the argument is a literal or a name; `name:` before it is a label, which is what
    jumps have as argument. `protect label depth [lasti]` begins the range of a handler, `end` ends it.
    """
    rows, labels, ranges = [], {}, []
    current = -1
    for line in text.split("\n"):
        label, _, rest = line.rpartition(":") if ":" in line.split("'")[0] and "[" not in line else ("", "", line)
        if label:
            labels[label.strip()] = len(rows)
        words = rest.split(None, 1)
        if not words:
            continue
        if words[0] == "protect":
            target, depth, *lasti = words[1].split()
            ranges.append((target, int(depth), bool(lasti)))
            current = len(ranges) - 1
        elif words[0] == "end":
            current = -1
        else:
            rows.append((words[0], words[1].strip() if len(words) > 1 else None, current))
    instructions = [
        Instruction(
            op,
            None if op in PLACED else argument(raw),
            labels[raw] if op in PLACED and raw is not None else -1,
            2 * index,
            index,
            handler,
        )
        for index, (op, raw, handler) in enumerate(rows)
    ]
    handlers = [Handler(labels[target], depth, lasti) for target, depth, lasti in ranges]
    return Listing(header(parameters), instructions, handlers)


def argument(raw: str | None) -> object:
    """Return what an argument says: a literal, or else a name."""
    if raw is None:
        return None
    try:
        return ast.literal_eval(raw)
    except ValueError:
        return raw


def header(parameters: tuple[str, ...]) -> Code:
    """Return a code object that has only a signature."""
    return view(f"def f({', '.join(parameters)}): pass")
