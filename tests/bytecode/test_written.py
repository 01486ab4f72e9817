"""Bytecode that a program writes: what no compiler would, right or wrong."""

from __future__ import annotations

import dataclasses

import pytest

from corpus.opcodes.assembler import assemble
from depyf.bytecode.code import CO_ASYNC_GENERATOR, CO_GENERATOR, CO_NEWLOCALS, CO_OPTIMIZED
from depyf.bytecode.normalise import normalise
from depyf.decompiler.module import module_source
from depyf.errors import DecompilationError
from tests import interpreters
from tests.bytecode.listings import shown

RETURN = ("LOAD_CONST", "RETURN_VALUE")
FUNCTION = CO_OPTIMIZED | CO_NEWLOCALS


def refused(code_version: tuple[int, int], *instructions: str | tuple[str, int]) -> DecompilationError:
    """Return the error for some instructions."""
    with pytest.raises(DecompilationError) as caught:
        normalise(assemble(code_version, *instructions))
    assert str(caught.value).startswith("f (assembled:1)")
    return caught.value


def test_arbitrary_objects_are_constants() -> None:
    value = object()
    listing = normalise(assemble((3, 11), *RETURN, consts=(value,)))
    assert listing.instructions[0].arg is value


def test_several_resumes_and_nulls_anywhere() -> None:
    code = assemble((3, 11), "RESUME", "PUSH_NULL", "RESUME", *RETURN[:1], ("SWAP", 2), "RETURN_VALUE")
    assert shown(normalise(code)) == ["NULL", "CONST None", "SWAP 2", "RETURN"]


def test_cell_made_in_the_middle_stays() -> None:
    code = assemble((3, 11), ("MAKE_CELL", 0), "RESUME", *RETURN[:1], ("MAKE_CELL", 0), "RETURN_VALUE")
    assert shown(normalise(code)) == ["CONST None", "MAKE_CELL a", "RETURN"]


def test_jump_to_a_vanished_instruction_goes_to_the_next() -> None:
    code = assemble((3, 11), ("JUMP_FORWARD", 1), "LOAD_CONST", "NOP", "RESUME", *RETURN)
    assert shown(normalise(code)) == ["JUMP -> 2", "CONST None", "CONST None", "RETURN"]


def test_jump_to_extended_arg() -> None:
    code = assemble((3, 11), ("JUMP_FORWARD", 1), "NOP", ("EXTENDED_ARG", 0), *RETURN)
    assert shown(normalise(code)) == ["JUMP -> 1", "CONST None", "RETURN"]


def test_truth_test_that_is_jumped_to_keeps_the_conversion() -> None:
    code = assemble(
        (3, 13),
        ("LOAD_FAST", 0),
        ("LOAD_FAST", 1),
        ("POP_JUMP_IF_FALSE", 4),
        "TO_BOOL",
        ("POP_JUMP_IF_TRUE", 0),
        *RETURN,
    )
    assert shown(normalise(code)) == [
        "LOAD_FAST a",
        "LOAD_FAST b",
        "JUMP_IF_FALSE -> 4",
        "TO_BOOL",
        "JUMP_IF_TRUE -> 5",
        "CONST None",
        "RETURN",
    ]


def test_comparison_that_asks_for_a_bool() -> None:
    code = assemble((3, 13), ("LOAD_FAST", 0), ("LOAD_FAST", 1), ("COMPARE_OP", 2 << 5 | 16), "RETURN_VALUE")
    assert shown(normalise(code)) == ["LOAD_FAST a", "LOAD_FAST b", "COMPARE ==", "TO_BOOL", "RETURN"]


def test_send_that_is_no_delegation_stays() -> None:
    code = assemble((3, 11), ("LOAD_FAST", 0), "LOAD_CONST", ("SEND", 1), "POP_TOP", "RETURN_VALUE")
    assert shown(normalise(code)) == ["LOAD_FAST a", "CONST None", "SEND True -> 4", "POP", "RETURN"]


def test_yield_past_the_wrapping_of_an_asynchronous_generator_is_marked() -> None:
    made_generator = ["RETURN_GENERATOR", "POP_TOP"]
    code = assemble(
        (3, 11), *made_generator, *RETURN[:1], "YIELD_VALUE", "POP_TOP", *RETURN, flags=FUNCTION | CO_ASYNC_GENERATOR
    )
    assert shown(normalise(code))[1] == "YIELD unwrapped"


def test_code_that_its_flags_call_a_generator_s_and_that_makes_none_is_refused() -> None:
    with pytest.raises(DecompilationError, match="makes no generator"):
        normalise(assemble((3, 11), *RETURN, flags=FUNCTION | CO_GENERATOR))


def test_iterator_that_stays_after_a_loop() -> None:
    loop = [("FOR_ITER", 3), "POP_TOP", ("JUMP_BACKWARD", 5), "END_FOR"]
    code = assemble((3, 14), ("LOAD_FAST", 0), *loop, "RETURN_VALUE")
    assert shown(normalise(code)) == [
        "LOAD_FAST a",
        "COPY 1",
        "FOR_ITER -> 7",
        "SWAP 2",
        "POP",
        "POP",
        "JUMP -> 1",
        "RETURN",
    ]


def test_program_that_uses_both_values_of_exit() -> None:
    enter = [("COPY", 1), ("LOAD_SPECIAL", 1), ("SWAP", 2), ("SWAP", 3), ("LOAD_SPECIAL", 0), ("CALL", 0)]
    code = assemble((3, 14), ("LOAD_FAST", 0), *enter, "POP_TOP", ("BUILD_TUPLE", 2), "RETURN_VALUE")
    lines = shown(normalise(code))
    assert "ENTER_WITH" not in lines
    assert lines[1:4] == ["COPY 1", "LOAD_SPECIAL __exit__", "SWAP 2"]


def test_null_that_is_needed_late() -> None:
    code = assemble((3, 15), "PUSH_NULL", ("LOAD_FAST", 0), ("SWAP", 2), ("STORE_FAST", 1), "RETURN_VALUE")
    assert shown(normalise(code)) == ["LOAD_FAST a", "NULL", "STORE_FAST b", "RETURN"]


def test_handler_of_generator_stop_that_does_more_stays() -> None:
    stop = ["LOAD_CONST", "POP_TOP", ("CALL_INTRINSIC_1", 3), ("RERAISE", 1)]
    body = ["RETURN_GENERATOR", "POP_TOP", ("LOAD_FAST", 0), "RETURN_VALUE"]
    entry = (4, 8, 8, 0, True)
    flags = FUNCTION | CO_GENERATOR
    listing = normalise(assemble((3, 12), *body, *stop, exceptions=(entry,), flags=flags))
    assert len(listing.handlers) == 1
    assert "INTRINSIC ('INTRINSIC_STOPITERATION_ERROR', 1)" in shown(listing)


def test_unreachable_code_is_normalised_too() -> None:
    assert shown(normalise(assemble((3, 11), *RETURN, "POP_TOP", ("LOAD_FAST", 1), "RETURN_VALUE"))) == [
        "CONST None",
        "RETURN",
        "POP",
        "LOAD_FAST b",
        "RETURN",
    ]


@pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)
def test_control_off_the_end_is_refused(version: tuple[int, int]) -> None:
    assert refused(version, "LOAD_CONST", "POP_TOP").reason == "control runs off the end of the code"


@pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)
def test_wrong_index_is_refused(version: tuple[int, int]) -> None:
    error = refused(version, "NOP", ("LOAD_CONST", 7), "RETURN_VALUE")
    assert (error.reason, error.offset) == ("LOAD_CONST: index 7 is out of range, there are 1 constants", 2)


@pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)
def test_jump_out_of_the_code_is_refused(version: tuple[int, int]) -> None:
    error = refused(version, ("JUMP_FORWARD", 100), *RETURN)
    assert error.reason.startswith("JUMP_FORWARD goes to offset ") and "outside the code" in error.reason
    assert error.offset == 0


def test_jump_between_an_instruction_and_its_prefix_is_refused() -> None:
    error = refused((3, 11), ("JUMP_FORWARD", 1), ("EXTENDED_ARG", 0), *RETURN)
    assert error.reason == "JUMP_FORWARD goes to offset 4, in the middle of an instruction"


def test_jump_into_a_cache_is_refused() -> None:
    error = refused((3, 11), ("JUMP_FORWARD", 1), ("LOAD_GLOBAL", 0), "RETURN_VALUE")
    assert "in the middle of an instruction" in error.reason


def test_keyword_names_without_a_call_are_refused() -> None:
    assert refused((3, 11), "KW_NAMES", *RETURN).reason == "KW_NAMES without a CALL that follows"


def test_empty_stack_is_refused() -> None:
    assert refused((3, 11), "POP_TOP", *RETURN).reason == "POP takes 1 values from a stack of 0"
    assert refused((3, 9), "POP_TOP", *RETURN).reason == "the stack is empty here"


def test_copy_from_above_the_stack_is_refused() -> None:
    assert refused((3, 14), *RETURN[:1], ("COPY", 0), "RETURN_VALUE").reason == "COPY: depth 0 is above the stack"


def test_growing_stack_is_refused() -> None:
    assert "0 or 1 values" in refused((3, 11), "LOAD_CONST", ("JUMP_BACKWARD", 2)).reason
    assert "no fixed depth" in refused((3, 10), "LOAD_CONST", ("JUMP_ABSOLUTE", 0)).reason


def test_block_that_is_not_open_is_refused() -> None:
    assert refused((3, 10), "POP_BLOCK", *RETURN).reason == "no block is open here"
    assert refused((3, 10), "POP_EXCEPT", *RETURN).reason == "no handler is open here"
    assert refused((3, 8), "LOAD_CONST", "END_FINALLY", *RETURN).reason == "no finally body is being run here"


def broken(**changes: bytes) -> DecompilationError:
    """Return the error for a good code object with other bytes."""
    with pytest.raises(DecompilationError) as caught:
        normalise(dataclasses.replace(assemble((3, 11), "RESUME", *RETURN), **changes))
    return caught.value


def test_truncated_bytes_are_refused() -> None:
    good = assemble((3, 11), ("LOAD_GLOBAL", 0), "RETURN_VALUE").bytecode
    assert broken(bytecode=b"").reason == "the bytecode is empty"
    assert broken(bytecode=good[:1]).reason == "the bytecode has an odd length (1 bytes)"
    assert broken(bytecode=good[:6]).reason == "the bytecode ends within the cache of LOAD_GLOBAL"
    assert broken(bytecode=bytes([144, 1])).reason == "the bytecode ends after EXTENDED_ARG"
    assert broken(bytecode=bytes([144, 1] * 4 + [100, 0])).reason == "more than 3 EXTENDED_ARG in a row"
    assert broken(bytecode=b"\xff\x00").reason == "unknown opcode 255"
    assert broken(bytecode=b"\x00\x00").reason == "a cache entry instead of an instruction"


def test_broken_tables_are_refused() -> None:
    assert broken(exception_table=b"\x40").reason == "the exception table ends within a number"
    assert broken(exception_table=b"\x00\x01").reason == "the exception table ends within an entry"
    assert "handler goes to offset 100, outside the code" in broken(exception_table=bytes([0, 1, 50, 0])).reason
    assert broken(line_table=b"\x00").reason == "the line table is broken at its byte 0"
    assert broken(line_table=b"\xf0").reason == "the line table ends within a number"


def test_unknown_version_is_refused() -> None:
    with pytest.raises(DecompilationError, match=r"Python 3\.6 is not known, only 3\.7 to 3\.15"):
        normalise(dataclasses.replace(assemble((3, 11), *RETURN), version=(3, 6)))


def test_a_jump_that_nothing_reaches_shows_an_else() -> None:
    instructions = [("LOAD_CONST", 0), ("POP_JUMP_IF_FALSE", 10), "LOAD_CONST", ("RAISE_VARARGS", 1)]
    listing = normalise(assemble((3, 8), *instructions, ("JUMP_FORWARD", 2), "LOAD_CONST", "POP_TOP", *RETURN))
    assert (listing.skips, listing.has_idle_end) == ({10: 12}, False)


def test_a_return_that_nothing_reaches_stands_at_the_end() -> None:
    listing = normalise(assemble((3, 8), *RETURN, *RETURN))
    assert (listing.skips, listing.has_idle_end) == ({}, True)


def test_a_try_that_begins_above_the_arguments_of_its_call() -> None:
    """Dynamo of torch 2.6 writes this: the call takes values from below the depth at which the `try` began."""
    call = ["NOP", ("CALL_FUNCTION", 1), "NOP", "POP_BLOCK", "RETURN_VALUE"]
    code = assemble((3, 10), ("LOAD_FAST", 0), ("LOAD_FAST", 1), ("SETUP_FINALLY", 5), *call, ("RERAISE", 0))
    listing = normalise(code)
    handlers = [item.handler for item in listing.instructions if item.op in ("CALL", "RETURN")]
    assert (listing.handlers[0].depth, handlers) == (2, [0, -1])
    assert module_source(code).count("try:") == 1


def test_a_try_that_has_lost_its_values_is_refused() -> None:
    instructions = [("LOAD_FAST", 0), ("LOAD_FAST", 1), ("SETUP_FINALLY", 4), "POP_TOP", "UNARY_NOT", "UNARY_NOT"]
    error = refused((3, 10), *instructions, "RETURN_VALUE", ("RERAISE", 0))
    assert error.reason == "the handler keeps 2 values of a stack of 1"
