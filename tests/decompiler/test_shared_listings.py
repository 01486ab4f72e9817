"""The proof reads the listing that was decompiled: nothing on the way from code to text may change it."""

from __future__ import annotations

import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from depyf.bytecode.code import Code
from depyf.bytecode.depths import stack_depths
from depyf.bytecode.listing import Listing
from depyf.bytecode.listings import Listings
from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.decompiler.lift.simplify import Known
from depyf.decompiler.pipeline.run import decompile, nested
from depyf.errors import DecompilationError
from tests.decompiler.test_program_written import frames_as_lists, two_ways

SOURCES = sorted((Path(__file__).parent / "sources").glob("*.txt"))


def functions(path: Path) -> Iterator[types.CodeType]:
    """Yield the functions of a file, where this Python can compile it."""
    try:
        module = compile(path.read_text(encoding="utf-8"), path.name, "exec", dont_inherit=True)
    except SyntaxError:
        return
    for const in module.co_consts:
        if isinstance(const, types.CodeType):
            yield const


def text(listing: Listing) -> str:
    """Return all that a listing says; nested code by its name."""
    lines = [
        f"{item.op} {shown(item.arg)} {item.target} {item.offset} {item.line} {item.handler}"
        for item in listing.instructions
    ]
    return "\n".join([*lines, repr((listing.handlers, listing.beyond, listing.loops, listing.function_names))])


def shown(value: object) -> str:
    """Return a text for an argument."""
    return f"<code {value.name}>" if isinstance(value, Code) else repr(value)


def check(function: types.CodeType, known: Known | None) -> None:
    """Decompile a function, and compare the listings that it shares with new ones."""
    code = read(function)
    listings = Listings()
    decompile(code, known=known, listings=listings)
    for nested_code in nested(code):
        assert text(listings.of(nested_code)) == text(normalise(nested_code))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_decompiling_leaves_the_listings_as_they_are(path: Path) -> None:
    for function in functions(path):
        check(function, None)


@pytest.mark.parametrize("function", [frames_as_lists, two_ways], ids=lambda function: function.__name__)
def test_so_does_decompiling_what_a_program_wrote(function: types.FunctionType) -> None:
    check(function.__code__, Known({"graph": ("first", "second")}, frozenset({"graph"})))


def test_the_depth_of_the_stack_is_followed_for_the_proof_alone() -> None:
    def sample(a: int) -> int:
        return a + 1

    code = read(sample.__code__)
    listings = Listings()
    listing = listings.with_lines(code)
    listing.instructions[0].op = "POP"
    with pytest.raises(DecompilationError, match="takes 1 values from a stack of 0"):
        stack_depths(listing)
    with pytest.raises(DecompilationError, match="takes 1 values from a stack of 0"):
        listings.of(code)


def test_a_listing_without_lines_is_made_anew_where_lines_are_needed() -> None:
    code = read(text.__code__)
    listings = Listings()
    assert listings.of(code).instructions[0].line is None
    assert listings.with_lines(code).instructions[-1].line is not None
    assert listings.of(code) is listings.with_lines(code)
