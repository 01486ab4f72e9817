"""Operations as text: code that no compiler writes, as the source of a case.

    def f(a): return a
    with operations
    LOAD_FAST 'a'
    protect 4 0 lasti
    :3 CALL (0, 'plain')
    end
    RETURN
    4: RERAISE

The source gives the names and the code objects inside; `@0` is the first of its constants. A number and a colon begin
what is gone to, `:3` says the line of what follows, `protect` and `end` what has a handler (with its depth of stack).
"""

from __future__ import annotations

import ast
import copy
import random
import re

from depyf.bytecode.code import Code
from depyf.bytecode.depths import stack_depths
from depyf.bytecode.listing import Handler, Instruction, Listing
from depyf.bytecode.listings import Listings, Made

MARK = "with operations\n"
PUT_IN: dict[int, tuple[Code, Listing]] = {}
"""By identity of a code object, the operations that stand in the place of its own."""
ROW = re.compile(r"(?:(?P<label>\d+): )?(?::(?P<line>\d+) )?(?P<op>[A-Z_]+)(?: -> (?P<target>\d+))?(?: (?P<arg>.*))?")
MOST_ROWS = 34


class NoOperations(ValueError):
    """A text that is no operations, or operations that have no text."""


def listings_for(code: Code) -> Listings:
    """Return listings that hold the operations that stand in the place of a code object's own."""
    listings = Listings()
    if id(code) in PUT_IN:
        listings.known[id(code)] = Made(code, PUT_IN[id(code)][1], True, True)
    return listings


def text_of(listing: Listing) -> str:
    """Return the operations of a listing as text.

    Raises NoOperations for too many of them, and for an argument that has no text.
    """
    if len(listing.instructions) > MOST_ROWS:
        raise NoOperations("too many")
    targets = {item.target for item in listing.instructions} | {handler.target for handler in listing.handlers}
    rows, line, handler = [], None, -1
    for number, item in enumerate(listing.instructions):
        if item.handler != handler:
            rows += ["end"] if handler >= 0 else []
            handler = item.handler
            if handler >= 0:
                facts = listing.handlers[handler]
                rows.append(f"protect {facts.target} {facts.depth}{' lasti' if facts.lasti else ''}")
        label = f"{number}: " if number in targets else ""
        says = f":{item.line} " if item.line is not None and item.line != line else ""
        line = item.line
        target = f" -> {item.target}" if item.target >= 0 else ""
        arg = "" if item.arg is None and item.op != "CONST" else f" {_argument(item.arg, listing.code)}"
        rows.append(f"{label}{says}{item.op}{target}{arg}")
    return "".join(f"{row}\n" for row in rows)


def _argument(arg: object, code: Code) -> str:
    if isinstance(arg, Code):
        return f"@{next(number for number, const in enumerate(code.consts) if const is arg)}"
    try:
        if "\n" not in repr(arg) and repr(ast.literal_eval(repr(arg))) == repr(arg):
            return repr(arg)
    except (ValueError, SyntaxError):
        pass
    raise NoOperations(repr(arg))


def read_listing(code: Code, text: str) -> Listing:
    """Return the operations that a text describes. Raises NoOperations, and DecompilationError for a crooked stack."""
    parsed_rows: list[tuple[re.Match[str], int | None, int]] = []
    ranges: list[tuple[str, int, bool]] = []
    labels: dict[str, int] = {}
    line, handler = None, -1
    for row in text.splitlines():
        match row.split():
            case ["end"]:
                handler = -1
            case ["protect", target, depth, *lasti]:
                ranges.append((target, int(depth), bool(lasti)))
                handler = len(ranges) - 1
            case _:
                parts = ROW.fullmatch(row)
                if parts is None:
                    raise NoOperations(row)
                line = int(parts["line"]) if parts["line"] else line
                labels[parts["label"] or ""] = len(parsed_rows)
                parsed_rows.append((parts, line, handler))
    try:
        handlers = [Handler(labels[target], depth, lasti) for target, depth, lasti in ranges]
        items = [
            Instruction(
                parts["op"], _value(parts["arg"], code), labels[parts["target"]] if parts["target"] else -1, 2 * place,
                at, number,
            )
            for place, (parts, at, number) in enumerate(parsed_rows)
        ]
    except (KeyError, IndexError, ValueError, SyntaxError) as error:
        raise NoOperations(text) from error
    listing = Listing(code, items, handlers)
    try:
        stack_depths(listing)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:  # no such operation, or argument
        raise NoOperations(text) from error
    return listing


def put_in(code: Code, text: str) -> Code:
    """Return a copy of a code object that is read as the operations of a text."""
    copied = copy.copy(code)
    PUT_IN[id(copied)] = copied, read_listing(copied, text)
    return copied


def _value(text: str | None, code: Code) -> object:
    if text is None:
        return None
    return code.consts[int(text[1:])] if text.startswith("@") else ast.literal_eval(text)


def varied_operations(text: str, rng: random.Random) -> str:
    """Return operations with a few changes: one goes, comes twice, changes places, has the argument of another."""
    rows = text.splitlines()
    for _ in range(rng.randrange(1, 3)):
        place = rng.randrange(len(rows))
        match rng.randrange(7):
            case 0 if len(rows) > 1:
                del rows[place]
            case 1:
                rows.insert(rng.randrange(len(rows) + 1), re.sub(r"^\d+: ", "", rows[place]))
            case 2:
                rows[place : place + 2] = reversed(rows[place : place + 2])
            case 3:
                labels = [row.partition(":")[0] for row in rows if row[0].isdigit()]
                if labels:
                    rows[place] = re.sub(r"(-> |protect )\d+", rf"\g<1>{rng.choice(labels)}", rows[place])
            case 4:
                rows[place:place] = rng.choice(PIECES).splitlines()
            case _:
                _exchange(rows, place, rng)
    return "".join(f"{row}\n" for row in rows)


def _exchange(rows: list[str], place: int, rng: random.Random) -> None:
    """Give an operation the argument of another, or another of its kind."""
    mine, other = ROW.fullmatch(rows[place]), ROW.fullmatch(rng.choice(rows))
    if mine is None or other is None or mine["arg"] is None or mine["arg"].startswith("@"):
        return
    kind = type(_literal(mine["arg"]))
    choices = [other["arg"]] * 4 if other["arg"] and type(_literal(other["arg"])) is kind is not tuple else []
    choices += LITERALS if mine["op"] == "CONST" else [text for text in LITERALS if type(_literal(text)) is kind]
    if mine["op"] == other["op"]:
        choices = [other["arg"]]
    if choices:
        rows[place] = rows[place][: mine.start("arg")] + rng.choice(choices)


def _literal(text: str) -> object:
    return NoOperations if text.startswith("@") else ast.literal_eval(text)


LITERALS = ["0", "1", "2", "None", "'a'", "'other'", "'__private'", "'a.b'", "True", "'a b'", "'class'", "'None'"]
PIECES = (
    "COPY 1\nPOP", "CONST None\nPOP", "LOAD_FAST 'a'\nPOP", "LOAD_FAST 'a'\nSTORE_FAST 'a'", "SWAP 2", "COPY 1", "POP",
    "COPY 2\nPOP", "CONST 1", "LOAD_GLOBAL 'g'\nPOP", "BUILD_LIST 0\nPOP", "STORE_FAST 'a'", "CONST 1\nRETURN",
    "COPY 1\nSTORE_FAST 'a'", "SWAP 2\nSWAP 2", "ROT 3", "DELETE_FAST 'a'", "CONST 'b'\nSTORE_FAST 'b'",
)
