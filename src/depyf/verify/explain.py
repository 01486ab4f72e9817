"""Show where two codes first differ: both listings side by side, with lines and offsets."""

from __future__ import annotations

from depyf.bytecode.listing import Instruction, Listing
from depyf.bytecode.normalise import normalise
from depyf.verify.level import Verdict
from depyf.verify.shown import shown

WIDTH = 52


def explain(verdict: Verdict, *, before: int = 8, after: int = 4) -> str:
    """Return a text that shows the first difference of a verdict, with the verdict in its first line.

    before, after: the number of instructions to show around it.

    Raises `DecompilationError` for unreadable bytecode.
    """
    place = verdict.where
    if place is None:
        return str(verdict)
    listings = normalise(place.original), normalise(place.candidate)
    titles = [f"{kind} {code}" for kind, code in (("original", place.original), ("candidate", place.candidate))]
    rows = [str(verdict), row("  ", *titles), row("  ", "line offset", "line offset")]
    for step in range(-before, after + 1):
        indices = place.original_index, place.candidate_index
        left, right = (cell(listing, index, step) for listing, index in zip(listings, indices, strict=True))
        if left or right:
            rows.append(row("  " if step else "> ", left, right))
    return "\n".join(rows)


def row(mark: str, left: str, right: str) -> str:
    """Return one line of the two columns.

    Args:
        mark: the mark at the start of the line.
        left: the text of the left column.
        right: the text of the right column.
    """
    return f"{mark}{cut(left):{WIDTH}} | {cut(right)}".rstrip()


def cut(text: str) -> str:
    """Return a text cut to the width of a column."""
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."


def cell(listing: Listing, index: int, step: int) -> str:
    """Return the instruction at some distance from another one, or '' past either end.

    Args:
        listing: the listing.
        index: the index of the instruction; negative if the proof has left the code.
        step: the distance.
    """
    if index < 0:
        return "" if step else "(has left the code)"
    place = index + step
    if not 0 <= place < len(listing.instructions):
        return ""
    item = listing.instructions[place]
    line = "" if item.line is None else f":{item.line}"
    return f"{line:6}{item.offset:5}  {item.op} {argument(listing, item)}".rstrip()


def argument(listing: Listing, item: Instruction) -> str:
    """Return the argument of an instruction, or its jump target."""
    if item.target >= 0:
        target = item.target
        return f"to {listing.instructions[target].offset if target < len(listing.instructions) else 'the end'}"
    if item.arg is None and item.op != "CONST":
        return ""
    return shown(item.arg)
